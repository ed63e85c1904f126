// A start from the cache of compiled programs and graphs: the same answers as a cold one, and never from
// another key.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "runtime/base/file.h"
#include "runtime/base/json.h"
#include "tests/support/cli_run.h"
#include "tests/support/temporary_folder.h"

namespace skdsl::testing {
namespace {

namespace fs = std::filesystem;

class PlanCache : public ::testing::Test {
 protected:
  PlanCache() { ::setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1); }

  std::map<std::string, size_t> kinds() {
    std::map<std::string, size_t> out;
    const auto list = parse_json(run_command({"cache", "ls", "--json"}).out, "ls");
    for (const Json& e : list->find("objects")->as_array())
      ++out[e.find("key")->find("kind") ? e.find("key")->find("kind")->as_string() : "damaged"];
    return out;
  }
  /// A copy of the example in a folder of its own, with its weights beside it.
  std::string model() {
    fs::copy(source_path("examples/longcat-adder"), folder_ / "longcat-adder");
    fs::copy_file(source_path("examples/longcat.sk"), folder_ / "longcat.sk");
    return folder_ / "longcat.sk";
  }
  static CommandResult run(const std::string& file, std::vector<std::string> more = {},
                           const std::string& mode = "ge_graph") {
    std::vector<std::string> args{"run", file, "--mode", mode, "--prompt", "27+58=", "--json"};
    args.insert(args.end(), more.begin(), more.end());
    return run_command(args);
  }
  /// The document without what a clock or the cache decides.
  static std::string answer(const CommandResult& r) {
    EXPECT_EQ(r.exit, 0) << r.err;
    const auto all = parse_json(r.out, "run");
    return to_json(*all->find("requests")) + to_json(*all->find("superkernel")) +
           to_json(*all->find("diagnostics")) + r.err;
  }
  static bool from_cache(const CommandResult& r) {
    return parse_json(r.out, "run")->find("host")->find("program_from_cache")->as_bool();
  }

  TemporaryFolder folder_;
};

TEST_F(PlanCache, AWarmStartAnswersTheSame) {
  const std::string file = model();
  for (const char* mode : {"eager", "ge_graph", "npugraph_ex"}) {
    const CommandResult cold = run(file, {}, mode), warm = run(file, {}, mode);
    EXPECT_FALSE(from_cache(cold)) << mode;
    EXPECT_TRUE(from_cache(warm)) << mode;
    EXPECT_EQ(answer(warm), answer(cold)) << mode;
  }
  const auto kept = kinds();
  EXPECT_EQ(kept.at("program"), 3u);
  EXPECT_EQ(kept.at("graph"), 1u);
  EXPECT_EQ(kept.at("step"), 1u);
}

TEST_F(PlanCache, WhateverCompilingReadsIsInTheKey) {
  const std::string file = model();
  (void)run(file);
  EXPECT_TRUE(from_cache(run(file)));
  EXPECT_FALSE(from_cache(run(file, {"--block-size", "16"})));
  EXPECT_FALSE(from_cache(run(file, {"--set", "routed_scaling_factor=1.0"})));
  EXPECT_FALSE(from_cache(run(file, {"--skip-pass", "fold-constants"})));
  EXPECT_FALSE(from_cache(run(file, {"--prompt", "1+1="})));  // two requests
  std::ofstream(file, std::ios::app) << "\n// another text\n";
  EXPECT_FALSE(from_cache(run(file)));
  EXPECT_TRUE(from_cache(run(file)));
  // Scopes are the schedule's: the program is the same, its graph is not.
  const CommandResult off = run(file, {"--superkernel", "off"});
  EXPECT_TRUE(from_cache(off));
  EXPECT_EQ(parse_json(off.out, "run")->find("superkernel")->find("ops_fused")->as_int(), 0);
}

TEST_F(PlanCache, DamagedEntriesAreCompiledAgainWithAWarning) {
  const std::string file = model();
  const std::string good = answer(run(file));
  for (const auto& entry : fs::directory_iterator(folder_ / "cache/skdsl/objects")) {
    std::fstream bytes(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(-100, std::ios::end);
    bytes.put('\x7f');
  }
  const CommandResult r = run_command({"run", file, "--mode", "ge_graph", "--prompt", "27+58="});
  EXPECT_EQ(r.exit, 0);
  EXPECT_EQ(r.out, "85\n");
  EXPECT_NE(r.err.find("SK3506"), std::string::npos) << r.err;
  const CommandResult again = run(file);
  EXPECT_TRUE(from_cache(again));
  EXPECT_EQ(answer(again), good);
}

TEST_F(PlanCache, WhatReportedSomethingIsToldEachTime) {
  const std::string file = model();
  std::string text = *read_file(file);
  const std::string end = "    return head(h), h\n";
  const size_t at = text.rfind(end);
  ASSERT_NE(at, std::string::npos);
  text.insert(at, "    h * 2.0\n");
  std::ofstream(file) << text;
  for (int start = 0; start < 2; ++start) {
    const CommandResult r = run(file);
    EXPECT_NE(r.err.find("SK3028"), std::string::npos) << r.err;
    EXPECT_FALSE(from_cache(r));
  }
}

TEST_F(PlanCache, ADryRunAndAWatchedProgramLeaveNothingBehind) {
  const std::string file = model();
  EXPECT_EQ(run_command({"explain", "--compiles", file, "--prompt-ids", "1,2,3"}).exit, 0);
  EXPECT_TRUE(kinds().empty());
  EXPECT_EQ(run_command({"run", file, "--prompt-ids", "1,2,3", "--print-after", "all"}).exit, 0);
  EXPECT_EQ(kinds().count("program"), 0u);
}

}  // namespace
}  // namespace skdsl::testing
