// Sessions on a model as piped scripts: answers, refusals, undo, files, golden tests of a session.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/repl/completion.h"
#include "cli/repl/repl.h"
#include "tests/support/cli_run.h"

namespace skdsl::testing {
namespace {

namespace fs = std::filesystem;

const std::string kModel = source_path("examples/longcat.sk");

CommandResult session(const std::string& input, std::vector<std::string> more = {}) {
  std::vector<std::string> args{"repl", kModel};
  args.insert(args.end(), more.begin(), more.end());
  return run_command(args, input);
}

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

/// "launches   13 -> 9" as {13, 9}.
std::pair<int, int> row(const std::string& out, const std::string& name) {
  const size_t at = out.rfind("  " + name + " ");
  if (at == std::string::npos) return {-1, -1};
  std::istringstream words(out.substr(at + 2 + name.size()));
  int a = -1, b = -1;
  std::string arrow;
  words >> a >> arrow >> b;
  return {a, b};
}

TEST(Session, EditsAreAnsweredWithCountsAndBits) {
  const CommandResult r = session(":merge scope_0_part1 scope_0_part2_main\n");
  ASSERT_EQ(r.exit, 0) << r.err;
  EXPECT_EQ(row(r.out, "scopes"), std::make_pair(6, 4)) << r.out;
  EXPECT_EQ(row(r.out, "launches").first, 13);
  EXPECT_LT(row(r.out, "launches").second, 13);
  for (const char* name : {"pieces", "sync all_aic", "sync all_aiv", "sync all_mix", "preloads", "barriers"})
    EXPECT_GE(row(r.out, name).second, 0) << name << r.out;
  EXPECT_NE(r.out.find("bits         same as the file in eager (1 request, prefill and 3 decode steps)"),
            std::string::npos)
      << r.out;
}

TEST(Session, CountsAreThoseOfExplain) {
  TemporaryFolder folder;
  const std::string saved = folder / "m.sk";
  const CommandResult r = session(":split scope_0_part2_main at attn[1]\n:save " + saved + "\n");
  ASSERT_EQ(r.exit, 0) << r.err;
  const CommandResult explained =
      run_command({"explain", saved, "--weights", source_path("examples/longcat-adder")});
  ASSERT_EQ(explained.exit, 0) << explained.err;
  EXPECT_NE(explained.out.find(fmt::format("{} launches a step", row(r.out, "launches").second)),
            std::string::npos)
      << explained.out << r.out;
  EXPECT_NE(explained.out.find(fmt::format("{} scopes, {} pieces", row(r.out, "scopes").second,
                                           row(r.out, "pieces").second)),
            std::string::npos)
      << explained.out;
}

TEST(Session, RefusedEditsLeaveTheModel) {
  for (const char* command :
       {":option scope_0_part1 split-mode=99", ":option scope_0_part1 nothing=1", ":drop scope_0_none",
        ":set no_key=1", ":mode wrong", ":batch 0", ":cores scope_0_part1 aic=0",
        ":prefetch scope_0_part1 nothing after x", ":set enable_prefetch=7up", ":undo", ":redo",
        ":load nothing.sk", ":merge scope_0_part1", ":save x.txt"}) {
    const CommandResult r = session(std::string(command) + "\n");
    EXPECT_EQ(r.exit, 1) << command << r.out;
    EXPECT_FALSE(r.err.empty()) << command;
    EXPECT_EQ(r.out.find(" -> "), std::string::npos) << command << r.out;
  }
}

TEST(Session, AnEditThatChangesTheMathematicsIsRefused) {
  // The second norm reads what the attention gives; in front of it, it would read something else.
  TemporaryFolder folder;
  const std::string file = folder / "m.sk";
  std::ofstream(file) << "import \"std/base.sk\"\nmodel M {\n  embed = Embedding(16, 8)\n  norm = "
                         "RmsNorm(8)\n  head = Linear(8, 16, out = f32)\n\n"
                         "  prefill(ids: i32[T], step: Step) -> f32[B, 16] {\n    return "
                         "head(index_select(embed(ids), 0, step.actual_seq_lengths_cu_q - 1))\n  }\n\n"
                         "  decode(ids: i32[T], step: Step) -> f32[T, 16] {\n    h = embed(ids)\n    "
                         "superkernel \"a\" <\n      x = norm(h)\n    >\n    h = h * 2.0\n    superkernel "
                         "\"b\" <\n      y = sigmoid(h + x)\n    >\n    return head(y)\n  }\n}\n";
  const CommandResult good = run_command({"repl", file}, ":move sigmoid to a\n");
  EXPECT_EQ(good.exit, 1);
  const CommandResult r = run_command({"repl", file}, ":move norm to b\n");
  EXPECT_EQ(r.exit, 1) << r.out;
  EXPECT_NE(r.err.find("changes what is computed"), std::string::npos) << r.err;
}

TEST(Session, WarnedEditsAreKeptAndExplained) {
  const CommandResult r = session(":set target.cann=8.3\n:explain scope_0_part1\n");
  ASSERT_EQ(r.exit, 0) << r.err;
  EXPECT_NE(r.out.find("scope_0_part1: "), std::string::npos);
  EXPECT_NE(r.out.find("not fused: `add`"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("help: "), std::string::npos);
}

TEST(Session, UndoAndRedo) {
  const CommandResult r = session(":drop scope_0_part1\n:undo\n:diff\n:redo\n:diff\n", {"--no-bits"});
  ASSERT_EQ(r.exit, 0) << r.err;
  EXPECT_NE(r.out.find("no change of the file\n"), std::string::npos);
  EXPECT_NE(r.out.find("-    superkernel \"scope_{i}_part1\" when multi and enable_superkernel <"),
            std::string::npos)
      << r.out;
}

TEST(Session, SavedModelsKeepTheirComments) {
  TemporaryFolder folder;
  const std::string saved = folder / "m.sk";
  const CommandResult r =
      session(":merge scope_0_part1 scope_0_part2_main\n:undo\n:save " + saved + "\n", {"--no-bits"});
  ASSERT_EQ(r.exit, 0) << r.err;
  EXPECT_EQ(text_of(saved), text_of(kModel));
}

TEST(Session, TheSessionAsAGoldenTest) {
  TemporaryFolder folder;
  for (const bool lines : {false, true}) {
    const std::string saved = folder / (lines ? "lines_test.sk" : "model_test.sk");
    const CommandResult r =
        session(":drop scope_0_part1\n" + std::string(lines ? "x = f32([1, 2])\nx * 2\n" : "") + ":save " +
                    saved + "\n",
                {"--no-bits"});
    ASSERT_EQ(r.exit, 0) << r.err;
    const std::string text = text_of(saved);
    EXPECT_TRUE(text.starts_with("// RUN: ")) << text;
    EXPECT_NE(text.find("//--- expect\n//| "), std::string::npos) << text.substr(text.find("//---"));
    EXPECT_NE(text.find("//> exit 0\n"), std::string::npos) << text.substr(text.find("//---"));
    EXPECT_EQ(text.find("exit 1"), std::string::npos) << text.substr(text.find("//---"));
    EXPECT_EQ(text.find("/tmp"), std::string::npos);
    if (lines)
      EXPECT_NE(text.find("//| f32[2] [2, 4]\n"), std::string::npos) << text.substr(text.find("//---"));
    else
      EXPECT_NE(text.find("launches a step"), std::string::npos);
  }
}

TEST(Session, ModesAndLooks) {
  const CommandResult r = session(
      ":mode npugraph_ex\n:mode eager\n:scopes\n:mode ge_graph\n:scopes\n:scope scope_1_part2_moe\n:plan "
      "scope_0_part1\n:dump layers.0.norm_post.0\n:time\n:names\n:help\n:help :split\n:explain SK306\n");
  ASSERT_EQ(r.exit, 0) << r.err;
  EXPECT_NE(r.out.find("aiv side:"), std::string::npos);
  EXPECT_NE(r.out.find("layers.0.norm_post.0.rms_norm: "), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("ms a decode step"), std::string::npos);
  EXPECT_NE(r.out.find(":split scope_0_part1 at norm_post[0]"), std::string::npos);
}

TEST(Session, VerifyAndLintSeeTheChangedText) {
  const CommandResult r = session(":drop scope_0_part1\n:verify --threads 1\n", {"--no-bits"});
  ASSERT_EQ(r.exit, 0) << r.err;
  EXPECT_NE(r.out.find("verdict: verified"), std::string::npos) << r.out;
  const CommandResult lint = session(":split scope_0_part1 at norm_post[0]\n:lint\n", {"--no-bits"});
  EXPECT_EQ(lint.exit, 0) << lint.out << lint.err;
}

TEST(Session, LlvmShowsTheCodeOfTheChangedModel) {
  const CommandResult whole = session(":llvm\n");
  ASSERT_EQ(whole.exit, 0) << whole.err;
  EXPECT_NE(whole.out.find("define "), std::string::npos) << whole.out;
  EXPECT_NE(whole.out.find("@sk_kernel_rms_norm"), std::string::npos) << whole.out;
  const auto calls = [](const CommandResult& r) {
    size_t n = 0;
    for (size_t at = 0; (at = r.out.find("call void @sk_kernel_", at)) != std::string::npos; ++at) ++n;
    return n;
  };
  const CommandResult one = session(":llvm scope_0_part1\n");
  ASSERT_EQ(one.exit, 0) << one.err;
  EXPECT_GT(calls(one), 0u) << one.out;
  EXPECT_LT(calls(one), calls(whole));
  // What stood behind the cut is in a function of its own.
  const CommandResult cut =
      session(":split scope_0_part1 at norm_post[0]\n:llvm scope_0_part1\n", {"--no-bits"});
  ASSERT_EQ(cut.exit, 0) << cut.err;
  EXPECT_GT(calls(cut), 0u) << cut.out;
  EXPECT_LT(calls(cut), calls(one)) << cut.out;
  for (const char* refused : {":llvm scope_0_none\n", ":mode eager\n:llvm\n"}) {
    const CommandResult r = session(refused, {"--no-bits"});
    EXPECT_EQ(r.exit, 1) << refused;
    EXPECT_NE(r.err.find(std::string(refused).starts_with(":mode") ? "no plan" : "no scope"),
              std::string::npos)
        << r.err;
  }
}

TEST(Session, ScopesOfImportedFilesAreShownAndLeftAlone) {
  TemporaryFolder folder;
  const std::string layer = folder / "parts.sk", file = folder / "m.sk";
  const std::string part =
      "import \"std/base.sk\"\n\nlayer Part(i: int) {\n  norm = RmsNorm(8)\n\n  forward(h: act[T, 8]) -> "
      "act[T, 8] "
      "{\n    superkernel \"part_{i}\" <\n      h = norm(h)\n      h = h * 2.0\n    >\n    return h\n  "
      "}\n}\n";
  std::ofstream(layer) << part;
  std::ofstream(file)
      << "import \"std/base.sk\"\nimport \"parts.sk\"\nmodel M {\n  embed = Embedding(16, 8)\n  part = "
         "Part(0)\n  head = Linear(8, 16, out = f32)\n\n"
         "  prefill(ids: i32[T], step: Step) -> f32[B, 16] {\n    return "
         "head(index_select(embed(ids), 0, step.actual_seq_lengths_cu_q - 1))\n  }\n\n"
         "  decode(ids: i32[T], step: Step) -> f32[T, 16] {\n    h = part(embed(ids))\n    "
         "superkernel \"own\" <\n      h = h * 3.0\n      y = sigmoid(h)\n    >\n    return "
         "head(y)\n  }\n}\n";
  const CommandResult seen =
      run_command({"repl", file, "--weights", "synthetic:1"}, ":scopes\n:scope part_0\n");
  ASSERT_EQ(seen.exit, 0) << seen.err;
  EXPECT_NE(seen.out.find("part_{i}\n  " + layer +
                          ":7, Part.forward; edited in that file only\n  1 scope, 1 piece"),
            std::string::npos)
      << seen.out;
  EXPECT_NE(seen.out.find("own\n  line 14, M.decode\n  1 scope"), std::string::npos) << seen.out;
  for (const char* command : {":drop part_0", ":split part_{i} at norm", ":merge own part_0",
                              ":merge part_0 own", ":move sigmoid to part_0", ":option part_0 split-mode=2",
                              ":stream part_0 1", ":cores part_0 aic=8", ":prefetch part_0 norm after x"}) {
    const CommandResult r =
        run_command({"repl", file, "--weights", "synthetic:1"}, std::string(command) + "\n");
    EXPECT_EQ(r.exit, 1) << command;
    EXPECT_NE(r.err.find("stands in " + layer + ":7, which " + file + " imports"), std::string::npos)
        << command << r.err;
    EXPECT_NE(r.err.find(":reload"), std::string::npos) << r.err;
  }
  EXPECT_EQ(text_of(layer), part);
  EXPECT_EQ(run_command({"repl", file, "--weights", "synthetic:1"}, ":drop own\n").exit, 0);
}

TEST(Session, LinesUseTheModel) {
  const CommandResult r =
      session("l = RmsNorm(4)\nl(bf16([[1, 1, 1, 1]]))\nm = LongCatFlash()\nhidden_size\n", {});
  ASSERT_EQ(r.exit, 0) << r.err;
  EXPECT_NE(r.out.find("64\n"), std::string::npos) << r.out;
}

TEST(Session, CompletionComesFromTablesAndTheModel) {
  std::istringstream in;
  std::ostringstream out, err;
  cli::Context context{in, out, err};
  std::atomic<bool> interrupt{false};
  cli::repl::Repl repl(context, interrupt, {}, 1);
  ASSERT_TRUE(repl.load(kModel)) << err.str();
  const auto offers = [&](const std::string& before, const std::string& word) {
    const auto words = cli::repl::completions(repl, before);
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  EXPECT_TRUE(offers(":sp", ":split"));
  EXPECT_TRUE(offers(":split scope_0", "scope_0_part1"));
  EXPECT_TRUE(offers(":merge a scope_{", "scope_{i}_part1"));
  EXPECT_TRUE(offers(":split a ", "at"));
  EXPECT_TRUE(offers(":split a at layers.0.norm_p", "layers.0.norm_post.0"));
  EXPECT_TRUE(offers(":split a at norm_p", "norm_post[0]"));
  EXPECT_TRUE(offers(":set num_l", "num_layers="));
  EXPECT_TRUE(offers(":option a stream", "stream-fusion="));
  EXPECT_TRUE(offers(":help und", "undo"));
  EXPECT_TRUE(offers(":mode g", "ge_graph"));
  EXPECT_TRUE(offers("x = rms_", "rms_norm"));
  EXPECT_TRUE(offers("superk", "superkernel"));
  EXPECT_FALSE(offers(":split a ", "scope_0_part1"));
}

TEST(Session, EveryCommandIsOnThePageAndHasAnExampleOfItsOwn) {
  const std::string page = text_of(source_path("docs/repl.md"));
  for (const cli::repl::ReplCommand& c : cli::repl::repl_commands()) {
    EXPECT_NE(page.find(fmt::format("| `:{}{}{}` | {} |", c.name, c.arguments.empty() ? "" : " ", c.arguments,
                                    c.summary)),
              std::string::npos)
        << c.name;
    EXPECT_TRUE(c.example.starts_with(fmt::format(":{}", c.name))) << c.name;
  }
}

TEST(Session, WithoutAModel) {
  for (const char* command :
       {":scopes", ":plan", ":time", ":merge a b", ":undo", ":verify", ":save x.sk", ":save x_test.sk"}) {
    const CommandResult r = run_command({"repl"}, std::string(command) + "\n");
    EXPECT_EQ(r.exit, 1) << command;
    EXPECT_NE(r.err.find("help: "), std::string::npos) << command << r.err;
  }
  EXPECT_EQ(run_command({"repl", "nothing.sk"}, "").exit, 1);
}

}  // namespace
}  // namespace skdsl::testing
