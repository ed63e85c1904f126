// step — the launches of a decode step, as a graph hands them to its executors
#pragma once
#include <algorithm>
#include <vector>

#include "runtime/plan/plan.h"
#include "stdlib/kernels/registry.h"

namespace skdsl::exec {

/// A kernel of a launch with its call, which must outlive the step.
struct StepKernel {
  const plan::Task* task = nullptr;
  const kernels::KernelEntry* entry = nullptr;
  const sk_call* call = nullptr;
  bool alone = false;  // so small that the first worker does it by itself
};

struct StepLaunch {
  const plan::SuperKernel* superkernel = nullptr;  // null: one task
  std::vector<StepKernel> kernels;                 // of a super kernel: in the order of SuperKernel::kernels

  /// No kernel runs on more than the first worker.
  bool first_only() const {
    return std::all_of(kernels.begin(), kernels.end(), [](const StepKernel& k) { return k.alone; });
  }
};

}  // namespace skdsl::exec
