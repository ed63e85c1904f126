// load — links objects of our own code generation into this process without LLVM
//
// A start that finds its code in the cache opens no LLVM: this reads ELF objects for x86-64 with the few
// relocations that code generation makes, and refuses everything else; whoever calls it compiles then.
#pragma once
#include <memory>
#include <span>

#include "jit/load/linked.h"
#include "runtime/exec/native.h"

namespace skdsl::jit {

/// Whether this processor is one that `load` links for.
#if defined(__x86_64__)
inline constexpr bool kLoads = true;
#else
inline constexpr bool kLoads = false;
#endif

/// All objects at once; they may call each other. Other functions are found among `symbols`. Memory is never
/// writable and executable. gdb and perf learn of the functions as they do of code linked by ORC. Error: what
/// is not as expected.
Expected<std::unique_ptr<Linked>> load(std::span<const Object> objects,
                                       std::span<const exec::NativeSymbol> symbols);

}  // namespace skdsl::jit
