// The golden folders: tokens, logits, and the same bits however a request is run.
//
// Numbers come from independent float64 implementations on the stored weights (golden.json of each folder;
// reference/reference.py for three of them).
#include <cmath>

#include "tests/models/logits.h"

namespace skdsl::testing {
namespace {

struct Folder {
  const char* name;
  const char* model;
  const char* path;
};
constexpr const char* kModes[] = {"eager", "npugraph_ex", "ge_graph"};
constexpr Folder kFolders[] = {
    {"deepseek_v3", "examples/deepseek_v3.sk", "tests/models/golden/deepseek_v3"},
    {"deepseek_v3_bf16", "examples/deepseek_v3.sk", "tests/models/golden/deepseek_v3_bf16"},
    {"deepseek_v3_mtp", "examples/deepseek_v3.sk", "tests/models/golden/deepseek_v3_mtp"},
    {"deepseek_v3_plain_query", "examples/deepseek_v3.sk", "tests/models/golden/deepseek_v3_plain_query"},
    {"llama", "examples/llama.sk", "tests/models/golden/llama"},
    {"llama3_biases", "examples/llama.sk", "tests/models/golden/llama3_biases"},
    {"llama_awkward", "examples/llama.sk", "tests/models/golden/llama_awkward"},
    {"llama_bf16", "examples/llama.sk", "tests/models/golden/llama_bf16"},
    {"longcat_flash", "examples/longcat.sk", "tests/models/golden/longcat_flash"},
    {"longcat_flash_awkward", "examples/longcat.sk", "tests/models/golden/longcat_flash_awkward"},
    {"longcat_flash_bf16", "examples/longcat.sk", "tests/models/golden/longcat_flash_bf16"},
    {"longcat_flash_w8a8", "examples/longcat.sk", "tests/models/golden/longcat_flash_w8a8"},
    {"qwen3", "examples/qwen3.sk", "tests/models/golden/qwen3"},
    {"qwen3_bf16", "examples/qwen3.sk", "tests/models/golden/qwen3_bf16"},
    {"qwen3_moe", "examples/qwen3_moe.sk", "tests/models/golden/qwen3_moe"},
    {"qwen3_moe_bf16", "examples/qwen3_moe.sk", "tests/models/golden/qwen3_moe_bf16"},
    {"qwen3_moe_mixed", "examples/qwen3_moe.sk", "tests/models/golden/qwen3_moe_mixed"},
    {"longcat_adder", "examples/longcat.sk", "examples/longcat-adder"},
};

class Golden : public ::testing::TestWithParam<Folder> {
 protected:
  void SetUp() override {
    auto text = read_file(source_path(std::string(GetParam().path) + "/golden.json"));
    ASSERT_TRUE(text.has_value());
    golden_ = parsed(*text);
    for (const Json& r : golden_.find("requests")->as_array()) {
      prompts_.push_back(integers(*r.find("prompt_ids")));
      longest_ = std::max<int64_t>(longest_,
                                   static_cast<int64_t>(r.find("greedy")->find("tokens")->as_array().size()));
    }
  }
  LogitsRun run(const std::string& mode, int threads) const {
    LogitsRun r;
    r.model = source_path(GetParam().model);
    r.weights = source_path(GetParam().path);
    r.prompts = prompts_;
    r.mode = mode;
    r.threads = threads;
    r.new_tokens = longest_;
    return r;
  }
  const Json& request(size_t i) const { return golden_.find("requests")->as_array()[i]; }

  bool has_draft() const { return request(0).find("mtp") != nullptr; }
  LogitsRun run_with_draft(const std::string& mode, int threads, const char* flag = "--mtp=2") const {
    LogitsRun r = run(mode, threads);
    r.more = {flag};
    return r;
  }
  /// Keeps the largest error of a row of logits, as a part of the folder's tolerance.
  void compare(const Json& have, const Json& want) {
    const double abs = golden_.find("suggested_tolerance")->find("logits_abs")->as_double();
    const double rel = golden_.find("suggested_tolerance")->find("logits_rel")->as_double();
    ASSERT_EQ(want.as_array().size(), have.as_array().size());
    for (size_t v = 0; v < want.as_array().size(); ++v) {
      const double w = want.as_array()[v].as_double();
      worst_ = std::max(worst_, std::abs(have.as_array()[v].as_double() - w) / (abs + rel * std::abs(w)));
    }
  }

