#include "cli/cli.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace skdsl::cli {
namespace {

namespace fs = std::filesystem;

struct Result {
  int code = 0;
  std::string out, err;
};
Result call(const std::vector<std::string>& args, const std::string& input = "") {
  std::istringstream in(input);
  std::ostringstream out, err;
  Context context{.in = in, .out = out, .err = err};
  const int code = run(args, context);
  return {code, out.str(), err.str()};
}

class Files : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("skdsl_cli_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& text) {
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  static std::string read(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
  size_t entries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  fs::path folder_;
};

TEST(Cli, HelpAndVersion) {
  const Result help = call({"--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_EQ(help.err, "");
  for (const Command& command : commands()) {
    EXPECT_NE(help.out.find(std::string(command.name)), std::string::npos);
    const Result own = call({std::string(command.name), "--help"});
    EXPECT_EQ(own.code, 0) << command.name;
    EXPECT_NE(own.out.find("Example:\n  " + std::string(command.example)), std::string::npos) << own.out;
  }
  const Result version = call({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_TRUE(version.out.starts_with("skdsl 0.1.0 (commit ")) << version.out;
  EXPECT_NE(version.out.find("kernels: x86-64"), std::string::npos) << version.out;
}

TEST(Cli, UsageErrors) {
  EXPECT_EQ(call({}).code, 2);
  const Result unknown = call({"explian", "x"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_EQ(unknown.out, "");
  EXPECT_EQ(unknown.err,
            "error: unknown command `explian`\n  = help: did you mean `skdsl explain`?\n  = help: `skdsl "
            "--help` lists the commands\n");
  EXPECT_EQ(call({"fmt"}).code, 2);
  EXPECT_EQ(call({"fmt", "--nonsense", "a.sk"}).code, 2);
  EXPECT_EQ(call({"dump", "--stage=nonsense", "a.sk"}).code, 2);
  EXPECT_EQ(call({"ops", "--json", "--markdown"}).code, 2);
}

TEST_F(Files, FmtWritesOnlyWhatChanges) {
  const std::string ugly = write("ugly.sk", "x=1 // c\n");
  const std::string good = write("good.sk", "x = 1  // c\n");
  EXPECT_EQ(call({"fmt", "--check", good}).code, 0);
  const Result check = call({"fmt", "--check", ugly, good});
  EXPECT_EQ(check.code, 1);
  EXPECT_EQ(check.out, ugly + "\n");
  EXPECT_EQ(read(ugly), "x=1 // c\n");
  const auto before = fs::last_write_time(good);
  const Result result = call({"fmt", ugly, good});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(read(ugly), "x = 1  // c\n");
  EXPECT_EQ(fs::last_write_time(good), before);
  EXPECT_EQ(entries(), 2u) << "no temporary file is left";
}

TEST_F(Files, FmtKeepsPermissionsAndLinks) {
  const std::string target = write("target.sk", "x=1\n");
  fs::permissions(target, fs::perms::owner_all | fs::perms::group_read);
  const std::string link = (folder_ / "link.sk").string();
  fs::create_symlink(target, link);
  EXPECT_EQ(call({"fmt", link}).code, 0);
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(read(target), "x = 1\n");
  EXPECT_EQ(fs::status(target).permissions(), fs::perms::owner_all | fs::perms::group_read);
}

TEST_F(Files, FmtRefusesFilesWithErrors) {
  const std::string bad = write("bad.sk", "x=1\ny = = 2\n");
  const Result result = call({"fmt", bad});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(read(bad), "x=1\ny = = 2\n");
  EXPECT_NE(result.err.find("error[SK1001]: expected an expression before `=`\n  --> " + bad + ":2:5\n"),
            std::string::npos)
      << result.err;
}

TEST_F(Files, FmtReadsStandardInput) {
  const Result result = call({"fmt", "-"}, "x=1;y=2");
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out, "x = 1\ny = 2\n");
  EXPECT_EQ(call({"fmt", "--check", "-"}, "x=1").out, "<stdin>\n");
  EXPECT_EQ(call({"fmt", "-"}, std::string("a\0b", 3)).code, 1);
}

TEST_F(Files, TroubleWithFilesIsExitCode3) {
  for (const char* command : {"fmt", "dump"}) {
    const Result result = call({command, (folder_ / "none.sk").string()});
    EXPECT_EQ(result.code, 3);
    EXPECT_EQ(result.out, "");
    EXPECT_NE(result.err.find("error: cannot read"), std::string::npos);
  }
  EXPECT_EQ(call({"dump", folder_.string()}).code, 3);
}

TEST_F(Files, DumpPrintsTheTree) {
  const Result result = call({"dump", "--stage=ast", write("a.sk", "x = 1\n")});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out, "File @0..6\n  Assign @0..5\n    Name `x` @0..1\n    Int `1` @4..5\n");
  const Result bad = call({"dump", write("b.sk", "x = 1\ny = = 2\n")});
  EXPECT_EQ(bad.code, 1);
  EXPECT_NE(bad.out.find("Int `1`"), std::string::npos);
  EXPECT_NE(bad.err.find("SK1001"), std::string::npos);
}

TEST(Explain, PrintsThePage) {
  const Result page = call({"explain", "SK3004"});
  EXPECT_EQ(page.code, 0);
  EXPECT_TRUE(page.out.starts_with(
      "SK3004 shape-mismatch (error, types)\nmessage: operands of `{}` have shapes {} and {}\n\n# SK3004"))
      << page.out;
  EXPECT_EQ(call({"explain", "shape-mismatch"}).out, page.out);
  const Result none = call({"explain", "SK30044"});
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("did you mean `SK3004`?"), std::string::npos) << none.err;
  EXPECT_TRUE(call({"explain", "--json", "SK3004"})
                  .out.starts_with(
                      R"({"format_version":1,"id":"SK3004","name":"shape-mismatch","severity":"error")"));
}

TEST(Ops, ListsTheTable) {
  EXPECT_NE(call({"ops"}).out.find("  rms_norm(x, gamma, eps = 1e-6) -> y\n"), std::string::npos);
  EXPECT_NE(call({"ops", "rms_norm"}).out.find("eps                     float"), std::string::npos);
  EXPECT_TRUE(call({"ops", "--json", "rms_norm"})
                  .out.starts_with(R"({"format_version":1,"ops":[{"name":"rms_norm","category":"layer")"));
  EXPECT_NE(call({"ops", "rms_nrom"}).err.find("did you mean `rms_norm`?"), std::string::npos);
  EXPECT_EQ(call({"ops", "rms_nrom"}).code, 2);
}

}  // namespace
}  // namespace skdsl::cli
