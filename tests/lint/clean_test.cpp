// No false positives: what ships and what the golden tests run is clean in every mode, or says why not.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/lint_run.h"
#include "compiler/lint/fix.h"
#include "tests/lint/cases.h"
#include "tests/support/cli_run.h"

namespace skdsl::testing {
namespace {

namespace fs = std::filesystem;
const fs::path kRoot = SKDSL_SOURCE_DIR;

/// A golden case: the program, and the files that stand beside it.
struct Golden {
  std::string program;
  std::vector<std::pair<std::string, std::string>> files;
  bool runs = true;  // every run of it ends well
};

Golden golden(const std::string& text) {
  Golden out;
  std::string* into = &out.program;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line == "//--- expect")
      into = nullptr;
    else if (line.starts_with("//--- file "))
      into = &out.files.emplace_back(line.substr(11), "").second;
    else if (into)
      *into += line + "\n";
    if (line.starts_with("//> exit ") && line != "//> exit 0") out.runs = false;
  }
  return out;
}

std::vector<std::string> sk_files(const char* folder) {
  std::vector<std::string> out;
  for (const auto& e : fs::recursive_directory_iterator(kRoot / folder))
    if (e.path().extension() == ".sk") out.push_back(e.path().string());
  std::sort(out.begin(), out.end());
  return out;
}

void expect_clean(const std::string& path, const std::string& name, const std::string& text) {
  lint::SettingsFinder settings;
  source::Sources sources;
  // A golden program is meant for the settings of its first run.
  cli::LintRun run;
  std::istringstream words(text.starts_with("// RUN: ") ? text.substr(0, text.find('\n')) : "");
  for (std::string word; words >> word;)
    if (word.starts_with("batch_size=")) run.model.set.push_back(word);
  const lint::Options options = cli::lint_options(path, run, settings);
  const lint::Result r = lint::check(sources.add(name, text), sources, options);
  EXPECT_TRUE(r.findings.empty()) << path << "\n"
                                  << (r.findings.empty() ? ""
                                                         : diag::to_human(r.findings[0], sources, false));
  // Nothing to mend: the text stays as it is.
  EXPECT_EQ(lint::fix_all(name, text, options, diag::Applicability::Unsafe).text, text) << path;
}

TEST(LintClean, ExamplesAndTheStandardLibrary) {
  size_t n = 0;
  for (const char* folder : {"examples", "stdlib"})
    for (const std::string& path : sk_files(folder)) {
      expect_clean(path, path, read_text(path));
      ++n;
    }
  EXPECT_GE(n, 12U);
  std::printf("%zu examples and files of the standard library are clean in all modes\n", n);
}

TEST(LintClean, GoldenPrograms) {
  size_t n = 0, wrong = 0;
  for (const std::string& path : sk_files("tests/golden")) {
    const Golden g = golden(read_text(path));
    // Programs that end with an error are the others' tests; the few whose warnings are their subject too.
    if (!g.runs || path.find("/golden/errors/") != std::string::npos) {
      ++wrong;
      continue;
    }
    TemporaryFolder folder;
    for (const auto& [name, text] : g.files) {
      fs::create_directories(fs::path(folder / name).parent_path());
      std::ofstream(folder / name) << text;
    }
    expect_clean(path, folder / fs::path(path).filename().string(), g.program);
    ++n;
  }
  EXPECT_GE(n, 60U);
  std::printf("%zu golden programs are clean in the modes that they are meant for; %zu are about errors\n", n,
              wrong);
}

TEST(LintClean, RunConfigs) {
  for (const auto& e : fs::directory_iterator(kRoot / "tests/config/good"))
    expect_clean(e.path().string(), e.path().string(), read_text(e.path().string()));
}

}  // namespace
}  // namespace skdsl::testing
