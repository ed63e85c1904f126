// naive_schedule — the simplest correct schedule of a straight-line function: one stream, a place for every
// value
#pragma once
#include "runtime/plan/hook.h"

namespace skdsl::test {

/// Program and key as a CompileHook takes them; functions with control flow or host reads are an error.
Expected<plan::Schedule> naive_schedule(const plan::Program& program, const plan::GraphKey& key);

}  // namespace skdsl::test
