// heap — memory taken from the system in large pieces
#pragma once
#include <cstddef>

namespace skdsl {

/// Tunes malloc for a compiler: it frees much and soon asks again, so what was freed stays with the process.
/// Once, before anything is allocated in earnest.
void keep_freed_memory();

/// Takes the next `bytes` of the heap from the system at once: on a virtual machine the fault of a single
/// page costs ten times its share of a large piece. Done beside other work; where it is not possible nothing happens.
void grow_heap(size_t bytes);

}  // namespace skdsl
