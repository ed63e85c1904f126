// lint_run — files found, linted side by side, from the cache where nothing changed
#pragma once
#include <string>
#include <vector>

#include "cli/model_run.h"
#include "compiler/lint/format.h"
#include "compiler/lint/settings.h"

namespace skdsl::cli {

/// Longest file that lint looks at; programs are written by hand.
inline constexpr uint64_t kMaxLintBytes = 16u << 20;

/// How settings are found for a file: as `run` finds them, with these options.
lint::Resolver run_resolver(const ModelOptions& options);

struct LintRun {
  ModelOptions model;              // --set, --config, --weights, --lenient
  std::vector<std::string> modes;  // --mode
  const Chip* chip = nullptr;
  std::vector<diag::Id> off;  // of --select and --ignore
  bool cache = true;
  size_t jobs = 0;  // 0: one for each core
};

/// The files of the paths: those named, and in folders every .sk file and run config (a .yaml with a
/// `model_config` at the top). Hidden folders are left out and each folder is entered once, whatever links
/// there are. Sorted within a folder. A path that is not there is in the list and fails when it is read.
std::vector<std::string> lint_files(const std::vector<std::string>& paths);

/// Lints each file under its settings file. Settings files with problems come first.
std::vector<lint::FileReport> lint_all(const std::vector<std::string>& files, const LintRun& run);

/// The options for one file.
lint::Options lint_options(const std::string& path, const LintRun& run, lint::SettingsFinder& settings);

}  // namespace skdsl::cli
