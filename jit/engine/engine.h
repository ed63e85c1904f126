// engine — what the shared object of the JIT offers to the program that opens it
//
// Nothing of LLVM shows here. One engine may be used by several graphs, one call at a time.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/exec/native.h"

namespace skdsl::jit {

/// A relocatable object, as bytes.
using Object = std::string;

/// Linked objects; the code goes with it.
class Linked {
 public:
  virtual ~Linked() = default;
  /// The address of a function; the first call links what it needs.
  virtual Expected<const void*> find(const std::string& symbol) const = 0;
  /// Bytes of machine code.
  virtual uint64_t code_bytes() const = 0;
};

enum class Text { Llvm, Asm };

class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::string llvm_version() const = 0;
  /// Processor and features that code is made for: "znver3,+avx2,…".
  virtual std::string target() const = 0;
  /// The build of this shared object; other builds may make other code.
  virtual std::string build_id() const = 0;

  /// The step function, named as the step, and its distinct super kernels. Kernels and functions of the runtime are
  /// undefined symbols in it.
  virtual Expected<Object> compile(const exec::NativeStep& step) = 0;
  /// A kernel for its shapes, under `symbol`; it takes the same arguments as the kernel.
  virtual Expected<Object> compile_kernel(const exec::NativeKernel& kernel, const std::string& symbol) = 0;
  virtual Expected<std::unique_ptr<Linked>> link(std::span<const Object> objects, std::span<const exec::NativeSymbol> symbols) = 0;
  /// What `compile` makes, readable. With `function` only that one, without debug info.
  virtual Expected<std::string> text(const exec::NativeStep& step, Text form, const std::string& function) = 0;
};

}  // namespace skdsl::jit

/// The one symbol of the shared object. Null when `stamp` is not the build that it belongs to.
extern "C" __attribute__((visibility("default"))) skdsl::jit::Engine* skdsl_jit_open(const char* stamp);
