// native_step — from the launches of a graph to the step that is compiled
#pragma once
#include "runtime/exec/native_order.h"
#include "runtime/exec/step.h"

namespace skdsl::exec {

/// Equal launches share a function; names are those of the first launch.
NativeStep native_step(const plan::Program& program, const plan::Schedule& schedule,
                       const std::vector<StepLaunch>& launches, const NativeOptions& options, bool solo);

}  // namespace skdsl::exec
