// schedule — from one function of the program to a static graph
//
// specialise → graph constraints → tasks and buffers (flatten) → streams and events (ordering) → arena (memory) →
// verify. Tasks keep the order of the program; where data flows from one stream to another an event is made.
#pragma once
#include <optional>

#include "compiler/diag/diag.h"
#include "runtime/plan/hook.h"

namespace skdsl::schedule {

/// The static graph of a function (calls inlined) under bindings of all its symbols; nothing after a diagnostic.
std::optional<plan::Schedule> make_schedule(const plan::Program& program, const plan::GraphKey& key, diag::Engine& diags);

}  // namespace skdsl::schedule
