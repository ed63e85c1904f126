// view — a file as one mode sees it: settings, program, static graphs
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "compiler/config/run_config.h"

namespace skdsl::lint {

/// What the settings make of a file in one mode.
struct Resolved {
  CompileOptions compile;
  schedule::ScheduleOptions schedule;
  std::vector<std::string> read;  // files that the answer depends on, besides the modules; may not exist
};

/// Finds settings and built-in names as `run` does. What is wrong with them is in the diagnostics of the
/// modules, or is the error.
using Resolver = std::function<Expected<Resolved>(const sema::Modules& modules, const std::string& mode)>;

/// Defaults of the file alone: no weights folder, no run config.
Expected<Resolved> defaults(const sema::Modules& modules, const std::string& mode);

/// One mode. The members behind `elaborated` are there when it is.
struct ModeView {
  std::string mode;
  Resolved resolved;
  std::unique_ptr<config::RunContext> run_context;
  std::unique_ptr<config::RunView> run;
  std::optional<sema::Elaborated> elaborated;  // its program has its layers inlined and nothing simplified
  std::map<std::string, Loc> calls;            // instance path -> the first call of it, before inlining
  plan::Program simplified;                    // after all passes; graph modes only
  std::vector<plan::Schedule> schedules;       // of decode phases whose sizes are known; ge_graph only
};

/// Compiles for a mode as far as it goes. Diagnostics of the compiler are in `diags`.
std::unique_ptr<ModeView> view(const sema::Modules& modules, const std::string& mode, Resolved resolved,
                               diag::Engine& diags);

}  // namespace skdsl::lint
