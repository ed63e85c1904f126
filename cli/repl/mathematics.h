// mathematics — a hash of what a function computes, whatever its schedule
#pragma once
#include <cstdint>

#include "runtime/plan/program.h"

namespace skdsl::cli::repl {

/// Equal for programs whose results and states come from the same operators on the same operands. The order
/// of statements that do not depend on each other, scopes, streams, core limits, events and prefetches do not
/// count.
uint64_t mathematics(const plan::Program& program, const plan::Function& function);

}  // namespace skdsl::cli::repl
