// Configuration and error messages, as they went wrong in the field; through the command line.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "runtime/base/device_errors.h"
#include "runtime/base/json.h"
#include "tests/support/cli_run.h"

namespace skdsl::testing {
namespace {

constexpr const char* kModel = R"(import "std/base.sk"
config {
  num_attention_heads: int = 4
  enable_shared_tp: bool = false
  enable_shared_dp: bool = not enable_shared_tp
}
model M {
  embed = Embedding(7, 4) from "embed"
  head = Linear(4, 7, out = f32) from "head"
  prefill(ids: i32[T], step: Step) -> f32[B, 7] {
    return head(index_select(embed(ids), 0, step.actual_seq_lengths_cu_q - 1))
  }
  decode(ids: i32[T], step: Step) -> f32[T, 7] { return head(embed(ids)) }
}
)";

class ConfigCases : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  CommandResult explain(const std::string& yaml, const std::vector<std::string>& more = {}) {
    std::vector<std::string> args{"config", "explain", write("run.yaml", yaml)};
    args.insert(args.end(), more.begin(), more.end());
    return run_command(args);
  }
  TemporaryFolder folder_;
};

#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)
#define EXPECT_SILENT_ON(text, part) EXPECT_EQ((text).find(part), std::string::npos) << (text)

// FC-023: a copying thread beside a capture in global mode; an unknown mode is refused with the list.
TEST_F(ConfigCases, CaptureBesideAWorkingThread) {
  const std::string worker = "model_config: {exe_mode: npugraph_ex, custom_params: {enable_offload: True}}\n";
  const CommandResult global = explain(worker + "npugraph_ex: {capture_error_mode: global}\n");
  EXPECT_EQ(global.exit, 0);
  EXPECT_SAYS(global.err, "SK953");
  EXPECT_SAYS(global.err, "thread_local");
  EXPECT_SILENT_ON(explain(worker + "npugraph_ex: {capture_error_mode: thread_local}\n").err, "SK953");
  EXPECT_SILENT_ON(explain("model_config: {exe_mode: npugraph_ex}\n").err, "SK953");
  const CommandResult unknown = explain(worker + "npugraph_ex: {capture_error_mode: local}\n");
  EXPECT_EQ(unknown.exit, 1);
  for (const char* value : {"global", "thread_local", "relaxed"}) EXPECT_SAYS(unknown.err, value);
}

// FC-163: keys left over at the wrong level, and a brace that nobody closes.
TEST_F(ConfigCases, LeftOverKeysAndUnbalancedBraces) {
  const CommandResult left = explain(
      "model_config:\n  exe_mode: npugraph_ex\n  capture_limit: 8\nscheduler_config:\n  batch_size: 1\n");
  EXPECT_EQ(left.exit, 1);
  EXPECT_SAYS(left.err, "run.yaml:3:3");
  EXPECT_SAYS(left.err, "`capture_limit` belongs in npugraph_ex");
  const CommandResult top = explain("scheduler_config:\n  batch_size: 1\ncapture_limit: 8\n");
  EXPECT_SAYS(top.err, "run.yaml:3:1");
  EXPECT_SAYS(top.err, "belongs in npugraph_ex");
  const CommandResult brace = explain(
      "model_config: {exe_mode: eager, custom_params: {enable_prefetch: False}\nscheduler_config:\n  "
      "batch_size: 1\n");
  EXPECT_EQ(brace.exit, 1);
  EXPECT_SAYS(brace.err, "error[SK2014]");
  EXPECT_SAYS(brace.err, "run.yaml:");
}

// FC-165: two graph switches and eager at once.
TEST_F(ConfigCases, TwoGraphSwitches) {
  const CommandResult one =
      explain("model_config:\n  exe_mode: ge_graph\nnpugraph_ex:\n  force_eager: true\n");
  EXPECT_EQ(one.exit, 1);
  EXPECT_SAYS(one.err, "run.yaml:4:16");
  EXPECT_SAYS(one.err, "npugraph_ex.force_eager = true");
  EXPECT_SAYS(one.err, "model_config.exe_mode = \"ge_graph\"");
  EXPECT_SAYS(one.err, "run.yaml:2");
  const CommandResult two = explain(
      "model_config:\n  exe_mode: npugraph_ex\nge:\n  experimental_config:\n    tiling_schedule_optimize: "
      "true\n");
  EXPECT_EQ(two.exit, 1);
  EXPECT_SAYS(two.err, "ge.experimental_config.tiling_schedule_optimize");
  EXPECT_SAYS(two.err, "exe_mode is npugraph_ex");
  // At its default an option of another mode contradicts nothing, but it is named.
  const CommandResult same =
      explain("model_config:\n  exe_mode: ge_graph\nnpugraph_ex:\n  force_eager: false\n");
  EXPECT_EQ(same.exit, 0);
  EXPECT_SAYS(same.err, "warning[SK914]: `npugraph_ex.force_eager` has no effect in ge_graph");
}

