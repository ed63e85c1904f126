// link — objects into this process, by ORC: memory, relocation, gdb and perf; jit/load does it for objects of
// the cache
#pragma once
#include "jit/engine/engine.h"

namespace skdsl::jit {

/// Kernels and functions of the runtime are found among `symbols`. Functions become known to gdb; with the
/// environment variable SKDSL_PERF_MAP they are listed in /tmp/perf-PID.map, where perf looks.
Expected<std::unique_ptr<Linked>> link(std::span<const Object> objects,
                                       std::span<const exec::NativeSymbol> symbols);

}  // namespace skdsl::jit
