// npugraph_ex on whole models: warm-up, host lists, gears, memory that is reused; the bits are always
// eager's.
#include "tests/models/logits.h"

namespace skdsl::testing {
namespace {

/// A text file with one text replaced; the test fails when it does not stand there.
std::string replaced(const std::string& path, const std::string& what, const std::string& by) {
  auto text = read_file(path);
  EXPECT_TRUE(text.has_value()) << path;
  std::string out = text ? *text : "";
  const size_t at = out.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  if (at != std::string::npos) out.replace(at, what.size(), by);
  return out;
}

struct ModelRun {
  std::string model, weights, mode;
  std::vector<std::vector<int64_t>> prompts;
  std::vector<std::string> more;
};
struct Seen {
  std::string logits, steps;
  Json graph;
};

Seen seen(const ModelRun& run) {
  TemporaryFolder folder;
  const std::string file = folder / "logits.json";
  std::vector<std::string> args{"run",          run.model,          "--weights", run.weights,
                                "--mode",       run.mode,           "--set",     "dtype=float32",
                                "--ignore-eos", "--max-new-tokens", "14",        "--dump-logits",
                                file,           "--steps",          "--json"};
  for (const auto& prompt : run.prompts) {
    std::string ids;
    for (const int64_t id : prompt) ids += (ids.empty() ? "" : ",") + std::to_string(id);
    args.insert(args.end(), {"--prompt-ids", ids});
  }
  args.insert(args.end(), run.more.begin(), run.more.end());
  const CommandResult r = run_command(args);
  EXPECT_EQ(r.exit, 0) << r.err;
  if (r.exit != 0) return {"", r.err, Json(Json::Object{})};
  const Json report = parsed(r.out);
  return {*read_file(file), r.err, *report.find("graph")};
}

int64_t count(const Seen& s, const char* key) {
  const Json* n = s.graph.find(key);
  return n != nullptr && n->is_int() ? n->as_int() : -1;
}

const std::vector<std::vector<int64_t>> kPrompts{{1, 5, 7}, {3}, {2, 8, 9, 4}};

TEST(Capture, OneCaptureServesAllLaterSteps) {
  const ModelRun run{source_path("examples/llama.sk"),
                     source_path("tests/models/golden/llama"),
                     "npugraph_ex",
                     kPrompts,
                     {}};
  const Seen s = seen(run);
  EXPECT_EQ(count(s, "captures"), 1);
  EXPECT_EQ(count(s, "replays"), 12);
  EXPECT_EQ(count(s, "recompiles") + count(s, "recaptures"), 0);
  EXPECT_NE(s.steps.find("step 1: decode, captured B=3 T=3"), std::string::npos) << s.steps;
  EXPECT_NE(s.steps.find("step 13: decode, replay of B=3 T=3"), std::string::npos) << s.steps;
  EXPECT_EQ(s.steps.find("misuse"), std::string::npos) << s.steps;
}

TEST(Capture, WarmUpCapturesAndFormalDecodeDoesNot) {
  for (const auto& [model, weights, more] :
       {std::tuple{"examples/llama.sk", "tests/models/golden/llama", std::vector<std::string>{}},
        std::tuple{"examples/longcat.sk", "tests/models/golden/longcat_flash", std::vector<std::string>{}},
        std::tuple{"examples/deepseek_v3.sk", "tests/models/golden/deepseek_v3_mtp",
                   std::vector<std::string>{"--mtp=2"}}}) {
    ModelRun run{source_path(model), source_path(weights), "eager", kPrompts, more};
    const std::string reference = seen(run).logits;
    run.more.push_back("--warmup");
    for (const char* mode : {"npugraph_ex", "ge_graph"}) {
      run.mode = mode;
      const Seen s = seen(run);
      EXPECT_EQ(s.logits, reference) << mode << " " << model;
      EXPECT_EQ(count(s, "captures_after_warmup"), 0) << mode << " " << model;
      EXPECT_EQ(count(s, "captures"), more.empty() ? 1 : 2) << mode << " " << model;
      EXPECT_NE(s.steps.find("warm-up: decode"), std::string::npos);
      EXPECT_EQ(s.steps.find("misuse"), std::string::npos) << s.steps;
    }
  }
}

// The lengths of the paged attention as a host list: one capture when they are symbols, one compilation for
// each value when they are constants, and no graph at all past the limit.
TEST(Capture, HostLengthsAreSymbolsOrCompileForEachValue) {
  TemporaryFolder folder;
  const std::string from = "actual_seq_lengths_kv = step.actual_seq_lengths_kv";
  ASSERT_TRUE(
      write_file_atomically(folder / "attention.sk",
                            replaced(source_path("stdlib/attention.sk"), from,
                                     "actual_seq_lengths_kv = if exe_mode == \"npugraph_ex\" then "
                                     "step.actual_seq_lengths_kv_list else step.actual_seq_lengths_kv"))
          .has_value());
  ASSERT_TRUE(write_file_atomically(
                  folder / "m.sk", replaced(source_path("examples/longcat.sk"), "import \"std/attention.sk\"",
                                            "import \"attention.sk\""))
                  .has_value());
  ModelRun run{folder / "m.sk", source_path("tests/models/golden/longcat_flash"), "eager", kPrompts, {}};
  const std::string reference = seen(run).logits;
  run.mode = "npugraph_ex";
  const Seen dynamic = seen(run);
  EXPECT_EQ(dynamic.logits, reference);
  EXPECT_EQ(count(dynamic, "captures"), 1);
  EXPECT_EQ(count(dynamic, "replays"), 12);
  run.more = {"--set", "model_config.enable_dynamic_graph=false"};
  const Seen constant = seen(run);
  EXPECT_EQ(constant.logits, reference);
  EXPECT_EQ(count(constant, "captures"), 8);
  EXPECT_EQ(count(constant, "recompiles"), 7);
  EXPECT_EQ(count(constant, "replays"), 0);
  EXPECT_EQ(constant.graph.find("fallbacks")->as_array().size(), 5u);  // steps 9 to 13
  EXPECT_EQ(constant.graph.find("fallbacks")->as_array()[0].find("step")->as_int(), 9);
  EXPECT_EQ(constant.graph.find("fallbacks")->as_array()[0].find("reason")->as_string(), "recompile_limit");
  const Json& last = constant.graph.find("events")->as_array().back();
  EXPECT_EQ(last.find("event")->as_string(), "fallback");
  EXPECT_EQ(last.find("guard")->as_string(), "step.actual_seq_lengths_kv_list");
  EXPECT_EQ(last.find("before")->as_string(), "[11, 9, 12]");
  EXPECT_EQ(last.find("after")->as_string(), "[12, 10, 13]");
}

TEST(Capture, GearsPadTheBatchOfAModel) {
  TemporaryFolder folder;
  ASSERT_TRUE(write_file_atomically(
                  folder / "m.sk",
                  replaced(source_path("examples/llama.sk"),
                           "decode(ids: i32[T], step: Step) -> f32[T, vocab_size] {",
                           "decode(ids: i32[T], step: Step) -> f32[T, vocab_size] { gears [1, 2, 4]"))
                  .has_value());
  ModelRun run{folder / "m.sk", source_path("tests/models/golden/llama"), "eager", kPrompts, {}};
  const std::string reference = seen(run).logits;
  run.mode = "npugraph_ex";
  const Seen s = seen(run);
  EXPECT_EQ(s.logits, reference);
  EXPECT_EQ(count(s, "captures"), 1);
  EXPECT_EQ(count(s, "replays"), 12);
  EXPECT_NE(s.steps.find("replay of B=4 T=4"), std::string::npos) << s.steps;
  EXPECT_NE(s.steps.find("1 rows added for the gear"), std::string::npos) << s.steps;
  run.more = {"--set", "batch_size=5"};
  const Seen beyond = seen(run);
  EXPECT_EQ(beyond.logits, reference);
  EXPECT_EQ(count(beyond, "captures"), 0);
  EXPECT_EQ(beyond.graph.find("fallbacks")->as_array().size(), 13u);
  EXPECT_NE(beyond.steps.find("interpreter (above the largest gear)"), std::string::npos) << beyond.steps;
}

TEST(Capture, NoOptionChangesABit) {
  ModelRun run{source_path("examples/longcat.sk"),
               source_path("tests/models/golden/longcat_flash_awkward"),
               "eager",
               kPrompts,
               {}};
  const std::string reference = seen(run).logits;
  run.mode = "npugraph_ex";
  for (const char* option :
       {"force_eager=true", "force_recapture=true", "clone_input=false", "clone_output=true",
        "inplace_pass=false", "input_inplace_pass=false", "remove_noop_ops=false",
        "pattern_fusion_pass=false", "frozen_parameter=true", "static_kernel_compile=true",
        "skip_guard_eval_unsafe=true", "use_graph_pool={handle: 1}", "reuse_graph_pool_in_same_fx=false",
        "capture_limit=1", "dynamic=false"}) {
    run.more = {"--set", std::string("npugraph_ex.") + option};
    const Seen s = seen(run);
    EXPECT_EQ(s.logits, reference) << option;
    const bool eager = std::string(option) == "force_eager=true";
    EXPECT_EQ(count(s, "replays"), eager || std::string(option) == "force_recapture=true" ? 0 : 12) << option;
    EXPECT_EQ(s.graph.find("fallbacks")->as_array().size(), eager ? 13u : 0u) << option;
  }
}

}  // namespace
}  // namespace skdsl::testing
