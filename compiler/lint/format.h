// format — findings as people and programs read them
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "compiler/lint/lint.h"

namespace skdsl::lint {

/// What became of one file. `sources` has the texts that the findings point to.
struct FileReport {
  std::string path;
  std::shared_ptr<source::Sources> sources;
  Result result;
  std::optional<Error> error;  // it could not be read; then there is nothing else
};

struct Summary {
  size_t files = 0, errors = 0, warnings = 0, perf = 0, infos = 0, unreadable = 0;
};
Summary summary(const std::vector<FileReport>& files);

/// Names of --format in the order of its help.
inline constexpr std::string_view kFormats[] = {"human", "json", "jsonl", "sarif", "github", "junit"};

/// As on the terminal, with a last line that counts.
std::string to_human(const std::vector<FileReport>& files, bool colour);
/// One document: {"format_version":1,"findings":[…],"unreadable":[…],"summary":{…}}.
std::string to_json(const std::vector<FileReport>& files);
/// One JSON object a line.
std::string to_jsonl(const std::vector<FileReport>& files);
/// SARIF 2.1.0; `version` is that of skdsl.
std::string to_sarif(const std::vector<FileReport>& files, std::string_view version);
/// Workflow commands: ::error file=…
std::string to_github(const std::vector<FileReport>& files);
/// One test case a file.
std::string to_junit(const std::vector<FileReport>& files);
/// The rules: `skdsl lint --list`.
std::string list_rules();
std::string list_rules_json();

}  // namespace skdsl::lint
