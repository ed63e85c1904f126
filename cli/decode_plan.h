// decode_plan — the static graphs of a model's decode phases, for commands that look and do not run
#pragma once
#include "cli/model_run.h"

namespace skdsl::cli {

struct Compiled {
  Prepared prepared;
  sema::Elaborated elaborated;
};

/// Compiles the file as `run` would for `batch` requests. Diagnostics that end it are printed; the error is
/// the exit code.
tl::expected<Compiled, int> compile_model(const ModelOptions& options, int64_t batch, diag::Engine& diags,
                                          Context& context);

struct DecodePlan {
  plan::Plan plan;
  Prepared prepared;
  std::string mode;
  int64_t batch = 1;
};

/// The same, in ge_graph when no mode is given, with a schedule of each decode phase. In npugraph_ex these
/// are the schedules of what a run of two tokens (of a script: all of it) captures; no kernel is executed.
tl::expected<DecodePlan, int> plan_decode(const ModelOptions& options, int64_t batch, diag::Engine& diags,
                                          Context& context);

}  // namespace skdsl::cli
