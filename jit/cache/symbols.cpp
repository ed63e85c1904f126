#include "jit/cache/symbols.h"

#include "jit/cache/keys.h"

namespace skdsl::jit {

std::string kernel_symbol(const exec::NativeKernel& kernel, bool static_kernels) {
  const std::string name = "sk_kernel_" + std::string(info(kernel.code).name);
  return static_kernels ? name + "." + fingerprint(kernel).substr(0, 16) : name;
}

}  // namespace skdsl::jit
