// Every pass keeps random programs verifying, says truthfully whether it changed something, and has nothing
// left to do when it runs again.
#include <gtest/gtest.h>

#include "compiler/passes/graph_constraints.h"
#include "compiler/passes/specialise.h"
#include "tests/support/random_program.h"
#include "tests/unit/passes/helpers.h"

namespace skdsl::passes {
namespace {

using testing::Diags;
using testing::random_program;
using testing::repeats;

TEST(RandomPasses, KeepProgramsWellFormed) {
  size_t changes = 0;
  for (uint64_t seed = 1; seed <= repeats(1000, 20000); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    plan::Program p = random_program(seed, {.ops = 10 + seed % 60, .eager_only = seed % 2 == 0});
    Diags diags;
    PassContext context{p, diags.engine};
    for (const Pass& pass : all()) {
      const std::string before = print(p);
      const bool changed = pass.run(context);
      changes += changed;
      const auto wrong = plan::verify(p);
      ASSERT_TRUE(wrong.empty()) << "after " << pass.name << ": " << wrong[0] << "\n"
                                 << before << "\n"
                                 << print(p);
      ASSERT_EQ(changed, print(p) != before) << pass.name << "\n" << before << "\n" << print(p);
      ASSERT_EQ(diags.text(), "");
    }
    for (const plan::Function& f : p.functions)
      for (const plan::Op& op : f.ops) ASSERT_NE(op.code, Opcode::Call) << print(p);
  }
  EXPECT_GT(changes, 1000u);
}

TEST(RandomPasses, ReachARest) {
  for (uint64_t seed = 1; seed <= repeats(200, 5000); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    plan::Program p = random_program(seed);
    Diags diags;
    PassContext context{p, diags.engine};
    int rounds = 0;
    for (bool changed = true; changed; ++rounds) {
      ASSERT_LT(rounds, 30) << print(p);
      changed = false;
      for (const Pass& pass : all())
        if (pass.name != "inline-layers" || rounds == 0) changed |= pass.run(context);
    }
  }
}

TEST(RandomPasses, SpecialisedFunctionsHaveNoSymbols) {
  for (uint64_t seed = 1; seed <= repeats(300, 5000); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    plan::Program p = random_program(seed, {.eager_only = false});
    Diags diags;
    ASSERT_TRUE(run(p, {}, diags.engine)) << diags.text();
    const plan::Program special = specialise(
        p, *p.find("M.decode"), {{"N", 3}, {"T", 1 + static_cast<int64_t>(seed % 5)}}, diags.engine);
    const auto wrong = plan::verify(special);
    ASSERT_TRUE(wrong.empty()) << wrong[0] << "\n" << print(special);
    for (const plan::Value& v : special.functions[0].values)
      for (const plan::Dim& d : v.type.dims) ASSERT_TRUE(d.is_constant()) << print(special);
    for (const plan::Op& op : special.functions[0].ops) ASSERT_NE(op.code, Opcode::If) << print(special);
    EXPECT_TRUE(check_graph(special, special.functions[0], "ge_graph", diags.engine)) << diags.text();
  }
}

}  // namespace
}  // namespace skdsl::passes
