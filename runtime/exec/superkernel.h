// superkernel — runs a super kernel on the host's workers: one launch, then its steps
//
// Worker w is one AI-core group: it walks the steps of the cube side and of the vector side, each as far as its
// barriers and flags allow, so one worker alone merges both and never waits for itself. Steps that only matter to the
// device's caches do nothing here. Which kernel runs on how many blocks changes no bit.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/exec/allocator.h"
#include "runtime/exec/workers.h"
#include "runtime/plan/superkernel.h"

namespace skdsl::exec {

class SuperKernelLaunch {
 public:
  /// A kernel with its call, in the order of SuperKernel::kernels. The calls must outlive the launch.
  struct Kernel {
    const kernels::KernelEntry* entry = nullptr;
    sk_call* call = nullptr;
    bool alone = false;  // so small that one block is faster
  };

  static Expected<std::unique_ptr<SuperKernelLaunch>> build(const plan::SuperKernel& kernel, std::vector<Kernel> kernels, Workers& workers,
                                                            TensorPool& pool);
  ~SuperKernelLaunch();

  /// One launch. With `done`, the caller runs alone and `done(i)` follows the end of kernel i.
  void run(const std::function<void(size_t)>& done = {});
  /// The kernel with a data fault in the last launch that comes first in the list; null when there was none.
  const sk_fault* fault(size_t* kernel) const;

 private:
  SuperKernelLaunch();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skdsl::exec
