// native_step — from the launches of a graph to the step that is compiled
#pragma once
#include <span>

#include "runtime/exec/native_order.h"
#include "runtime/plan/plan.h"
#include "stdlib/kernels/registry.h"

namespace skdsl::exec {

/// A kernel of a launch as the graph has it.
struct NativeSource {
  const plan::Task* task = nullptr;
  const kernels::KernelEntry* entry = nullptr;
  const sk_call* call = nullptr;  // its shapes count, not its addresses
  bool alone = false;
};
struct NativeSourceLaunch {
  const plan::SuperKernel* superkernel = nullptr;  // null: one task
  std::vector<NativeSource> kernels;
};

/// Equal launches share a function; names are those of the first launch.
NativeStep native_step(const plan::Program& program, const plan::Schedule& schedule, const std::vector<NativeSourceLaunch>& launches,
                       const NativeOptions& options, bool solo);

}  // namespace skdsl::exec