// FC-166: a value that follows another one says so, and a given one does not.
TEST_F(ConfigCases, DerivedValuesSayWhy) {
  const CommandResult follows =
      explain("model_config:\n  exe_mode: npugraph_ex\n  enable_dynamic_graph: False\n");
  EXPECT_EQ(follows.exit, 0) << follows.err;
  EXPECT_SAYS(follows.out, "model_config.enable_dynamic_graph (");
  const CommandResult given =
      explain("model_config:\n  exe_mode: npugraph_ex\nnpugraph_ex:\n  dynamic: False\n");
  EXPECT_SILENT_ON(given.out, "model_config.enable_dynamic_graph (");
  EXPECT_SAYS(given.out, "run.yaml:4");
  const std::string model = write("m.sk", kModel);
  for (const char* set : {"", "enable_shared_tp=true", "enable_shared_dp=true"}) {
    std::vector<std::string> args{"config", "explain", model};
    if (*set) args.insert(args.end(), {"--set", set});
    const CommandResult r = run_command(args);
    EXPECT_EQ(r.exit, 0) << r.err;
    EXPECT_SAYS(r.out, *set ? std::string("--set ") + set : std::string("enable_shared_dp"));
  }
  const CommandResult batch =
      explain("parallel_config:\n  world_size: 8\n  attn_tp_size: 2\nscheduler_config:\n  batch_size: 16\n");
  EXPECT_SAYS(batch.out, "batch_size / attn_dp_size");
}

// FC-168: no warning when nothing is wrong; otherwise each option once, by name.
TEST_F(ConfigCases, NoEmptyAndNoRepeatedWarnings) {
  const CommandResult quiet =
      explain("model_config:\n  exe_mode: npugraph_ex\nscheduler_config:\n  batch_size: 4\n");
  EXPECT_EQ(quiet.exit, 0);
  EXPECT_EQ(quiet.err, "");
  const std::string model = write("m.sk", kModel);
  const std::string yaml = write("a.yaml",
                                 "model_config:\n  exe_mode: ge_graph\nparallel_config:\n  world_size: "
                                 "4\nscheduler_config:\n  batch_size: 4\n");
  const CommandResult run = run_command({"run", model, "--config", yaml, "--prompt-ids", "1", "--prompt-ids",
                                         "2", "--set", "dtype=float32", "--max-new-tokens", "3"});
  EXPECT_EQ(run.exit, 0) << run.err;
  size_t times = 0;
  for (size_t at = run.err.find("world_size"); at != std::string::npos;
       at = run.err.find("world_size", at + 1))
    ++times;
  EXPECT_EQ(times, 1U) << run.err;
}

// FC-180: all rules that heads and experts break at once, with the values that would do.
TEST_F(ConfigCases, HeadsThatDoNotDivide) {
  const CommandResult r = explain(
      "model_config:\n  custom_params:\n    num_attention_heads: 52\n    num_key_value_heads: 4\n    "
      "num_experts: 256\n"
      "parallel_config:\n  world_size: 24\n  attn_tp_size: 8\n  moe_tp_size: 8\nscheduler_config:\n  "
      "batch_size: 3\n");
  EXPECT_EQ(r.exit, 1);
  EXPECT_SAYS(r.err, "attn_tp_size may be 1, 2, 4, 52\n");
  EXPECT_SAYS(r.err, "world_size / moe_tp_size may be 1, 2, 4, 8, 16, 32, 64, 128, 256\n");
  EXPECT_SAYS(r.err, "run.yaml:8:");
  EXPECT_SAYS(r.err, "run.yaml:9:");
}

// FC-179: a stream that timed out is not a memory that ran out.
TEST_F(ConfigCases, DeviceErrorsKeepTheirClass) {
  for (const DeviceErrorRow& row : device_errors()) {
    const Error e = device_failure("replay of decode", row.code);
    const std::string all = e.message + " " + e.notes.front();
    EXPECT_SAYS(all, std::to_string(row.code));
    EXPECT_SAYS(all, name(row.error_class));
    EXPECT_EQ(all.find("memory") != std::string::npos, row.code == 207001) << all;
  }
  EXPECT_SAYS(run_command({"explain", "107020"}).out, "device error 107020 (stream state)");
  EXPECT_SAYS(run_command({"explain", "107027"}).out, "(stream state)");
  EXPECT_SAYS(run_command({"explain", "207001"}).out, "(memory)");
  EXPECT_SAYS(run_command({"explain", "999999"}).out, "device error 999999 (unknown)");
}

