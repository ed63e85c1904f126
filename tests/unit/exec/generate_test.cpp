// Generation with a small attention model: batches, blocks, modes, stops and refusals.
#include "runtime/model/generate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/exec/naive_schedule.h"
#include "tests/unit/exec/tiny_model.h"

namespace skdsl {
namespace {

using model::GenerateRequest;
using model::GenerateResult;
using Prompts = std::vector<std::vector<int32_t>>;

struct Generation : testing::Test {
  test::TinySizes sizes;
  uint32_t threads = 2;
  model::GenerateCallbacks callbacks;

  std::unique_ptr<model::Session> session(const std::string& mode = "eager") {
    const auto weights = test::tiny_weights(sizes);
    model::SessionOptions options;
    options.mode = mode;
    options.threads = threads;
    options.poison = true;
    options.compile = test::naive_schedule;
    auto s = model::Session::create(
        test::tiny_program(sizes), [&](const std::string& p) { return &weights.at(p); }, options);
    EXPECT_TRUE(s) << s.error().message;
    return std::move(*s);
  }
  GenerateRequest request(Prompts prompts, int64_t tokens) const {
    GenerateRequest r;
    r.prompts = std::move(prompts);
    r.max_new_tokens = tokens;
    r.max_seq_len = sizes.max_seq_len;
    r.block_size = sizes.block_size;
    r.kv_blocks = sizes.kv_blocks;
    r.keep_logits = true;
    return r;
  }
  GenerateResult run(const GenerateRequest& r, const std::string& mode = "eager") {
    auto s = session(mode);
    auto result = model::generate(*s, r, callbacks);
    EXPECT_TRUE(result) << result.error().message;
    counters = s->counters();
    return result ? std::move(*result) : GenerateResult{};
  }
  Error refusal(const GenerateRequest& r) {
    auto s = session();
    auto result = model::generate(*s, r, callbacks);
    EXPECT_FALSE(result);
    return result ? Error{} : result.error();
  }
  model::Counters counters;
};

void expect_same(const model::GeneratedSequence& a, const model::GeneratedSequence& b) {
  EXPECT_EQ(a.tokens, b.tokens);
  ASSERT_EQ(a.logits.size(), b.logits.size());
  for (size_t k = 0; k < a.logits.size(); ++k)
    EXPECT_EQ(std::memcmp(a.logits[k].data(), b.logits[k].data(), a.logits[k].size() * sizeof(float)), 0)
        << "token " << k;
}

const Prompts kRagged{{3, 1, 4, 1, 5}, {9}, {2, 6, 5, 3, 5, 8, 9, 7}};

TEST_F(Generation, ARaggedBatchGivesWhatEachRequestGivesAlone) {
  const auto batch = run(request(kRagged, 6));
  ASSERT_EQ(batch.requests.size(), 3u);
  EXPECT_EQ(batch.decode_steps, 5u);
  for (size_t i = 0; i < kRagged.size(); ++i) {
    ASSERT_EQ(batch.requests[i].tokens.size(), 6u);
    for (const auto& row : batch.requests[i].logits)
      for (const float x : row) ASSERT_TRUE(std::isfinite(x));
    expect_same(batch.requests[i], run(request({kRagged[i]}, 6)).requests[0]);
  }
}

// What decode reads from the cache is what a prefill of the whole sequence computes.
TEST_F(Generation, DecodeContinuesThePrefill) {
  const auto r = run(request({kRagged[0]}, 7)).requests[0];
  std::vector<int32_t> sequence = kRagged[0];
  for (size_t k = 0; k + 1 < r.tokens.size(); ++k) {
    sequence.push_back(r.tokens[k]);
    const auto whole = run(request({sequence}, 1)).requests[0];
    EXPECT_EQ(whole.logits[0], r.logits[k + 1]) << "token " << k + 1;
    EXPECT_EQ(whole.tokens[0], r.tokens[k + 1]);
  }
}

TEST_F(Generation, ModesWorkersBlocksAndPaddingChangeNoBit) {
  const auto want = run(request(kRagged, 6));
  for (const std::string mode : {"eager", "ge_graph"})
    for (const uint32_t n : {1u, 2u, 3u})
      for (const int64_t batch : {0, 5}) {
        threads = n;
        GenerateRequest r = request(kRagged, 6);
        r.batch_size = batch;
        if (n == 3) r.shuffle_blocks = 42;
        const auto got = run(r, mode);
        for (size_t i = 0; i < 3; ++i) expect_same(got.requests[i], want.requests[i]);
        EXPECT_EQ(got.batch_size, batch == 0 ? 3 : 5);
        EXPECT_EQ(counters.interpreted_decode_steps, mode == "eager" ? 5u : 0u);
        EXPECT_EQ(counters.replays, mode == "eager" ? 0u : 5u);
        EXPECT_EQ(counters.captures, mode == "eager" ? 0u : 1u);
      }
}

TEST_F(Generation, EosEndsARequestAndItsRowBecomesPadding) {
  const auto free_run = run(request(kRagged, 6));
  GenerateRequest r = request(kRagged, 6);
  r.eos = {free_run.requests[1].tokens[2], 1000000};
  std::vector<int64_t> padding;
  callbacks.on_step = [&](const model::StepInfo& s) { padding.push_back(s.padding); };
  for (const std::string mode : {"eager", "ge_graph"}) {
    padding.clear();
    const auto got = run(r, mode);
    for (size_t i = 0; i < 3; ++i) {
      const auto& all = free_run.requests[i].tokens;
      const auto at = std::find(all.begin(), all.end(), r.eos[0]);
      const bool stops = at != all.end();
      const std::vector<int32_t> want(all.begin(), stops ? at + 1 : at);
      EXPECT_EQ(got.requests[i].tokens, want) << i;
      EXPECT_EQ(got.requests[i].stop, stops ? model::StopReason::Eos : model::StopReason::Length);
    }
    EXPECT_GT(padding.back(), 0);
  }
  r.ignore_eos = true;
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(run(r).requests[i].tokens, free_run.requests[i].tokens);
}

TEST_F(Generation, CallbacksSeeTokensAndSteps) {
  std::vector<std::vector<int32_t>> streamed(2);
  std::vector<model::StepInfo> steps;
  callbacks.on_token = [&](size_t i, int32_t token) { streamed[i].push_back(token); };
  callbacks.on_step = [&](const model::StepInfo& s) { steps.push_back(s); };
  GenerateRequest r = request({{1, 2, 3}, {4}}, 3);
  r.batch_size = 4;
  const auto got = run(r, "ge_graph");
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(streamed[i], got.requests[i].tokens);
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_TRUE(steps[0].prefill && !steps[0].graph && steps[0].rows == 4);
  EXPECT_TRUE(steps[1].graph && steps[1].compiled && steps[1].rows == 4 && steps[1].padding == 2);
  EXPECT_TRUE(steps[2].graph && !steps[2].compiled);
}

TEST_F(Generation, ForcedTokensAreFedBackAndChoicesReported) {
  const auto free_run = run(request({kRagged[0]}, 4)).requests[0];
  GenerateRequest r = request({kRagged[0]}, 4);
  r.forced = {{free_run.tokens[0], (free_run.tokens[1] + 1) % 37}};
  const auto forced = run(r).requests[0];
  EXPECT_EQ(forced.logits[1], free_run.logits[1]);
  EXPECT_EQ(forced.tokens[1], free_run.tokens[1]);
  EXPECT_NE(forced.logits[2], free_run.logits[2]);
  std::vector<int32_t> sequence = kRagged[0];
  sequence.insert(sequence.end(), r.forced[0].begin(), r.forced[0].end());
  EXPECT_EQ(run(request({sequence}, 1)).requests[0].logits[0], forced.logits[2]);
}

TEST_F(Generation, ASecondGenerationOfOneSessionIsTheSame) {
  auto s = session("ge_graph");
  const auto first = model::generate(*s, request(kRagged, 5));
  const auto second = model::generate(*s, request(kRagged, 5));
  ASSERT_TRUE(first && second);
  for (size_t i = 0; i < 3; ++i) expect_same(first->requests[i], second->requests[i]);
  EXPECT_EQ(s->counters().captures, 1u);
}

TEST_F(Generation, FillsTheSequenceToItsLastRow) {
  const auto r = run(request({kRagged[0]}, sizes.max_seq_len - 5));
  EXPECT_EQ(r.requests[0].tokens.size(), 11u);
}

TEST_F(Generation, OnlyTheDefaultNumberOfTokensGivesWay) {
  GenerateRequest r = request(kRagged, 1);
  r.max_new_tokens = {};
  const auto got = run(r);  // 9 usable blocks of 4 for 4 + n, n and 7 + n rows
  EXPECT_EQ(got.max_new_tokens, 8);
  for (const auto& s : got.requests) EXPECT_EQ(s.tokens.size(), 8u);
  sizes.kv_blocks = 40;
  GenerateRequest wide = request(kRagged, 1);
  wide.max_new_tokens = {};
  const auto cut = run(wide);  // max_seq_len 16
  EXPECT_EQ(cut.requests[0].tokens.size(), 11u);
  EXPECT_EQ(cut.requests[1].tokens.size(), 15u);
  EXPECT_EQ(cut.requests[2].tokens.size(), 8u);
}

TEST_F(Generation, RefusesBeforeThePrefill) {
  callbacks.on_step = [](const model::StepInfo&) { ADD_FAILURE() << "a step ran"; };
  EXPECT_EQ(
      refusal(request({kRagged[0]}, 12)).message,
      "prompt 1 has 5 tokens and 12 new ones are asked for; together they must not exceed max_seq_len, 16");
  EXPECT_EQ(refusal(request({kRagged[0]}, INT64_MAX)).notes[0],
            "help: raise --max-seq-len, lower --max-new-tokens or shorten the prompt");
  sizes.kv_blocks = 9;
  const Error e = refusal(request(kRagged, 8));
  EXPECT_EQ(
      e.message,
      "the requests need 9 KV blocks of 4 rows; 8 are usable (--kv-blocks 9, block 0 is the null block)");
  EXPECT_EQ(e.notes[0], "help: --kv-blocks 10, fewer prompts, or a lower --max-new-tokens");
  GenerateRequest many = request(kRagged, 2);
  many.batch_size = 2;
  EXPECT_EQ(refusal(many).message, "3 prompts were given and scheduler_config.batch_size is 2");
  EXPECT_EQ(refusal(request({{1}, {2, 37}}, 2)).message,
            "prompt 2, position 1: token id 37 is outside the vocabulary; ids are at least 0 and below 37");
  EXPECT_EQ(refusal(request({{-1}}, 2)).message,
            "prompt 1, position 0: token id -1 is outside the vocabulary; ids are at least 0 and below 37");
  EXPECT_EQ(refusal(request({{1}, {}}, 2)).message, "prompt 2 is empty; it must have at least one token");
  EXPECT_EQ(refusal(request({}, 2)).message, "no prompt was given");
  EXPECT_EQ(refusal(request({{1}}, 0)).message, "--max-new-tokens is 0; it must be at least 1");
  GenerateRequest no_blocks = request({{1}}, 1);
  no_blocks.block_size = 0;
  EXPECT_EQ(refusal(no_blocks).message, "--block-size is 0; it must be at least 1 and fit 31 bits");
  GenerateRequest full = request({std::vector<int32_t>(16, 1)}, 1);
  full.max_new_tokens = {};
  EXPECT_EQ(
      refusal(full).message,
      "prompt 1 has 16 tokens and 1 new ones are asked for; together they must not exceed max_seq_len, 16");
}

TEST_F(Generation, TheInterruptEndsIt) {
  const auto weights = test::tiny_weights(sizes);
  std::atomic<bool> stop{false};
  model::SessionOptions options;
  options.interrupt = &stop;
  auto s = model::Session::create(
      test::tiny_program(sizes), [&](const std::string& p) { return &weights.at(p); }, options);
  ASSERT_TRUE(s) << s.error().message;
  callbacks.on_step = [&](const model::StepInfo& i) { stop = i.step == 2; };
  const auto r = model::generate(**s, request(kRagged, 6), callbacks);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().message, "interrupted");
}

TEST_F(Generation, NaNIsNeverChosen) {
  auto weights = test::tiny_weights(sizes);
  for (int i = 0; i < 24; ++i) weights["head.w"].data<float>()[i] = NAN;  // token 0
  auto s = model::Session::create(test::tiny_program(sizes),
                                  [&](const std::string& p) { return &weights.at(p); }, {});
  auto r = model::generate(**s, request(kRagged, 4));
  ASSERT_TRUE(r) << r.error().message;
  for (const auto& q : r->requests)
    for (const int32_t t : q.tokens) EXPECT_NE(t, 0);
  for (int i = 0; i < 37 * 24; ++i) weights["head.w"].data<float>()[i] = NAN;
  r = model::generate(**s, request(kRagged, 4));
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().message, "request 1: every logit for new token 1 is NaN");
}

}  // namespace
}  // namespace skdsl
