// Pages that follow from tables are there and current.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "cli/cli.h"
#include "compiler/parse/parse.h"

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

// What a page recommends must at least be correct syntax: at the top level, in a layer, in a function or in a
// config.
TEST(Docs, GoodExamplesParse) {
  for (const auto& entry : fs::directory_iterator(kDocs / "diagnostics")) {
    const std::string page = read(entry.path());
    if (page.find("## Good\n\n```yaml\n") != std::string::npos)
      continue;  // a run config, read by tests/config
    if (page.find("## Good\n\n```text\n") != std::string::npos) continue;  // no program
    // Whole programs are run by tests/lint.
    if (page.find("## Good\n\n```sk lint") != std::string::npos ||
        page.find("## Good\n\n```yaml lint") != std::string::npos)
      continue;
    const size_t head = page.find("## Good\n\n```\n");
    ASSERT_NE(head, std::string::npos) << entry.path();
    const size_t begin = head + 13;
    const std::string code = page.substr(begin, page.find("\n```", begin) - begin);
    if (code.starts_with("--") || code.starts_with("skdsl ")) continue;
    std::string errors;
    bool parses = false;
    for (const auto& [before, after] :
         {std::pair("", "\n"), std::pair("layer L() {\n", "\n}\n"), std::pair("fn f() {\n", "\n}\n"),
          std::pair("config {\n", "\n}\n"), std::pair("model M {\n", "\n}\n")}) {
      source::Sources sources;
      diag::Engine diags(sources);
      parse::parse(sources.add("page", before + code + after), diags);
      parses = parses || !diags.has_errors();
      if (diags.has_errors()) errors += diag::to_human(diags.all()[0], sources, false);
    }
    EXPECT_TRUE(parses) << entry.path() << "\n" << errors;
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