  Json golden_;
  std::vector<std::vector<int64_t>> prompts_;
  int64_t longest_ = 0;
  double worst_ = 0;
};

TEST_P(Golden, TokensAndLogitsInEveryMode) {
  for (const char* mode : kModes) {
    const Json dump = parsed(logits_text(run(mode, 2)));
    worst_ = 0;
    for (size_t i = 0; i < prompts_.size(); ++i) {
      const Json& mine = dump.find("requests")->as_array()[i];
      const Json& greedy = *request(i).find("greedy");
      auto tokens = integers(*mine.find("tokens"));
      const auto expected = integers(*greedy.find("tokens"));
      ASSERT_GE(tokens.size(), expected.size());
      tokens.resize(expected.size());
      EXPECT_EQ(tokens, expected) << mode << ", request " << i;
      for (size_t k = 0; k < expected.size(); ++k)
        compare(mine.find("step_logits")->as_array()[k], greedy.find("logits")->as_array()[k]);
    }
    EXPECT_LE(worst_, 1.0) << mode;
    std::printf("%s, %s: largest logit error is %.3f of the tolerance\n", GetParam().name, mode, worst_);
  }
}

TEST_P(Golden, DraftTokensAndLogitsInEveryMode) {
  if (!has_draft()) GTEST_SKIP() << "the folder has no draft";
  const Json plain = parsed(logits_text(run("eager", 1)));
  for (const char* mode : kModes) {
    const Json dump = parsed(logits_text(run_with_draft(mode, 2)));
    worst_ = 0;
    for (size_t i = 0; i < prompts_.size(); ++i) {
      const Json& mine = dump.find("requests")->as_array()[i];
      const Json& draft = *mine.find("mtp");
      const Json& want = *request(i).find("mtp");
      EXPECT_EQ(*mine.find("step_logits"), *plain.find("requests")->as_array()[i].find("step_logits"))
          << "the draft changed what the model computes";
      const auto tokens = integers(*draft.find("draft_tokens"));
      const auto& logits = draft.find("draft_logits")->as_array();
      // A guess after each step but the last, whose request is done.
      ASSERT_EQ(tokens.size() + 1, mine.find("tokens")->as_array().size());
      EXPECT_EQ(tokens[0], want.find("draft1")->as_int()) << mode << ", request " << i;
      compare(logits[0], *want.find("prefill_logits_last"));
      EXPECT_EQ(draft.find("chained_tokens")->as_array()[0].as_int(), want.find("draft2")->as_int());
      compare(draft.find("chained_logits")->as_array()[0], *want.find("chained_logits"));
      const auto& steps = want.find("per_step")->as_array();
      ASSERT_FALSE(steps.empty());
      for (size_t k = 0; k < steps.size(); ++k) {
        EXPECT_EQ(mine.find("tokens")->as_array()[k + 1].as_int(), steps[k].find("main_token")->as_int());
        EXPECT_EQ(tokens[k + 1], steps[k].find("draft")->as_int())
            << mode << ", request " << i << ", step " << k;
        compare(logits[k + 1], *steps[k].find("logits"));
      }
    }
    EXPECT_LE(worst_, 1.0) << mode;
    std::printf("%s, %s: largest draft logit error is %.3f of the tolerance\n", GetParam().name, mode,
                worst_);
  }
}

TEST_P(Golden, DraftsHaveTheSameBitsInEveryModeAndBatch) {
  if (!has_draft()) GTEST_SKIP() << "the folder has no draft";
  const std::string reference = logits_text(run_with_draft("eager", 1));
  for (const char* mode : {"npugraph_ex", "ge_graph"})
    EXPECT_EQ(logits_text(run_with_draft(mode, 2)), reference) << mode;
  const Json batch = parsed(reference), one = parsed(logits_text(run_with_draft("ge_graph", 1, "--mtp")));
  for (size_t i = 0; i < prompts_.size(); ++i) {
    const Json& both = batch.find("requests")->as_array()[i];
    for (const char* list : {"draft_tokens", "draft_logits"})
      EXPECT_EQ(*one.find("requests")->as_array()[i].find("mtp")->find(list), *both.find("mtp")->find(list))
          << "chained guesses changed the first one";
    LogitsRun alone = run_with_draft(i % 2 == 0 ? "ge_graph" : "eager", 2);
    alone.prompts = {prompts_[i]};
    alone.more.insert(alone.more.end(), {"--set", "batch_size=3", "--block-size", "5"});
    EXPECT_EQ(parsed(logits_text(alone)).find("requests")->as_array()[0], both) << "request " << i;
  }
}

TEST_P(Golden, SameBitsInEveryModeAndForAnyNumberOfThreads) {
  const std::string reference = logits_text(run("eager", 1));
  EXPECT_EQ(logits_text(run("eager", 2)), reference);
  for (const char* mode : {"npugraph_ex", "ge_graph"})
    for (const int threads : {1, 2})
      EXPECT_EQ(logits_text(run(mode, threads)), reference) << mode << ", " << threads << " threads";
  for (const int threads : {1, 2}) {
    LogitsRun unfused = run("ge_graph", threads);
    unfused.more = {"--superkernel", "off"};
    EXPECT_EQ(logits_text(unfused), reference) << "without super kernels, threads " << threads;
    LogitsRun captured = run("npugraph_ex", threads);
    captured.more = {"--set", "npugraph_ex.static_kernel_compile=true", "--set",
                     "npugraph_ex.super_kernel_optimize=true"};
    EXPECT_EQ(logits_text(captured), reference) << "captured super kernels, threads " << threads;
    captured.more.insert(captured.more.end(), {"--jit", "off"});
    EXPECT_EQ(logits_text(captured), reference)
        << "captured super kernels in the plan executor, threads " << threads;
    // ge_graph is machine code by default, here from the cache of the runs before.
    for (const std::vector<std::string>& more : {std::vector<std::string>{"--jit", "off"},
                                                 {"--jit", "off", "--superkernel", "off"},
                                                 {"--static-kernels"}}) {
      LogitsRun other = run("ge_graph", threads);
      other.more = more;
      EXPECT_EQ(logits_text(other), reference) << more.back() << ", threads " << threads;
    }
  }
  EXPECT_EQ(logits_text(run("ge_graph", 5)), reference) << "more workers than cores";
}

TEST_P(Golden, ARequestAloneEqualsTheSameRequestInARaggedBatch) {
  const Json batch = parsed(logits_text(run("ge_graph", 1)));
  for (size_t i = 0; i < prompts_.size(); ++i)
    for (const char* mode : kModes) {
      LogitsRun alone = run(mode, 2);
      alone.prompts = {prompts_[i]};
      // A padded batch and another block size must not matter either.
      alone.more = {"--set", "batch_size=3", "--block-size", "5"};
      EXPECT_EQ(parsed(logits_text(alone)).find("requests")->as_array()[0],
                batch.find("requests")->as_array()[i])
          << mode << ", request " << i;
    }
}

TEST_P(Golden, Bfloat16TokensUpToTheFirstNarrowGap) {
  std::string reference;
  for (const char* mode : kModes) {
    LogitsRun r = run(mode, 2);
    r.dtype = "bfloat16";
    const std::string text = logits_text(r);
    if (reference.empty()) reference = text;
    EXPECT_EQ(text, reference) << mode;
    const Json dump = parsed(text);
    size_t compared = 0;
    for (size_t i = 0; i < prompts_.size(); ++i) {
      const Json& greedy = *request(i).find("greedy");
      const auto tokens = integers(*dump.find("requests")->as_array()[i].find("tokens"));
      const auto expected = integers(*greedy.find("tokens"));
      for (size_t k = 0; k < expected.size() && greedy.find("top2_gap")->as_array()[k].as_double() > 0.5;
           ++k, ++compared)
        ASSERT_EQ(tokens[k], expected[k]) << mode << ", request " << i << ", token " << k;
    }
    EXPECT_GT(compared, 0u);
  }
}

// The request of the batch that ends first becomes a padding row for the draft too, and its blocks go to
// others.
TEST(Drafts, EndWithTheirRequestAndFitTheBlocksOfTheModel) {
  const std::vector<std::vector<int64_t>> prompts{{12, 48, 41, 36, 11, 14}, {3, 1, 4}, {7}};
  const size_t new_tokens = 12;
  int64_t rows = 0;
  for (const auto& prompt : prompts) rows += static_cast<int64_t>(prompt.size() + new_tokens - 1);
  std::string reference;
  for (const char* mode : kModes)
    for (const char* flag : {"--mtp=2", "--mtp=2", ""}) {
      TemporaryFolder folder;
      std::vector<std::string> args{"run",
                                    source_path("examples/deepseek_v3.sk"),
                                    "--weights",
                                    source_path("tests/models/golden/deepseek_v3_mtp"),
                                    "--strict",
                                    "--mode",
                                    mode,
                                    "--set",
                                    "dtype=float32",
                                    "--max-new-tokens",
                                    std::to_string(new_tokens),
                                    "--block-size",
                                    "1",
                                    "--kv-blocks",
                                    std::to_string(1 + rows),
                                    "--dump-logits",
                                    folder / "logits.json"};
      for (const auto& prompt : prompts) {
        std::string ids;
        for (const int64_t id : prompt) ids += (ids.empty() ? "" : ",") + std::to_string(id);
        args.insert(args.end(), {"--prompt-ids", ids});
      }
      if (*flag) args.emplace_back(flag);
      const CommandResult r = run_command(args);
      ASSERT_EQ(r.exit, 0) << r.err;
      const std::string text = *read_file(folder / "logits.json");
      const Json dump = parsed(text);
      size_t ended = 0;
      for (const Json& request : dump.find("requests")->as_array()) {
        const auto tokens = integers(*request.find("tokens"));
        ended += tokens.size() < new_tokens;
        if (!*flag) continue;
        for (const char* list : {"draft_tokens", "draft_logits", "chained_tokens", "chained_logits"})
          EXPECT_EQ(request.find("mtp")->find(list)->as_array().size() + 1, tokens.size()) << list;
      }
      EXPECT_GT(ended, 0u) << "no request met an end token";
      if (!*flag) continue;
      if (reference.empty()) reference = text;
      EXPECT_EQ(text, reference) << mode;
    }
}

INSTANTIATE_TEST_SUITE_P(Folders, Golden, ::testing::ValuesIn(kFolders),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Adder, The500SumsAreRightInEveryMode) {
  auto text = read_file(source_path("examples/longcat-adder/sums.json"));
  ASSERT_TRUE(text.has_value());
  const Json sums = parsed(*text);
  for (const char* mode : kModes) {
    std::vector<std::string> args{
        "run", source_path("examples/longcat.sk"), "--mode", mode, "--set", "dtype=float32", "--json"};
    for (const Json& item : sums.find("items")->as_array())
      args.insert(args.end(), {"--prompt", item.find("prompt")->as_string()});
    const CommandResult r = run_command(args);
    ASSERT_EQ(r.exit, 0) << r.err;
    const Json report = parsed(r.out);
    const auto& requests = report.find("requests")->as_array();
    ASSERT_EQ(requests.size(), sums.find("items")->as_array().size());
    size_t right = 0;
    for (size_t i = 0; i < requests.size(); ++i)
      right += requests[i].find("text")->as_string() ==
               sums.find("items")->as_array()[i].find("answer")->as_string();
    EXPECT_EQ(right, 500u) << mode;
    const int64_t interpreted = report.find("graph")->find("interpreted_decode_steps")->as_int();
    const int64_t replays = report.find("graph")->find("replays")->as_int();
    const std::string_view m = mode;
    const int64_t steps = interpreted + replays;
    EXPECT_EQ(interpreted, m == "eager" ? steps : m == "npugraph_ex" ? 1 : 0) << mode;
    EXPECT_EQ(report.find("graph")->find("captures")->as_int(), m == "eager" ? 0 : 1) << mode;
    EXPECT_GT(steps, 1);
  }
}

TEST(Adder, TheReadmeCommandPrints85) {
  const CommandResult r =
      run_command({"run", source_path("examples/longcat.sk"), "--mode", "ge_graph", "--prompt", "27+58="});
  EXPECT_EQ(r.exit, 0) << r.err;
  EXPECT_EQ(r.out, "85\n");
}

}  // namespace
}  // namespace skdsl::testing
