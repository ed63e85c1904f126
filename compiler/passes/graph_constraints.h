// graph_constraints — what a decode in a graph mode cannot hold, and what to write instead
#pragma once
#include <string_view>

#include "compiler/diag/diag.h"
#include "runtime/plan/plan.h"

namespace skdsl::passes {

/// Reports every violation in `function` (calls inlined; nested regions included) for the mode ("ge_graph",
/// "npugraph_ex"); true when there is none.
bool check_graph(const plan::Program& program, const plan::Function& function, std::string_view mode,
                 diag::Engine& diags);

}  // namespace skdsl::passes
