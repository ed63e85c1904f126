// capture_settings — the options of npugraph_ex as the runtime takes them
#pragma once
#include "compiler/config/config.h"
#include "runtime/exec/capture_options.h"

namespace skdsl::cli {

/// What the settings, checked before, say about captures.
exec::CaptureOptions capture_options(const config::Settings& settings);

}  // namespace skdsl::cli