TEST_F(ConfigCases, NotModelled) {
  for (const char* name : {"compile_fx", "dynamo_export", "get_compiler", "register_fx_node_ge_converter"}) {
    for (const std::string& yaml : {std::string("ge:\n  ") + name + ": x\n", std::string(name) + ": x\n"}) {
      const CommandResult r = explain(yaml);
      EXPECT_EQ(r.exit, 1);
      EXPECT_SAYS(r.err, std::string("`") + name + "` is not modelled");
      EXPECT_SAYS(r.err, "help: use ");
    }
    const CommandResult set =
        explain("scheduler_config:\n  batch_size: 1\n", {"--set", std::string("ge.") + name + "=1"});
    EXPECT_EQ(set.exit, 1);
    EXPECT_SAYS(set.err, "is not modelled");
  }
}

TEST_F(ConfigCases, KeysOnTheCommandLine) {
  const std::string yaml = "model_config:\n  exe_mode: npugraph_ex\n";
  const CommandResult good =
      explain(yaml, {"--set", "npugraph_ex.capture_limit=5", "--set", "parallel_config.world_size=2", "--set",
                     "scheduler_config.batch_size=2", "--json"});
  EXPECT_EQ(good.exit, 0) << good.err;
  const auto document = parse_json(good.out, "out");
  ASSERT_TRUE(document);
  std::string limit, status;
  for (const Json& key : document->find("keys")->as_array()) {
    if (*key.find("key") == Json("npugraph_ex.capture_limit"))
      limit = key.find("value")->as_string() + " " + key.find("layer")->as_string();
    if (*key.find("key") == Json("parallel_config.world_size")) status = key.find("status")->as_string();
  }
  EXPECT_EQ(limit, "5 --set");
  EXPECT_EQ(status, "recorded only");
  for (const char* set :
       {"npugraph_ex.capture_limit=0", "npugraph_ex.capture_limits=5", "ge.ge_config.oo_level=O2",
        "parallel_config.batch_size=2", "model_config.custom_params.enable_prefetches=true"}) {
    const CommandResult bad = explain(yaml, {"--set", set});
    EXPECT_EQ(bad.exit, 1) << set;
    EXPECT_SAYS(bad.err, std::string("--set ") + set);
    EXPECT_SAYS(bad.err, "help: ");
  }
}

TEST_F(ConfigCases, SamplingOfTheRunConfig) {
  const std::string model = write("m.sk", kModel);
  const std::string yaml =
      write("a.yaml", "data_config:\n  temperature: 0.8\n  top_p: 0.9\n  top_k: 3\n  seed: 5\n");
  const std::vector<std::string> base{"run", model,   "--prompt-ids",  "1",     "--max-new-tokens",
                                      "8",   "--set", "dtype=float32", "--json"};
  const auto tokens = [&](std::vector<std::string> more) {
    std::vector<std::string> args = base;
    args.insert(args.end(), more.begin(), more.end());
    const CommandResult r = run_command(args);
    EXPECT_EQ(r.exit, 0) << r.err;
    const auto document = parse_json(r.out, "out");
    return document ? to_json(*document->find("requests")) : "";
  };
  EXPECT_EQ(tokens({"--config", yaml}),
            tokens({"--temperature", "0.8", "--top-p", "0.9", "--top-k", "3", "--seed", "5"}));
  EXPECT_EQ(tokens({"--config", yaml, "--temperature", "0"}), tokens({}));
  EXPECT_EQ(tokens({"--config", yaml, "--seed", "6"}),
            tokens({"--temperature", "0.8", "--top-p", "0.9", "--top-k", "3", "--seed", "6"}));
}

TEST_F(ConfigCases, UndeclaredKeysOfARecipeRun) {
  const std::string model = write("m.sk", kModel);
  const std::string yaml = write("a.yaml",
                                 "model_config:\n  model_path: nowhere/at/all\n  custom_params:\n    "
                                 "enable_mla_prolog: True\n    moe_chunk_max_len: 1024\n");
  const std::vector<std::string> args{
      "run", model, "--config", yaml, "--prompt-ids", "1", "--max-new-tokens", "2", "--set", "dtype=float32"};
  const CommandResult r = run_command(args);
  EXPECT_EQ(r.exit, 0) << r.err;
  EXPECT_SAYS(r.err, "enable_mla_prolog = true");
  EXPECT_SAYS(r.err, "model_path `nowhere/at/all` is not here");
  std::vector<std::string> strict = args;
  strict.emplace_back("--strict");
  const CommandResult s = run_command(strict);
  EXPECT_EQ(s.exit, 1);
  EXPECT_SAYS(s.err, "error[SK2018]");
  const std::string typo = write("b.yaml", "model_config:\n  custom_params:\n    enable_shard_tp: True\n");
  const CommandResult t = run_command({"run", model, "--config", typo, "--prompt-ids", "1"});
  EXPECT_EQ(t.exit, 1);
  EXPECT_SAYS(t.err, "did you mean `enable_shared_tp`?");
  EXPECT_SAYS(t.err, "b.yaml:3");
  EXPECT_EQ(
      run_command({"run", model, "--config", typo, "--prompt-ids", "1", "--lenient", "--max-new-tokens", "1"})
          .exit,
      0);
}

}  // namespace
}  // namespace skdsl::testing
