// perf_map — where perf finds the names of linked functions
#pragma once
#include <span>

#include "jit/load/linked.h"

namespace skdsl::jit {

/// With the environment variable SKDSL_PERF_MAP adds the functions to /tmp/perf-PID.map.
void write_perf_map(std::span<const Function> functions);

}  // namespace skdsl::jit
