// Mistakes that people made and told in public, each shrunk to a program: `FC-007.sk` is the bad form,
// reported at the marked lines and nowhere else; `// SAYS:` lines name facts that the report must hold.
// `FC-007_ok.sk` is a way out and has no finding to act on.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "compiler/lint/rule.h"
#include "tests/lint/cases.h"

namespace skdsl::testing {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> field_files() {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(fs::path(SKDSL_SOURCE_DIR) / "tests/lint/field"))
    out.push_back(entry.path().filename().string());
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::string> facts(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    for (const std::string word : {"// SAYS: ", "# SAYS: "})
      if (line.starts_with(word)) out.push_back(line.substr(word.size()));
  return out;
}

class FieldCase : public ::testing::TestWithParam<std::string> {};

TEST_P(FieldCase, IsReportedAtItsLineOrClean) {
  const LintCase c = file_case((fs::path(SKDSL_SOURCE_DIR) / "tests/lint/field" / GetParam()).string());
  const Linted seen = lint(c);
  const Places expected = marked(c);
  const bool good = GetParam().find("_ok") != std::string::npos;
  EXPECT_EQ(expected.empty(), good) << GetParam() << " marks what it should not, or marks nothing";
  for (const auto& [line, id] : expected)
    EXPECT_TRUE(seen.all.contains({line, id})) << "line " << line << " is not reported as " << id << "\n"
                                               << seen.human;
  for (const auto& [line, id] : seen.all) {
    const diag::Severity s = seen.severity.at(id);
    EXPECT_TRUE(expected.contains({line, id}) || s == diag::Severity::Info || s == diag::Severity::Perf)
        << "line " << line << " is reported as " << id << "\n"
        << seen.human;
  }
  for (const std::string& fact : facts(c.text))
    EXPECT_NE(seen.human.find(fact), std::string::npos) << "nobody says: " << fact << "\n" << seen.human;
}

INSTANTIATE_TEST_SUITE_P(Lint, FieldCase, ::testing::ValuesIn(field_files()), [](const auto& info) {
  std::string name = info.param.substr(0, info.param.rfind('.'));
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
});

TEST(FieldCases, EachHasAWayOut) {
  const std::vector<std::string> files = field_files();
  for (const std::string& file : files) {
    const std::string number = file.substr(0, std::string("FC-000").size());
    EXPECT_TRUE(std::any_of(files.begin(), files.end(),
                            [&](const std::string& f) { return f.starts_with(number + "_ok"); }))
        << number << " has no good form";
  }
}

}  // namespace
}  // namespace skdsl::testing
