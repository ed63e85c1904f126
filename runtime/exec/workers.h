// workers — the host's cores: every kernel launch runs on all of them
//
// launch() is a real SPMD launch: the caller is worker 0, `phases` passes with a barrier between them, block
// i of `count` on worker i. Waiting spins for a short while and then sleeps in the kernel (futex), so more
// workers than cores is slow but never stuck. Small launches run on the caller alone: blocks only deal out
// tiles, so the bits are the same.
#pragma once
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "runtime/abi/abi.h"
#include "stdlib/kernels/registry.h"

namespace skdsl::exec {

/// What a polling worker does between two looks: leaves the core's resources to others for a moment.
void relax();

/// Zeros in all results of a call; they are contiguous.
void zero_results(const sk_call& call);

class Workers {
 public:
  /// `count` workers including the caller; 0 = one for each core that this process may use.
  explicit Workers(uint32_t count = 0);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  uint32_t count() const { return count_; }
  /// Polls that pay before a waiting worker gives its core away; 0 when there are more workers than cores.
  uint32_t spins() const { return spins_; }

  /// A dry run: kernels are not executed, their results are zero. For forecasts of what a run would compile.
  void set_dry(bool dry) { dry_ = dry; }
  bool dry() const { return dry_; }

  /// Something that every worker does once.
  struct Job {
    virtual void run(uint32_t worker) = 0;

   protected:
    ~Job() = default;
  };
  /// Runs the job on all workers to its end; the caller is worker 0. One caller at a time.
  void run(Job& job);

  /// Runs one launch to its end. `blocks` is 1 or count(); one caller at a time.
  void launch(const kernels::KernelEntry& kernel, const sk_call& call, uint32_t blocks);

 private:
  void work(uint32_t worker);
  struct Launch;
  void barrier();
  void wait_while(const std::atomic<uint32_t>& counter, uint32_t old) const;

  uint32_t count_ = 1;
  uint32_t spins_ = 0;  // polls before sleeping; 0 when there are more workers than cores
  bool dry_ = false;
  bool stop_ = false;  // guarded by launches_
  Job* job_ = nullptr;
  alignas(64) std::atomic<uint32_t> launches_{0};  // workers start when it moves
  alignas(64) std::atomic<uint32_t> arrived_{0};   // at the barrier between phases
  alignas(64) std::atomic<uint32_t> passed_{0};    // barriers passed; waiters leave when it moves
  alignas(64) std::atomic<uint32_t> busy_{0};      // workers other than the caller that still run
  std::vector<std::thread> threads_;
};

}  // namespace skdsl::exec
