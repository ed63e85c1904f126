// settings — `.skdsl-lint.yaml`: what a project allows, for all its files or for some
//
//   chip: a3
//   allow:
//     SK947: the examples are read, not measured
//   paths:
//     - match: "tests/**"
//       modes: [eager]
//       allow: { SK315: "small programs on purpose" }
//
// The nearest one counts, from a file's folder upwards. Each allow needs its reason; what raises or hangs on
// the device cannot be allowed.
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "compiler/diag/diag.h"

namespace skdsl::lint {

inline constexpr std::string_view kSettingsName = ".skdsl-lint.yaml";

/// Whether a path matches a glob: `*` and `?` inside a name, `**` over folders.
bool matches(std::string_view glob, std::string_view path);

struct PathSettings {
  std::string match;  // "" for all files
  std::vector<diag::Id> allow;
  std::vector<std::string> modes;
};

struct Settings {
  std::string folder;  // that has the file; "" when there is none
  std::string chip;
  std::vector<PathSettings> paths;
  std::shared_ptr<source::Sources> sources;  // of the file and its diagnostics
  std::vector<diag::Diagnostic> problems;

  /// What is allowed for a file, and the modes that it is meant for (empty: all).
  PathSettings of(const std::string& path) const;
};

/// Reads one settings file; what is wrong is in `problems`.
Settings read_settings(const std::string& path);

/// Finds the settings of files; safe to ask from several threads.
class SettingsFinder {
 public:
  std::shared_ptr<const Settings> find(const std::string& path);
  /// All that were read, each once.
  std::vector<std::shared_ptr<const Settings>> all() const;

 private:
  std::mutex mutex_;
  std::vector<std::pair<std::string, std::shared_ptr<const Settings>>> by_folder_;
};

}  // namespace skdsl::lint
