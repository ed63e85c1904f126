// What `explain --compiles` forecasts is what the run counts: 50 generated scenarios.
#include <gtest/gtest.h>

#include <fstream>

#include "runtime/base/json.h"
#include "tests/support/cli_run.h"
#include "tests/support/random_program.h"

namespace skdsl::testing {
namespace {

// A decode that reads its lengths as a tensor, or as a host list (which npugraph_ex alone has).
std::string model(bool host_list, bool gears, int64_t scale) {
  std::string body =
      host_list ? "    y = h * step.kv_len_list[0]\n" : "    y = h * " + std::to_string(scale) + "\n";
  if (gears) body = "    gears [2, 4, 8]\n" + body;
  return R"(import "std/base.sk"
model M {
  embed = Embedding(16, 8) from "embed"
  head = Linear(8, 16, out = f32) from "head"
  prefill(ids: i32[T], step: Step) -> f32[B, 16] {
    return head(index_select(embed(ids), 0, step.actual_seq_lengths_cu_q - 1))
  }
  decode(ids: i32[T], step: Step) -> f32[T, 16] {
    h = embed(ids)
)" + body +
         R"(    return head(y)
  }
}
)";
}

Json graph_of(const CommandResult& r) {
  EXPECT_EQ(r.exit, 0) << r.err;
  auto json = parse_json(r.out, "output");
  if (!json || json->find("graph") == nullptr) return nullptr;
  // Who runs a graph is no forecast: a dry run has no code to make.
  Json out = Json(Json::Object{});
  Json graph = *json->find("graph");
  for (auto& [key, value] : graph.as_object())
    if (key != "executors") out.set(key, std::move(value));
  return out;
}

TEST(Forecast, EqualsTheCountOfTheRun) {
  TemporaryFolder folder;
  size_t recompiling = 0, graphs = 0;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const char* modes[] = {"eager", "ge_graph", "npugraph_ex", "npugraph_ex"};
    const std::string mode = modes[random.below(4)];
    const bool list = mode == "npugraph_ex" && random.chance(50);
    const std::string file = folder / ("m" + std::to_string(seed) + ".sk");
    std::ofstream(file) << model(list, mode == "npugraph_ex" && !list && random.chance(50),
                                 1 + static_cast<int64_t>(random.below(5)));
    std::vector<std::string> args{file,
                                  "--mode",
                                  mode,
                                  "--weights",
                                  "synthetic:" + std::to_string(seed),
                                  "--set",
                                  "dtype=float32",
                                  "--max-seq-len",
                                  "64",
                                  "--block-size",
                                  "4",
                                  "--max-new-tokens",
                                  std::to_string(1 + random.below(14))};
    if (mode == "npugraph_ex" && random.chance(50))
      args.insert(args.end(), {"--set", "npugraph_ex.dynamic=false"});
    if (mode == "npugraph_ex" && random.chance(20))
      args.insert(args.end(), {"--set", "npugraph_ex.recompile_limit=3"});
    for (size_t n = 1 + random.below(4); n > 0; --n) {
      std::string ids = std::to_string(random.below(16));
      for (size_t k = random.below(4); k > 0; --k) ids += "," + std::to_string(random.below(16));
      args.insert(args.end(), {"--prompt-ids", ids});
    }
    std::vector<std::string> run{"run"}, explain{"explain", "--compiles", "--json"};
    run.insert(run.end(), args.begin(), args.end());
    run.insert(run.end(), {"--ignore-eos", "--json"});
    explain.insert(explain.end(), args.begin(), args.end());
    const Json counted = graph_of(run_command(run)), forecast = graph_of(run_command(explain));
    ASSERT_FALSE(counted.is_null());
    EXPECT_EQ(to_json(forecast), to_json(counted)) << mode;
    recompiling += counted.find("recompiles")->as_int() + counted.find("recaptures")->as_int() > 0;
    graphs += counted.find("captures")->as_int() > 0;
  }
  EXPECT_GT(graphs, 20u);
  EXPECT_GT(recompiling, 2u);
}

}  // namespace
}  // namespace skdsl::testing
