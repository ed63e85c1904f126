// Pages that follow from tables are there and current.
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "cli/cli.h"

namespace skdsl {
namespace {

namespace fs = std::filesystem;
const fs::path kDocs = fs::path(SKDSL_SOURCE_DIR) / "docs";

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(Docs, EachDiagnosticHasItsPageAndEachPageItsDiagnostic) {
  std::set<std::string> ids;
  for (size_t i = 0; i < static_cast<size_t>(diag::Id::kCount); ++i) {
    const diag::Rule& row = diag::rule(static_cast<diag::Id>(i));
    ids.insert(std::string(row.id));
    const fs::path path = kDocs / "diagnostics" / (std::string(row.id) + ".md");
    ASSERT_TRUE(fs::exists(path)) << path;
    const std::string page = read(path);
    EXPECT_TRUE(page.starts_with("# " + std::string(row.id) + " " + std::string(row.name) + "\n")) << row.id;
    EXPECT_NE(page.find("\n## Fix\n"), std::string::npos) << row.id;
    EXPECT_EQ(page.find(")page\""), std::string::npos) << row.id;
  }
  for (const auto& entry : fs::directory_iterator(kDocs / "diagnostics")) {
    EXPECT_TRUE(ids.contains(entry.path().stem().string())) << entry.path();
  }
}

TEST(Docs, OperatorPageIsWhatOpsPrints) {
  std::istringstream in;
  std::ostringstream out, err;
  cli::Context context{.in = in, .out = out, .err = err};
  ASSERT_EQ(cli::run({"ops", "--markdown"}, context), 0);
  EXPECT_EQ(read(kDocs / "ops.md"), out.str()) << "run: skdsl ops --markdown > docs/ops.md";
}

}  // namespace
}  // namespace skdsl
