// jit_settings — options of machine code, and who makes it
#pragma once
#include <memory>

#include "cli/model_run.h"
#include "compiler/diag/diag.h"
#include "jit/host/host.h"

namespace skdsl::cli {

/// The switches of native_options.def as given; an unknown one is a usage error that names the nearest.
Expected<exec::NativeOptions> native_options(const ModelOptions& options, const exec::CaptureOptions& capture,
                                             const std::string& mode);

/// A compiler with the standard cache; what is wrong with the cache becomes a diagnostic.
std::unique_ptr<jit::Compiler> native_compiler(diag::Engine& diags);

}  // namespace skdsl::cli
