// files — source texts from files and from `-`
#pragma once
#include <string>
#include <string_view>

#include "cli/cli.h"
#include "compiler/source/source.h"

namespace skdsl::cli {

/// Reads a file, or standard input for "-" (named <stdin>).
Expected<uint32_t> read_source(const std::string& path, source::Sources& sources, Context& context);
/// The text of a file, or of standard input for "-".
Expected<std::string> read_text(const std::string& path, Context& context);

}  // namespace skdsl::cli
