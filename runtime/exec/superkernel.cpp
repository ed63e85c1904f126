#include "runtime/exec/superkernel.h"

#include <algorithm>
#include <array>
#include <thread>

#include "runtime/exec/superkernel_walk.h"

namespace skdsl::exec {

using plan::Side;
using plan::SkStep;

namespace {

struct alignas(64) Counter {
  std::atomic<uint32_t> value{0};
};

}  // namespace

struct SuperKernelLaunch::Impl final : Workers::Job {
  const plan::SuperKernel& sk;
  std::vector<Kernel> kernels;
  Workers& workers;
  Tensor workspace;
  // By kernel and participant: the call with a fault record of its own.
  struct Part {
    sk_call call;
    sk_fault fault;
  };
  std::vector<std::vector<Part>> parts;
  std::vector<Counter> phase_arrived;  // by kernel
  std::array<Counter, 2> arrived;      // all-core flags by side
  uint32_t lanes = 1;
  uint32_t most_lanes = 1;
  const std::function<void(size_t)>* done = nullptr;
  std::vector<uint32_t> sides_left;    // by kernel, for `done`

  Impl(const plan::SuperKernel& k, std::vector<Kernel> list, Workers& w) : sk(k), kernels(std::move(list)), workers(w), phase_arrived(kernels.size()) {}

  bool both(size_t k) const { return plan::is_mix(sk.kernels[k].type); }
  // Who runs a kernel: the workers of its side, of both sides when it is mix, or the first worker alone.
  uint32_t participants(size_t k) const { return kernels[k].alone ? 1 : lanes * (both(k) ? 2 : 1); }

  Expected<void> build(TensorPool& pool) {
    most_lanes = std::any_of(kernels.begin(), kernels.end(), [](const Kernel& k) { return !k.alone; }) ? workers.count() : 1;
    uint64_t stride = 0;
    for (const Kernel& k : kernels)
      if (k.entry->workspace) stride = std::max(stride, (k.entry->workspace(k.call) + 63) / 64 * 64);
    if (stride > 0) {
      // A slot for each worker and side: kernels of the two sides run at the same time.
      auto bytes = pool.empty(SK_I8, {{static_cast<int64_t>(stride * 2 * most_lanes)}});
      if (!bytes) return tl::unexpected(bytes.error());
      workspace = std::move(*bytes);
    }
    for (size_t k = 0; k < kernels.size(); ++k) {
      const bool vector = plan::is_vector(sk.kernels[k].type);
      parts.emplace_back(2 * most_lanes);
      for (Part& p : parts.back()) {
        p.call = *kernels[k].call;
        p.call.workspace = stride > 0 ? workspace.data<uint8_t>() + (vector ? stride * most_lanes : 0) : nullptr;
        p.call.workspace_stride = stride;
        p.fault = {};
        p.call.fault = &p.fault;
      }
    }
    return {};
  }

  void launch(const std::function<void(size_t)>& on_done) {
    if (workers.dry()) {
      for (const Kernel& k : kernels) zero_results(*k.call);
      return;
    }
    lanes = on_done ? 1 : most_lanes;
    done = on_done ? &on_done : nullptr;
    sides_left.clear();
    if (done)
      for (size_t k = 0; k < kernels.size(); ++k) sides_left.push_back(both(k) ? 2 : 1);
    for (Counter& c : phase_arrived) c.value.store(0, std::memory_order_relaxed);
    for (Counter& c : arrived) c.value.store(0, std::memory_order_relaxed);
    for (auto& list : parts)
      for (Part& p : list) p.fault = {};
    if (lanes == 1) run(0);
    else workers.run(*this);
  }

  void run(uint32_t worker) override {
    const uint32_t spins = workers.spins();
    std::array<Walk, 2> walks;
    GroupFlags flags{};
    Group group{*this, worker};
    for (uint32_t idle = 0;;) {
      bool moved = false, open = false;
      for (const Side s : plan::kSides) {
        Walk& w = walks[static_cast<size_t>(s)];
        while (w.at < sk.of(s).size() && walk_step(group, sk, s, w, flags)) moved = true;
        open |= w.at < sk.of(s).size();
      }
      if (!open) return;
      if (moved) idle = 0;
      else if (idle++ < spins) relax();
      else std::this_thread::yield();
    }
  }

  // The machine of one worker.
  struct Group {
    Impl& launch;
    uint32_t worker;
    void arrive(Side s) { launch.arrive(s); }
    bool met(Side s, Walk& w) { return launch.met(s, w); }
    bool call(Side s, size_t k, Walk& w) { return launch.call(worker, s, k, w); }
    void note(Side, const SkStep&) {}
  };

  void arrive(Side s) { arrived[static_cast<size_t>(s)].value.fetch_add(1, std::memory_order_acq_rel); }
  // Have all workers raised the all-core flag once more than this one has waited for it?
  bool met(Side s, Walk& w) {
    if (arrived[static_cast<size_t>(s)].value.load(std::memory_order_acquire) < (w.arrivals + 1) * lanes) return false;
    ++w.arrivals;
    return true;
  }

  // w.part counts phases done; blocked while others are in the phase before.
  bool call(uint32_t worker, Side side, size_t k, Walk& w) {
    if (!plan::runs_on(sk.kernels[k].type, side)) return true;
    const kernels::KernelEntry& entry = *kernels[k].entry;
    const uint32_t count = participants(k);
    const bool second = both(k) && side == Side::Aiv;
    if (kernels[k].alone) {
      if (worker == 0 && !second)
        for (uint32_t phase = 0; phase < entry.phases; ++phase) entry.run(&parts[k][0].call, phase, 0, 1);
    } else {
      const uint32_t block = second ? lanes + worker : worker;
      std::atomic<uint32_t>& together = phase_arrived[k].value;
      for (; w.part < entry.phases; ++w.part) {
        if (w.part > 0 && together.load(std::memory_order_acquire) < w.part * count) return false;
        entry.run(&parts[k][block].call, w.part, block, count);
        together.fetch_add(1, std::memory_order_acq_rel);
      }
      // The slots of the workspace are read by others until the last phase is over.
      if (entry.phases > 1 && together.load(std::memory_order_acquire) < entry.phases * count) return false;
    }
    if (done && --sides_left[k] == 0) (*done)(k);
    return true;
  }
};

SuperKernelLaunch::SuperKernelLaunch() = default;
SuperKernelLaunch::~SuperKernelLaunch() = default;

Expected<std::unique_ptr<SuperKernelLaunch>> SuperKernelLaunch::build(const plan::SuperKernel& kernel, std::vector<Kernel> kernels, Workers& workers,
                                                                      TensorPool& pool) {
  std::unique_ptr<SuperKernelLaunch> out(new SuperKernelLaunch);
  out->impl_ = std::make_unique<Impl>(kernel, std::move(kernels), workers);
  if (auto ok = out->impl_->build(pool); !ok) return tl::unexpected(ok.error());
  return out;
}

void SuperKernelLaunch::run(const std::function<void(size_t)>& done) { impl_->launch(done); }

const sk_fault* SuperKernelLaunch::fault(size_t* kernel) const {
  for (size_t k = 0; k < impl_->parts.size(); ++k) {
    const sk_fault* first = nullptr;
    for (const auto& p : impl_->parts[k])
      if (p.fault.code != SK_FAULT_NONE && (first == nullptr || p.fault.row < first->row)) first = &p.fault;
    if (first == nullptr) continue;
    *kernel = k;
    return first;
  }
  return nullptr;
}

}  // namespace skdsl::exec
