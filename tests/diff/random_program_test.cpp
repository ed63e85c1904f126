// Random programs run before the passes, after each pass, and as static graphs: always the same bits, in results,
// states and printed text.
#include <gtest/gtest.h>

#include "tests/diff/world.h"

namespace skdsl {
namespace {

using plan::Program;
using testing::Outcome;
using testing::random_program;
using testing::repeats;
using testing::World;

TEST(RandomPrograms, PassesKeepTheBits) {
  size_t ran = 0;
  for (uint64_t seed = 1; seed <= repeats(200, 5000); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto rows = static_cast<int64_t>(1 + seed % 4);
    Program p = random_program(seed, {.ops = 10 + seed % 50, .eager_only = seed % 2 == 0});
    const Program original = p;
    const Outcome expected = World(p, seed, rows).interpret(p);
    ran += expected.error.empty();
    source::Sources sources;
    diag::Engine diags(sources);
    passes::PassContext context{p, diags};
    for (const passes::Pass& pass : passes::all()) {
      pass.run(context);
      const Outcome now = World(p, seed, rows).interpret(p);
      // A pass may remove what would have failed; it may not make a run fail or change what it gives.
      if (!expected.error.empty()) continue;
      ASSERT_EQ(now.error, "") << "after " << pass.name << "\n" << print(original);
      ASSERT_TRUE(now == expected) << "after " << pass.name << "\n" << print(original) << "\n" << print(p);
    }
  }
  EXPECT_GT(ran, 150u);
}

TEST(RandomPrograms, GraphsKeepTheBits) {
  size_t ran = 0;
  for (uint64_t seed = 1; seed <= repeats(200, 5000); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto rows = static_cast<int64_t>(1 + seed % 4);
    Program p = random_program(seed, {.ops = 20 + seed % 60, .eager_only = false, .streams = seed % 4});
    const Outcome expected = World(p, seed, rows).interpret(p);
    if (!expected.error.empty()) continue;
    source::Sources sources;
    diag::Engine diags(sources);
    ASSERT_TRUE(passes::run(p, {}, diags));
    const auto schedule = schedule::make_schedule(p, {"M.decode", {{"N", 3}, {"T", rows}}}, diags);
    if (!schedule) continue;  // a stored weight that is moved around; tests/unit/passes looks at the refusals
    const Outcome now = World(p, seed, rows).replay(p, *schedule);
    ASSERT_EQ(now.error, "") << print(*schedule, p);
    for (size_t i = 0; i < now.results.size(); ++i) ASSERT_EQ(now.results[i], expected.results[i]) << "result " << i << "\n" << print(p) << "\n" << print(*schedule, p);
    ASSERT_TRUE(now == expected) << print(p) << "\n" << print(*schedule, p);
    ++ran;
  }
  EXPECT_GT(ran, 100u);
}

}  // namespace
}  // namespace skdsl
