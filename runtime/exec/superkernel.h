// superkernel — the plan executor inside a super kernel: what one worker does, step by step
//
// Worker w is one AI-core group: it walks the steps of the cube side and of the vector side, each as far as
// its barriers and flags allow, so one worker alone merges both and never waits for itself. Steps that only
// matter to the device's caches do nothing here. Which kernel runs on how many blocks changes no bit.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/exec/step.h"

namespace skdsl::exec {

/// How far a worker has come on its two sides, counted over all super kernels that it ever walked. A line of
/// its own: only its worker writes it.
struct alignas(64) SideProgress {
  std::array<std::atomic<uint64_t>, 2> arrived{};  // all-core flags raised
  std::array<std::atomic<uint64_t>, 2> phases{};   // of kernels that have several
};

class SuperKernelWalk {
 public:
  /// `launch` must outlive it.
  explicit SuperKernelWalk(const StepLaunch& launch);

  /// Who walks. Workers that walk together do so in the same super kernels, and share `progress`.
  struct Crew {
    uint32_t worker = 0, lanes = 1;
    uint32_t spins = 0;                // polls before a waiting worker gives its core away
    SideProgress* progress = nullptr;  // by worker
    std::array<sk_call*, 2>
        calls{};  // of this worker, by kernel; the second list for the vector side of mix kernels
  };
  /// The part of one worker in one launch; true when a kernel of its own recorded a fault. `done(k)`, for a
  /// worker that walks alone, follows the end of kernel k.
  bool run(const Crew& crew, const std::function<void(size_t)>& done = {}) const;

 private:
  struct Group;
  const StepLaunch& launch_;
  std::array<std::vector<uint64_t>, 2> phases_before_;  // by side and kernel
};

}  // namespace skdsl::exec
