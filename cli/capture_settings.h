// capture_settings — `--set npugraph_ex.NAME=VALUE`
#pragma once
#include "compiler/config/config.h"
#include "runtime/exec/capture_options.h"

namespace skdsl::cli {

/// The options of npugraph_ex that the settings give. Errors name the origin, the option and what it takes.
Expected<exec::CaptureOptions> capture_options(const config::Settings& settings);

}  // namespace skdsl::cli
