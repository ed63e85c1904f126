// files — reading `-`, and writing a file so that a crash never leaves half of it
#pragma once
#include <string>
#include <string_view>

#include "cli/cli.h"
#include "compiler/source/source.h"

namespace skdsl::cli {

/// Reads a file, or standard input for "-" (named <stdin>).
Expected<uint32_t> read_source(const std::string& path, source::Sources& sources, Context& context);

/// Writes under a temporary name in the same folder and renames; symbolic links are followed, permissions
/// kept.
Expected<void> replace_file(const std::string& path, std::string_view text);

}  // namespace skdsl::cli
