// lint — one file, all its modes, all rules: the findings
//
// A .sk file is parsed once; for each mode that it does not pin it is compiled as far as it goes, and the
// rules look at what came out. A finding of several modes is told once. A run config is checked by its own
// tables and rules.
#pragma once
#include <string>
#include <vector>

#include "compiler/diag/diag.h"
#include "compiler/lint/view.h"
#include "stdlib/chips.h"

namespace skdsl::lint {

struct Options {
  std::vector<std::string> modes;  // empty: all that the file does not pin
  bool narrowed = false;           // `modes` are fewer than the file is meant for: unused allows are not told
  const Chip* chip = nullptr;      // null: `chip` of the settings
  Resolver resolve = defaults;
  std::vector<diag::Id> off;  // not reported, and an allow of one is not called unused
  bool lenient = false;       // unknown keys of a run config are warnings
};

struct Result {
  std::vector<diag::Diagnostic> findings;  // in the order of their places
  std::vector<std::string> modes;          // that were looked at
  std::vector<std::string> read;           // files besides the linted one that the result depends on
};

/// Lints a file that is in `sources` already: a run config when its name ends in .yaml or .yml, else a .sk
/// file.
Result check(uint32_t file, source::Sources& sources, const Options& options);

/// Reads the file first. The error is a file that cannot be read.
Expected<Result> check_file(const std::string& path, source::Sources& sources, const Options& options);

bool is_run_config(std::string_view path);

}  // namespace skdsl::lint
