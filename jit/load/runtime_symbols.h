// runtime_symbols — what emitted code may call outside of itself
#pragma once
#include <vector>

#include "runtime/exec/native.h"

namespace skdsl::jit {

/// Kernels, the runtime's functions, and those of libc that code generation calls by itself.
std::vector<exec::NativeSymbol> runtime_symbols();

}  // namespace skdsl::jit
