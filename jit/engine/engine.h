// engine — what the shared object of the JIT offers to the program that opens it
//
// Nothing of LLVM shows here. One engine may be used by several graphs, one call at a time.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "jit/load/linked.h"
#include "runtime/exec/native.h"

namespace skdsl::jit {

enum class Text { Llvm, Asm };

class Engine {
 public:
  virtual ~Engine() = default;
  /// The build of this shared object; other builds may make other code.
  virtual std::string build_id() const = 0;

  /// The step function, named as the step, and its distinct super kernels. Kernels and functions of the
  /// runtime are undefined symbols in it.
  virtual Expected<Object> compile(const exec::NativeStep& step) = 0;
  /// A kernel for its shapes, under `symbol`; it takes the same arguments as the kernel.
  virtual Expected<Object> compile_kernel(const exec::NativeKernel& kernel, const std::string& symbol) = 0;
  /// By ORC. `symbols`: what objects find outside of themselves.
  virtual Expected<std::unique_ptr<Linked>> link(std::span<const Object> objects,
                                                 std::span<const exec::NativeSymbol> symbols) = 0;
  /// What `compile` makes, readable. With `function` only that one, without debug info.
  virtual Expected<std::string> text(const exec::NativeStep& step, Text form,
                                     const std::string& function) = 0;
};

}  // namespace skdsl::jit

/// The one symbol of the shared object. Null when `stamp` is not the build that it belongs to.
extern "C" __attribute__((visibility("default"))) skdsl::jit::Engine* skdsl_jit_open(const char* stamp);
