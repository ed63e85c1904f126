// parse(print(x)) == x for the tree, the program and the plan of every example and golden model, in every
// mode; and the schedule layer changes nothing that it should not.
#include <gtest/gtest.h>

#include <filesystem>

#include "compiler/compile.h"
#include "compiler/parse/parse.h"
#include "compiler/schedule/schedule.h"
#include "runtime/base/file.h"
#include "runtime/plan/archive.h"
#include "runtime/plan/plan.h"
#include "stdlib/sources.h"
#include "tests/support/cli_run.h"

namespace skdsl::testing {
namespace {

TEST(RoundTrip, TreesOfExamplesAndTheStandardLibrary) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const ShippedSource& s : shipped_sources()) texts.emplace_back(s.name, s.text);
  for (const auto& entry : std::filesystem::directory_iterator(source_path("examples")))
    if (entry.path().extension() == ".sk")
      texts.emplace_back(entry.path().string(), *read_file(entry.path()));
  ASSERT_GE(texts.size(), 6u);
  for (const auto& [name, text] : texts) {
    source::Sources sources;
    diag::Engine diags(sources);
    const ast::Ast tree = parse::parse(sources.add(name, text), diags);
    ASSERT_FALSE(diags.has_errors()) << name;
    const std::string printed = ast::print(tree);
    EXPECT_EQ(printed, text) << name << " is not formatted";
    const ast::Ast again = parse::parse(sources.add(name + " printed", printed), diags);
    ASSERT_FALSE(diags.has_errors()) << name;
    EXPECT_TRUE(ast::equal(tree, tree.root, again, again.root)) << name;
  }
}

struct Case {
  const char* file;
  const char* mode;
  std::vector<std::pair<const char*, int64_t>> set;
  std::vector<std::string> skip;
};

TEST(RoundTrip, ProgramsAndPlansOfTheExamples) {
  const std::vector<std::pair<const char*, int64_t>> small_longcat = {{"num_layers", 2},
                                                                      {"hidden_size", 64},
                                                                      {"ffn_hidden_size", 48},
                                                                      {"expert_ffn_hidden_size", 16},
                                                                      {"num_attention_heads", 4},
                                                                      {"q_lora_rank", 16},
                                                                      {"kv_lora_rank", 12},
                                                                      {"qk_nope_head_dim", 8},
                                                                      {"qk_rope_head_dim", 6},
                                                                      {"v_head_dim", 10},
                                                                      {"n_routed_experts", 4},
                                                                      {"zero_expert_num", 2},
                                                                      {"moe_topk", 3},
                                                                      {"vocab_size", 77}};
  const std::vector<Case> cases = {
      {"examples/longcat.sk", "eager", {}, {}},
      {"examples/longcat.sk", "ge_graph", {}, {}},
      {"examples/longcat.sk", "ge_graph", small_longcat, {}},
      {"examples/longcat.sk", "ge_graph", small_longcat, {"inline-layers"}},
      {"examples/llama.sk", "eager", {}, {}},
      {"examples/llama.sk", "ge_graph", {}, {}},
  };
  for (const Case& c : cases) {
    source::Sources sources;
    diag::Engine diags(sources);
    sema::Modules modules(diags);
    ASSERT_TRUE(modules.load_main(source_path(c.file)));
    CompileOptions options;
    options.sema.builtins.exe_mode = c.mode;
    options.passes.skip = c.skip;
    for (const auto& [key, value] : c.set)
      options.sema.settings.items.push_back({key, value, config::Layer::Set, "test"});
    auto compiled = compile(modules, options, diags);
    ASSERT_TRUE(compiled.has_value())
        << c.file << " " << c.mode << ": " << (diags.all().empty() ? "" : diags.all()[0].message);
    EXPECT_TRUE(plan::verify(compiled->program).empty());
    const std::string text = plan::print(compiled->program);
    auto parsed = plan::parse_program(text);
    ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
    EXPECT_EQ(plan::print(*parsed), text);
    EXPECT_TRUE(plan::equal(*parsed, compiled->program));
    const auto unpacked = plan::unpack<plan::Program>(plan::pack(compiled->program));
    ASSERT_TRUE(unpacked.has_value()) << unpacked.error().message;
    EXPECT_TRUE(plan::equal(*unpacked, compiled->program));

    if (std::string(c.mode) == "eager" || !c.skip.empty()) continue;
    plan::Plan plan;
    for (const int64_t batch : {1, 3}) {
      const plan::GraphKey key{compiled->model + ".decode", {{"B", batch}, {"T", batch}, {"W", 16}}};
      auto schedule = schedule::make_schedule(compiled->program, key, diags);
      ASSERT_TRUE(schedule.has_value()) << (diags.all().empty() ? "" : diags.all().back().message);
      const auto unpacked = plan::unpack<plan::Schedule>(plan::pack(*schedule));
      ASSERT_TRUE(unpacked.has_value()) << unpacked.error().message;
      EXPECT_TRUE(plan::equal(*unpacked, *schedule));
      EXPECT_EQ(plan::pack(*unpacked), plan::pack(*schedule));
      plan.schedules.push_back(std::move(*schedule));
    }
    plan.program = std::move(compiled->program);
    EXPECT_TRUE(plan::verify(plan).empty());
    const std::string plan_text = plan::print(plan);
    auto plan_again = plan::parse_plan(plan_text);
    ASSERT_TRUE(plan_again.has_value()) << plan_again.error().message;
    EXPECT_EQ(plan::print(*plan_again), plan_text);
  }
}

