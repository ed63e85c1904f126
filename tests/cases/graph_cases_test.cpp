// Field cases of graphs: what breaks a decode, stream budgets, helper constants of the wrong size, gears.
#include <gtest/gtest.h>

#include <fstream>

#include "cli/gear_report.h"
#include "runtime/base/json.h"
#include "tests/support/cli_run.h"

namespace skdsl::testing {
namespace {

class GraphCases : public ::testing::Test {
 protected:
  CommandResult command(std::vector<std::string> args, const std::string& text) {
    std::ofstream(folder_ / "m.sk", std::ios::binary) << text;
    for (std::string& a : args)
      if (a == "%s") a = folder_ / "m.sk";
    return run_command(args);
  }
  /// The line and id of each finding.
  std::vector<std::pair<int64_t, std::string>> findings(const std::string& text) {
    std::vector<std::pair<int64_t, std::string>> out;
    const CommandResult r = command({"run", "%s", "--mode", "ge_graph", "--json"}, text);
    const auto report = parse_json(r.out, "run");
    if (!report || !report->find("diagnostics")) return out;
    for (const Json& d : report->find("diagnostics")->as_array())
      if (d.find("severity")->as_string() == "error")
        out.emplace_back(d.find("start")->find("line")->as_int(), d.find("id")->as_string());
    return out;
  }
  TemporaryFolder folder_;
};

// FC-001: an n-gram embedding with three breaks. Each has a line and a fix of its own; mending one leaves
// two.
std::string ngram(bool read, bool rebound, bool grown) {
  const auto line = [](bool bad, const char* broken, const char* whole) {
    return std::string("    ") + (bad ? broken : whole) + "\n";
  };
  return "layer Ngram() {\n  state last: f32[1, 4]; state seen: f32[1, 4]; state ring: f32[2, 4, 4]\n"
         "  decode(tok: f32[1, 4], slots: i32[1]) -> f32[1, 4] {\n" +
         line(read, "for i in 0..cast(tok[0, 0], i32).item() { tok = tok * 0.5 }",
              "tok = where(tok == 0.0, tok, tok * 0.5)") +
         line(rebound, "last = last + tok", "scatter_update(ring, slots, tok)") +
         line(grown, "seen = concat(seen, tok)", "scatter_update(ring, slots + 4, tok * 2.0)") +
         "    return tok + seen.sum(0, keepdim = true) + last + reshape(ring, [8, 4]).sum(0, keepdim = "
         "true)\n"
         "  }\n}\nm = Ngram()\nfor i in 1..9 { print(m.decode(full([1, 4], if i == 4 then 0.0 else 1.0 * i, "
         "f32), i32([i - i / 4 * 4]))) }\n";
}

TEST_F(GraphCases, ThreeBreaksOfAnNgramEmbedding) {
  using Found = std::vector<std::pair<int64_t, std::string>>;
  EXPECT_EQ(findings(ngram(true, true, true)), (Found{{4, "SK101"}, {5, "SK213"}, {6, "SK801"}}));
  EXPECT_EQ(findings(ngram(false, true, true)), (Found{{5, "SK213"}, {6, "SK801"}}));
  EXPECT_EQ(findings(ngram(true, false, true)), (Found{{4, "SK101"}, {6, "SK801"}}));
  EXPECT_EQ(findings(ngram(true, true, false)), (Found{{4, "SK101"}, {5, "SK213"}}));
  const CommandResult eager = command({"run", "%s", "--mode", "eager"}, ngram(false, false, false));
  ASSERT_EQ(eager.exit, 0) << eager.err;
  EXPECT_EQ(std::count(eager.out.begin(), eager.out.end(), '\n'), 8);
  for (const char* mode : {"npugraph_ex", "ge_graph"})
    EXPECT_EQ(command({"run", "%s", "--mode", mode}, ngram(false, false, false)).out, eager.out) << mode;
}

// FC-004: a chain with many host reads. No graph mode takes it in pieces; every break is named, and eager is
// advised.
TEST_F(GraphCases, ManyHostReadsAreAllNamed) {
  const auto chain = [](bool read) {
    std::string text = "layer L() {\n  decode(x: f32[4]) -> f32[4] {\n";
    for (int i = 0; i < 41; ++i)
      text += read ? "    x = x * 2.0 + x[0].item()\n" : "    x = x * 2.0 + x[0]\n";
    return text + "    return x\n  }\n}\nm = L()\nprint(m.decode(f32([0, 0, 1, 2])))\n";
  };
  EXPECT_EQ(findings(chain(true)).size(), 41u);
  const CommandResult broken = command({"modes", "%s"}, chain(true));
  EXPECT_NE(broken.out.find("recommended: eager"), std::string::npos) << broken.out;
  const CommandResult whole = command({"modes", "%s"}, chain(false));
  EXPECT_NE(whole.out.find("recommended: ge_graph"), std::string::npos) << whole.out;
}

// FC-024: 35 captures over 64 streams. Said before anything runs, with the number that fits.
TEST_F(GraphCases, StreamsOfAllCapturesFitTheDevice) {
  const auto program = [](int gears, int streams) {
    return "layer L() {\n  decode(x: f32[T, 2], step: Step) -> f32[T, 2] {\n    gears [2 * i for i in 1.." +
           std::to_string(gears + 1) + "]\n    for i in 0.." + std::to_string(streams) +
           " {\n      stream \"s{i}\" { x = x * 0.5 }\n    }\n    return x\n  }\n}\nm = "
           "L()\nprint(m.decode(full([2, 2], 1.0, f32), Step(kv_len = [1, 1])))\n";
  };
  const std::vector<std::string> args{"explain", "%s", "--gears"};
  const CommandResult many = command(args, program(35, 63));
  EXPECT_EQ(many.exit, 0);
  for (const char* fact :
       {"SK420", "m.sk:3:5", "35 captures of 64 streams each hold 2240 streams", "1920", "keep 30 gears"})
    EXPECT_NE(many.err.find(fact), std::string::npos) << many.err;
  EXPECT_EQ(command(args, program(30, 63)).err.find("SK420"), std::string::npos);
  EXPECT_NE(command(args, program(16, 127)).err.find("keep 15 gears"), std::string::npos);
  EXPECT_EQ(command(args, program(35, 1)).err.find("SK420"), std::string::npos);
}

// FC-032: a row index made for the whole batch meets the rows of one rank.
TEST_F(GraphCases, AHelperOfTheWrongLengthIsFoundBeforeTheRun) {
  const auto program = [](int rows) {
    return "layer Route() {\n  const row_idx: i32[" + std::to_string(rows) + "] = arange(0, " +
           std::to_string(rows) +
           ")\n  decode(w: f32[16]) -> f32[16] {\n    return w * cast(row_idx, f32)\n  }\n}\nm = "
           "Route()\nprint(m.decode(full([16], 1.0, f32)))\n";
  };
  for (const char* mode : {"eager", "npugraph_ex", "ge_graph"}) {
    const CommandResult wrong = command({"run", "%s", "--mode", mode}, program(128));
    EXPECT_EQ(wrong.exit, 1);
    for (const char* fact : {"m.sk:4:16", "[16]", "[128]"})
      EXPECT_NE(wrong.err.find(fact), std::string::npos) << wrong.err;
    EXPECT_EQ(command({"run", "%s", "--mode", mode}, program(16)).exit, 0);
  }
}

// FC-136: ranks share the rows of a step, so gears are multiples of attn_tp_size; no size becomes larger than
// needed.
TEST(Gears, AreRoundedUpForTensorParallel) {
  using List = std::vector<int64_t>;
  EXPECT_EQ(cli::gear_report({4, 6, 8}, 4, {}).gears, (List{4, 8}));
  EXPECT_EQ(cli::gear_report({4}, 3, {}).gears, List{6});
  EXPECT_EQ(cli::gear_report({4}, 4, {}).gears, List{4});
  EXPECT_EQ(cli::gear_report({8, 2, 8}, 1, {}).gears, (List{2, 8}));
}

// FC-140: gears far apart. The waste is shown for each batch, and better gears of the same number are found.
TEST_F(GraphCases, GearsFarApartWasteRows) {
  const std::string text = R"(layer L() {
  decode(x: f32[T, 2], step: Step) -> f32[T, 2] {
    gears [1, 88, 192, 304, 408, 512]
    return x
  }
}
m = L()
print(m.decode(full([2, 2], 1.0, f32), Step(kv_len = [1, 1])))
)";
  const CommandResult table = command({"explain", "%s", "--gears", "--batches", "2,2,3,4,8,16,512"}, text);
  EXPECT_EQ(table.exit, 0) << table.err;
  EXPECT_NE(table.out.find("2       2      88  86 of 88"), std::string::npos) << table.out;
  EXPECT_NE(table.out.find("help: gears [2, 3, 4, 8, 16, 512] pad 0 of"), std::string::npos) << table.out;
  const CommandResult ranks = command({"explain", "%s", "--gears", "--set", "parallel_config.world_size=3",
                                       "--set", "parallel_config.attn_tp_size=3", "--json"},
                                      text);
  const auto json = parse_json(ranks.out, "gears");
  ASSERT_TRUE(json) << ranks.err;
  EXPECT_EQ(to_json(*json->find("functions")->as_array()[0].find("gears")), "[3,90,192,306,408,513]");
}

