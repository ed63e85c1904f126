// Mistakes that were made in the field, retold for small programs: each bad form is reported at the marked
// line with the facts that its file lists, each good form (ok_…) is clean. A file's comment names its case.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "tests/lint/cases.h"

namespace skdsl::testing {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files() {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(fs::path(SKDSL_SOURCE_DIR) / "tests/lint/field_b"))
    out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

class LintField : public ::testing::TestWithParam<fs::path> {};

TEST_P(LintField, IsReportedWithItsFacts) {
  const LintCase c = file_case(GetParam().string());
  ASSERT_NE(c.text.find("// FC-"), std::string::npos) << "a field case names its number";
  const Linted seen = lint(c);
  const Places expected = marked(c);
  const bool good = GetParam().filename().string().starts_with("ok_");
  EXPECT_EQ(expected.empty(), good);
  for (const auto& [line, id] : expected)
    EXPECT_TRUE(seen.all.contains({line, id})) << "line " << line << " is not reported as " << id << "\n"
                                               << seen.human;
  for (const auto& [line, id] : seen.all) {
    const diag::Severity s = seen.severity.at(id);
    EXPECT_TRUE(expected.contains({line, id}) ||
                (s != diag::Severity::Error && (!good || s != diag::Severity::Warning)))
        << "line " << line << " is reported as " << id << "\n"
        << seen.human;
  }
  std::istringstream lines(c.text);
  for (std::string line; std::getline(lines, line);)
    if (const std::string says = "// SAYS: "; line.starts_with(says))
      EXPECT_NE(seen.human.find(line.substr(says.size())), std::string::npos)
          << "not named: " << line.substr(says.size()) << "\n"
          << seen.human;
}

std::string test_name(const ::testing::TestParamInfo<fs::path>& info) { return info.param.stem().string(); }
INSTANTIATE_TEST_SUITE_P(Files, LintField, ::testing::ValuesIn(files()), test_name);

}  // namespace
}  // namespace skdsl::testing
