// lint_run — files found, linted side by side, from the cache where nothing changed
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cli/model_run.h"
#include "compiler/lint/format.h"

namespace skdsl::cli {

/// How settings are found for a file: as `run` finds them, with these options.
lint::Resolver run_resolver(const ModelOptions& options);

}  // namespace skdsl::cli