// The best gears against every choice, on small sizes; and never worse than what was written.
TEST(Gears, TheSuggestionIsTheBest) {
  uint64_t state = 20261130;
  const auto next = [&](uint64_t n) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<int64_t>((state >> 33) % n);
  };
  for (int round = 0; round < 300; ++round) {
    const int64_t multiple = 1 + next(3);
    std::vector<int64_t> gears, batches;
    for (int64_t i = 1 + next(3); i > 0; --i) gears.push_back(1 + next(12));
    for (int64_t i = 1 + next(8); i > 0; --i) batches.push_back(1 + next(14));
    const cli::GearReport r = cli::gear_report(gears, multiple, batches);
    const int64_t largest = r.gears.back();
    const auto rows = [&](const std::vector<int64_t>& g) {
      int64_t sum = 0;
      for (const int64_t b : batches)
        if (const auto it = std::lower_bound(g.begin(), g.end(), b); b <= largest && it != g.end())
          sum += *it;
      return sum;
    };
    int64_t best = rows(r.gears);
    for (uint32_t pick = 0; pick < (1u << largest); ++pick) {
      std::vector<int64_t> g;
      for (int64_t n = 1; n < largest; ++n)
        if ((pick >> n & 1u) != 0 && n % multiple == 0) g.push_back(n);
      g.push_back(largest);
      if (g.size() <= r.gears.size()) best = std::min(best, rows(g));
    }
    EXPECT_EQ(rows(r.better.empty() ? r.gears : r.better), best) << "round " << round;
  }
}

}  // namespace
}  // namespace skdsl::testing