// Scopes, streams, core limits, events and prefetches are in the plan, under the published names.
TEST(RoundTrip, TheLongCatScheduleIsCarriedIntoThePlan) {
  source::Sources sources;
  diag::Engine diags(sources);
  sema::Modules modules(diags);
  ASSERT_TRUE(modules.load_main(source_path("examples/longcat.sk")));
  CompileOptions options;
  options.sema.builtins.exe_mode = "ge_graph";
  auto compiled = compile(modules, options, diags);
  ASSERT_TRUE(compiled.has_value());
  std::set<std::string> scopes, streams;
  std::set<std::string> cores;
  for (const plan::Context& c : compiled->program.contexts) {
    if (c.kind == plan::Context::Kind::SuperKernel) scopes.insert(c.name);
    if (c.kind == plan::Context::Kind::Stream) streams.insert(c.name);
    if (c.kind == plan::Context::Kind::Cores) cores.insert(c.options[0].second + "/" + c.options[1].second);
  }
  EXPECT_EQ(scopes.size(), 3u * 28u);
  for (const char* name : {"scope_0_part1", "scope_0_part2_moe", "scope_27_part2_main"})
    EXPECT_TRUE(scopes.contains(name)) << name;
  EXPECT_EQ(streams, std::set<std::string>{"1"});
  EXPECT_EQ(cores, (std::set<std::string>{"8/16", "16/32"}));
  const plan::GraphKey key{"LongCatFlash.decode", {{"B", 2}, {"T", 2}, {"W", 16}}};
  auto schedule = schedule::make_schedule(compiled->program, key, diags);
  ASSERT_TRUE(schedule.has_value());
  EXPECT_EQ(schedule->streams, (std::vector<std::string>{"main", "1"}));
  size_t prefetches = 0, records = 0, waits = 0;
  for (const plan::Step& s : schedule->steps) {
    prefetches += s.kind == plan::Step::Kind::Prefetch;
    records += s.kind == plan::Step::Kind::Record;
    waits += s.kind == plan::Step::Kind::Wait;
  }
  // A layer: router classifier, two gate_ups, three for the second attention; the next layer's three but at
  // the end.
  EXPECT_EQ(prefetches, 28u * 6u + 27u * 3u);
  // One event into the experts' stream and one out of it, a layer.
  EXPECT_EQ(records, 2u * 28u);
  EXPECT_EQ(waits, 2u * 28u);
}

}  // namespace
}  // namespace skdsl::testing
