// emit — what the serial and the two-stream emission share: the state of one super kernel in the making
#pragma once
#include <string>
#include <vector>

#include "compiler/superkernel/superkernel.h"

namespace skdsl::superkernel {

using plan::KernelType;
using plan::Side;
using plan::SkStep;
using plan::SyncScope;

class Emitter {
 public:
  Emitter(const std::vector<SubKernel>& kernels, const Options& options, Result& out)
      : kernels_(kernels), options_(options), out_(out), sk_(out.kernel) {}

  void serial();
  void two_stream();

 protected:
  bool launched(Side s) const { return plan::runs_on(sk_.type, s); }
  bool has(size_t k, Side s) const { return plan::runs_on(kernels_[k].type, s); }
  /// In a serial super kernel every launched side follows a tiling sink: its tiling tells on which cores it
  /// runs.
  bool joins(size_t k, Side s) const { return has(k, s) || (kernels_[k].dynamic && !sk_.two_stream); }
  size_t count() const { return kernels_.size(); }
  std::vector<SkStep>& steps(Side s) { return sk_.of(s); }
  SkStep& emit(Side s, SkStep::Kind kind) {
    SkStep& step = steps(s).emplace_back();
    step.kind = kind;
    return step;
  }
  void emit_of(Side s, SkStep::Kind kind, size_t k) { emit(s, kind).of = static_cast<uint32_t>(k); }

  /// The cores of the device on which a kernel runs.
  plan::CoreGuard guard(size_t k) const { return {plan::is_vector(kernels_[k].type), kernels_[k].block_dim}; }
  /// The side whose block 0 handles the events of a kernel.
  Side event_side(size_t k) const { return plan::is_cube(kernels_[k].type) ? Side::Aic : Side::Aiv; }
  SyncScope barrier() const {
    return sk_.type == KernelType::MixAic10   ? SyncScope::AllAic
           : sk_.type == KernelType::MixAiv10 ? SyncScope::AllAiv
                                              : SyncScope::AllMix;
  }
  void sync(Side s, SyncScope scope, bool via = false) {
    SkStep& step = emit(s, SkStep::Kind::Sync);
    step.scope = scope;
    step.via_sync_all = via;
  }
  void sync_launched(SyncScope scope, bool via = false) {
    for (const Side s : plan::kSides)
      if (launched(s)) sync(s, scope, via);
  }
  void flag(Side s, SkStep::Kind kind, bool to_vector) { emit(s, kind).to_vector = to_vector; }

  void profile(Side s, SkStep::What what, uint32_t id, bool begin);
  void open(Side s);  // entry of a side up to the first kernel
  void clear_workspace(Side s);
  void close(Side s);  // exit of a side
  void preload(Side s, size_t k);
  void select(Side s, size_t k);
  void feed(Side s, size_t k);
  void call(Side s, size_t k);  // with its dcci
  void debug_after(Side s, size_t k);
  void notify(size_t k, Side s);
  bool wait(size_t k, Side s);

  bool early_start() const { return options_.text(Option::EarlyStart) != "0"; }

  const std::vector<SubKernel>& kernels_;
  const Options& options_;
  Result& out_;
  plan::SuperKernel& sk_;

 private:
  void early_start_boundary(size_t k);
  void boundary(size_t k);
  void event_slots(Side s, size_t k, bool notify);
};

}  // namespace skdsl::superkernel
