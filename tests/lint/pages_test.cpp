// The pages of the lint rules are their tests: what a page calls bad is reported at the marked lines and
// nothing else, what it calls good is clean, and where the row claims a fix, the bad program is clean after
// it. Each rule has at least two more firing programs in tests/lint/cases that nobody copied from the page.
// The table at the end is the coverage.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "compiler/lint/rule.h"
#include "tests/lint/cases.h"

namespace skdsl::testing {
namespace {

namespace fs = std::filesystem;
const fs::path kRoot = SKDSL_SOURCE_DIR;

struct Excused {
  std::string_view id, reason;
};
constexpr Excused kWithoutPrograms[] = {
    {"SK910", "it is about the environment; tests/config/rules.txt has cases"},
    {"SK911", "it is about the environment; tests/config/rules.txt has cases"},
};

std::string show(const Places& places) {
  std::string out;
  for (const auto& [line, id] : places) out += fmt::format(" {}:{}", line, id);
  return out.empty() ? " nothing" : out;
}

/// A finding that a program may have besides: a hint of another rule.
bool may_stand(const std::string& id, const std::string& rule, diag::Severity severity) {
  return id != rule && severity != diag::Severity::Error;
}

/// What was found is what is marked.
void expect_marked(const LintCase& c, const std::string& rule, const std::string& where) {
  const Linted seen = lint(c);
  const Places expected = marked(c);
  for (const auto& [line, id] : expected)
    EXPECT_TRUE(seen.all.contains({line, id}))
        << where << ": line " << line << " is not reported as " << id << "\n"
        << seen.human;
  for (const auto& [line, id] : seen.all)
    EXPECT_TRUE(expected.contains({line, id}) || may_stand(id, rule, seen.severity.at(id)))
        << where << ": line " << line << " is reported as " << id << "; marked:" << show(expected) << "\n"
        << seen.human;
}

/// No finding that anybody would have to act on.
void expect_clean(const LintCase& c, const std::string& rule, const std::string& where) {
  const Linted seen = lint(c);
  for (const auto& [line, id] : seen.all) {
    const diag::Severity s = seen.severity.at(id);
    EXPECT_TRUE(id != rule && s != diag::Severity::Error && s != diag::Severity::Warning)
        << where << " is not clean: line " << line << " " << id << "\n"
        << seen.human << c.text;
  }
}

std::vector<fs::path> case_files(const std::string& id) {
  std::vector<fs::path> out;
  const fs::path folder = kRoot / "tests/lint/cases" / id;
  if (fs::exists(folder))
    for (const auto& entry : fs::directory_iterator(folder)) out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

class LintRule : public ::testing::TestWithParam<size_t> {
 protected:
  const lint::Rule& rule() const { return lint::rules()[GetParam()]; }
  const diag::Rule& row() const { return diag::rule(rule().id); }
  std::string id() const { return std::string(row().id); }
  bool excused() const {
    return std::any_of(std::begin(kWithoutPrograms), std::end(kWithoutPrograms),
                       [&](const Excused& e) { return e.id == id(); });
  }
  std::string page() const { return read_text((kRoot / "docs/diagnostics" / (id() + ".md")).string()); }
};

TEST_P(LintRule, PageIsRight) {
  const std::string text = page();
  ASSERT_TRUE(text.starts_with(fmt::format("# {} {}\n", id(), row().name)))
      << "docs/diagnostics/" << id() << ".md";
  for (const char* section : {"Why", "Bad", "Good", "Fix"})
    EXPECT_NE(text.find(fmt::format("\n## {}\n", section)), std::string::npos)
        << id() << " has no section " << section;
  if (excused()) return;
  const auto bad = section_cases(text, "Bad"), good = section_cases(text, "Good");
  ASSERT_FALSE(bad.empty()) << id() << ": no program (```sk lint or ```yaml lint) in section Bad";
  ASSERT_FALSE(good.empty()) << id() << ": no program in section Good";
  for (const LintCase& c : bad) {
    const Places expected = marked(c);
    EXPECT_TRUE(
        std::any_of(expected.begin(), expected.end(), [&](const auto& p) { return p.second == id(); }))
        << id() << ": no line of Bad is marked //~ " << id();
    expect_marked(c, id(), id() + " Bad");
    if (row().fix == diag::Applicability::None) continue;
    size_t fixes = 0;
    const LintCase after{c.name, fixed(c, row().fix, &fixes), c.args};
    EXPECT_GT(fixes, 0U) << id() << " claims a fix, and Bad offers none";
    expect_clean(after, id(), id() + " Bad, fixed");
    EXPECT_EQ(fixed(after, row().fix, &fixes), after.text) << id() << ": fixing twice is not fixing once";
  }
  for (const LintCase& c : good) expect_clean(c, id(), id() + " Good");
}

TEST_P(LintRule, CasesAreRight) {
  if (excused()) return;
  size_t firing = 0;
  for (const fs::path& path : case_files(id())) {
    const LintCase c = file_case(path.string());
    const Places expected = marked(c);
    const bool fires =
        std::any_of(expected.begin(), expected.end(), [&](const auto& p) { return p.second == id(); });
    if (path.filename().string().starts_with("ok_")) {
      EXPECT_FALSE(fires) << path;
    } else {
      EXPECT_TRUE(fires) << path << " marks no line //~ " << id();
      ++firing;
    }
    expect_marked(c, id(), path.filename().string() + " of " + id());
    if (!fires || row().fix == diag::Applicability::None) continue;
    // A fix may not be possible everywhere; where there is one it must not make things worse.
    size_t fixes = 0;
    const LintCase after{c.name, fixed(c, row().fix, &fixes), c.args};
    const Linted seen = lint(after);
    for (const auto& [line, other] : seen.all)
      EXPECT_TRUE(other.size() == 5 || seen.severity.at(other) != diag::Severity::Error)
          << path << ", fixed: " << other << "\n"
          << seen.human << after.text;
  }
  EXPECT_GE(firing, 2U) << id() << " needs two firing programs in tests/lint/cases/" << id();
}

std::string test_name(const ::testing::TestParamInfo<size_t>& info) {
  return std::string(diag::rule(lint::rules()[info.param].id).id);
}
INSTANTIATE_TEST_SUITE_P(Rules, LintRule, ::testing::Range<size_t>(0, lint::rules().size()), test_name);

TEST(LintTable, EveryThreeDigitDiagnosticIsARule) {
  for (size_t i = 0; i < static_cast<size_t>(diag::Id::kCount); ++i) {
    const auto id = static_cast<diag::Id>(i);
    EXPECT_EQ(diag::rule(id).id.size() == 5, lint::find(id) != nullptr)
        << diag::rule(id).id << " in compiler/lint/rules.def";
  }
  for (size_t i = 1; i < lint::rules().size(); ++i)
    EXPECT_LT(diag::rule(lint::rules()[i - 1].id).id, diag::rule(lint::rules()[i].id).id)
        << "rows are in the order of ids";
}

// Printed from what the tests above read.
TEST(LintTable, Coverage) {
  size_t pages = 0, bad = 0, good = 0, fixes = 0, cases = 0;
  std::printf("%-7s %-34s %-4s %-4s %-4s %-7s %s\n", "rule", "name", "page", "bad", "good", "fix", "cases");
  for (const lint::Rule& rule : lint::rules()) {
    const diag::Rule& row = diag::rule(rule.id);
    const std::string id(row.id), page = read_text((kRoot / "docs/diagnostics" / (id + ".md")).string());
    const size_t b = section_cases(page, "Bad").size(), g = section_cases(page, "Good").size();
    size_t n = 0;
    for (const fs::path& p : case_files(id)) n += !p.filename().string().starts_with("ok_");
    std::printf("%-7s %-34s %-4s %-4zu %-4zu %-7s %zu\n", id.c_str(), std::string(row.name).c_str(),
                page.empty() ? "-" : "yes", b, g, std::string(diag::name(row.fix)).c_str(), n);
    pages += !page.empty(), bad += b > 0, good += g > 0, fixes += row.fix != diag::Applicability::None,
        cases += n >= 2;
  }
  const size_t all = lint::rules().size();
  std::printf("%zu rules: %zu with page, %zu bad, %zu good, %zu with two or more cases, %zu with a fix\n",
              all, pages, bad, good, cases, fixes);
  EXPECT_EQ(pages, all);
}

}  // namespace
}  // namespace skdsl::testing
