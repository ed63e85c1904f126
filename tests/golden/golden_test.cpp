// golden — programs with their whole output
//
// One .sk file under tests/golden/<subject>/ is one case:
//
//   // RUN: run --mode ge_graph %s        the command line; %s is this file, %d its folder. More than one may
//   follow print(1 + 2)                          the program: everything before the first `//--- ` line
//   //--- file other.sk                   (optional) another file beside it
//   //--- expect
//   //| 3                                 what the command writes, standard error before standard output
//   //> exit 0                            and its exit code; for each RUN line in turn
//
// The program stands in the case file from its first line on, so that line numbers are the same. Paths of the
// folder it is copied to are left out of the output. SKDSL_UPDATE_GOLDEN=1 writes what is seen into the
// files.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "cli/cli.h"
#include "compiler/diag/diag.h"
#include "compiler/lint/rule.h"

namespace skdsl {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(SKDSL_SOURCE_DIR) / "tests" / "golden";
constexpr std::string_view kExpect = "//--- expect";
constexpr std::string_view kFile = "//--- file ";
constexpr std::string_view kRun = "// RUN: ";

/// Diagnostics that no case provokes, and why.
struct Excused {
  std::string_view id, reason;
};
constexpr Excused kWithoutCase[] = {
    {"SK3090", "a plan that does not verify is a bug of the compiler: no program may reach it"},
    {"SK3505", "it is about the environment: a shared object that cannot be opened"},
    {"SK3506", "it is about the environment: tests/jit has a damaged cache"},
};

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void write(const fs::path& path, std::string_view text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
}

struct Case {
  std::vector<std::string> runs;
  std::string program;
  std::vector<std::pair<std::string, std::string>> files;
  std::string body;         // everything before the expectation
  std::string expectation;  // "" when there is none
};

Case parse(const std::string& text) {
  Case c;
  std::string* into = &c.program;
  bool expect = false;
  for (const std::string& line : lines_of(text)) {
    if (line == kExpect) {
      expect = true;
    } else if (expect) {
      c.expectation += line + "\n";
    } else {
      c.body += line + "\n";
      if (line.starts_with(kFile)) {
        c.files.emplace_back(line.substr(kFile.size()), "");
        into = &c.files.back().second;
      } else {
        *into += line + "\n";
      }
    }
  }
  for (const std::string& line : lines_of(c.program)) {
    if (!line.starts_with(kRun)) break;
    c.runs.push_back(line.substr(kRun.size()));
  }
  return c;
}

/// What the runs of a case write, in the form of an expectation.
std::string output(const Case& c, const std::string& name) {
  static int count = 0;
  const fs::path folder = fs::temp_directory_path() /
                          ("skdsl_golden_" + std::to_string(::getpid()) + "_" + std::to_string(count++));
  write(folder / name, c.program);
  for (const auto& [file, text] : c.files) write(folder / file, text);
  std::string out;
  for (const std::string& run : c.runs) {
    std::vector<std::string> args;
    std::istringstream words(run);
    for (std::string word; words >> word;) {
      replace_all(word, "%s", (folder / name).string());
      replace_all(word, "%d", folder.string());
      args.push_back(word);
    }
    std::istringstream in;
    std::ostringstream standard, errors;
    cli::Context context{.in = in, .out = standard, .err = errors};
    testing::internal::CaptureStdout();  // `print` of a program writes to the process's own output
    const int code = cli::run(args, context);
    std::fflush(stdout);
    std::string text = errors.str() + testing::internal::GetCapturedStdout() + standard.str();
    replace_all(text, folder.string() + "/", "");
    replace_all(text, folder.string(), ".");
    for (const std::string& line : lines_of(text)) out += line.empty() ? "//|\n" : "//| " + line + "\n";
    out += "//> exit " + std::to_string(code) + "\n";
  }
  fs::remove_all(folder);
  return out;
}

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(kFolder))
    if (entry.path().extension() == ".sk") names.push_back(fs::relative(entry.path(), kFolder).string());
  std::sort(names.begin(), names.end());
  return names;
}

class Golden : public testing::TestWithParam<std::string> {};

TEST_P(Golden, Output) {
  const fs::path path = kFolder / GetParam();
  const Case c = parse(read(path));
  ASSERT_FALSE(c.runs.empty()) << "the first line is `// RUN: <command line>`";
  const std::string seen = output(c, path.filename().string());
  const char* const update = std::getenv("SKDSL_UPDATE_GOLDEN");
  if (update != nullptr && std::string_view(update) == "1") {
    write(path, c.body + std::string(kExpect) + "\n" + seen);
    return;
  }
  ASSERT_NE(c.expectation, "") << "no expectation; SKDSL_UPDATE_GOLDEN=1 writes it, and then read it";
  EXPECT_EQ(seen, c.expectation);
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param.substr(0, info.param.size() - 3);
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Cases, Golden, testing::ValuesIn(case_names()), test_name);

// A diagnostic that nothing provokes is a promise without a proof.
TEST(GoldenCoverage, EveryDiagnosticHasACase) {
  std::set<std::string> provoked;
  for (const std::string& name : case_names()) {
    const std::string text = parse(read(kFolder / name)).expectation;
    for (size_t at = 0; (at = text.find("[SK", at)) != std::string::npos; ++at)
      provoked.insert(text.substr(at + 1, text.find(']', at) - at - 1));
  }
  std::set<std::string> excused;
  for (const Excused& e : kWithoutCase) {
    EXPECT_NE(diag::find(e.id), diag::Id::kCount) << e.id << " is no diagnostic";
    EXPECT_FALSE(provoked.contains(std::string(e.id))) << e.id << " has a case and needs no excuse";
    excused.emplace(e.id);
  }
  for (int i = 0; i < static_cast<int>(diag::Id::kCount); ++i) {
    const diag::Rule& rule = diag::rule(static_cast<diag::Id>(i));
    const std::string id(rule.id);
    // Rules of lint have their programs in tests/lint, which asks for three each.
    if (lint::find(static_cast<diag::Id>(i)) != nullptr) continue;
    EXPECT_TRUE(provoked.contains(id) || excused.contains(id))
        << id << " (" << rule.name << ") has no case under tests/golden";
  }
}

TEST(GoldenHarness, ReadsTheSectionsOfACase) {
  const Case c = parse(
      "// RUN: run %s\n// RUN: fmt %s\nprint(1)\n//--- file a/b.sk\nlet x = 1\n//--- expect\n//| 1\n//> exit "
      "0\n");
  EXPECT_EQ(c.runs, (std::vector<std::string>{"run %s", "fmt %s"}));
  EXPECT_EQ(c.program, "// RUN: run %s\n// RUN: fmt %s\nprint(1)\n");
  ASSERT_EQ(c.files.size(), 1U);
  EXPECT_EQ(c.files[0].first, "a/b.sk");
  EXPECT_EQ(c.files[0].second, "let x = 1\n");
  EXPECT_EQ(c.expectation, "//| 1\n//> exit 0\n");
}

// A wrong expectation must fail: compare with what a run really writes.
TEST(GoldenHarness, SeesOutputErrorsAndExitCode) {
  EXPECT_EQ(output(parse("// RUN: run %s\nprint(1 + 1)\n"), "a.sk"), "//| 2\n//> exit 0\n");
  const std::string bad = output(parse("// RUN: run %s\nprint(missing)\n"), "a.sk");
  EXPECT_NE(bad.find("--> a.sk:2:7"), std::string::npos) << bad;
  EXPECT_NE(bad.find("//> exit 1\n"), std::string::npos) << bad;
}

}  // namespace
}  // namespace skdsl
