// symbols — the names of kernels in emitted code
#pragma once
#include <string>

#include "runtime/exec/native.h"

namespace skdsl::jit {

/// "sk_kernel_rms_norm"; compiled for its shapes "sk_kernel_rms_norm.0123456789abcdef".
std::string kernel_symbol(const exec::NativeKernel& kernel, bool static_kernels);

}  // namespace skdsl::jit
