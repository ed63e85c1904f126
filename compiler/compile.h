// compile — the pipeline on one page: files → program → passes → checked for its mode
#pragma once
#include <optional>

#include "compiler/diag/diag.h"
#include "compiler/passes/pass.h"
#include "compiler/schedule/schedule.h"
#include "compiler/sema/elaborate.h"
#include "runtime/plan/hook.h"

namespace skdsl {

struct CompileOptions {
  sema::Options sema;
  passes::PassOptions passes;
};

/// The program of the main file after passes, and what is known about it. In a graph mode its decode phases
/// are checked against what a graph can hold. Nothing when errors were reported.
std::optional<sema::Elaborated> compile(const sema::Modules& modules, const CompileOptions& options,
                                        diag::Engine& diags);

/// The hook that gives the runtime its static graphs. Diagnostics go to `diags`, which must outlive the hook.
plan::CompileHook graph_compiler(diag::Engine& diags, schedule::ScheduleOptions options = {});

/// The hook that turns what npugraph_ex captured into graphs. The same holds for `diags`.
plan::RecordingHook recording_compiler(diag::Engine& diags, schedule::ScheduleOptions options = {});

}  // namespace skdsl
