// hook — how the runtime asks for a static graph without knowing the compiler
#pragma once
#include <functional>

#include "runtime/plan/plan.h"

namespace skdsl::plan {

/// A function of the program and the sizes of its symbols.
struct GraphKey {
  std::string function;
  std::vector<std::pair<std::string, int64_t>> bindings;  // sorted by name
};

/// Gives the schedule for a key; the compiler's diagnostics have been printed when it fails.
using CompileHook = std::function<Expected<Schedule>(const Program& program, const GraphKey& key)>;

}  // namespace skdsl::plan
