// registry — the kernel of each operator, filled from ops.def; a row without its kernel does not link
#pragma once
#include "runtime/abi/abi.h"
#include "stdlib/op_info.h"

namespace skdsl::kernels {

struct KernelEntry {
  sk_kernel_fn run = nullptr;
  sk_workspace_fn workspace = nullptr;  // null: needs none
  uint32_t phases = 1;                  // run in order, with a barrier between two
};

/// The kernel of `op`; null for operators that have none (structure, schedule, host).
const KernelEntry* find_kernel(Opcode op);

}  // namespace skdsl::kernels
