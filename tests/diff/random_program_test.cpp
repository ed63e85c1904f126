// Random programs run before the passes, after each pass, and as static graphs: always the same bits, in
// results, states and printed text.
#include <gtest/gtest.h>

#include "tests/diff/explicit_events.h"
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
    for (size_t i = 0; i < now.results.size(); ++i)
      ASSERT_EQ(now.results[i], expected.results[i]) << "result " << i << "\n"
                                                     << print(p) << "\n"
                                                     << print(*schedule, p);
    ASSERT_TRUE(now == expected) << print(p) << "\n" << print(*schedule, p);
    ++ran;
  }
  EXPECT_GT(ran, 100u);
}

TEST(RandomPrograms, CapturesKeepTheBits) {
  size_t ran = 0, races = 0;
  for (uint64_t seed = 1; seed <= repeats(200, 5000); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto rows = static_cast<int64_t>(1 + seed % 4);
    Program p = random_program(seed, {.ops = 20 + seed % 60, .eager_only = false, .streams = seed % 4});
    const Outcome expected = World(p, seed, rows).interpret(p);
    if (!expected.error.empty()) continue;
    source::Sources sources;
    diag::Engine diags(sources);
    // Before and after the passes: the recorder sees what is run, not what it was made of.
    if (seed % 2 == 0) ASSERT_TRUE(passes::run(p, {}, diags));
    const plan::RecordingHook hook = [&](const Program& program,
                                         plan::Recording recording) -> Expected<plan::Schedule> {
      std::vector<size_t> waits;
      auto events = testing::with_events(program, recording, &waits);
      if (!events) return fail("its own events are wrong");
      // One event less is a race, and is named.
      if (!waits.empty()) {
        diag::Engine silent(sources);
        plan::Recording racing = *events;
        racing.items.erase(racing.items.begin() + static_cast<long>(waits[seed % waits.size()]));
        // Now and then the other waits make up for it.
        if (!schedule::schedule_recording(program, std::move(racing), silent)) {
          EXPECT_TRUE(std::any_of(silent.all().begin(), silent.all().end(), [](const auto& d) {
            return d.id == diag::Id::MissingCrossStreamEdge || d.id == diag::Id::CrossStreamInplace;
          })) << print(program);
          ++races;
        }
      }
      auto schedule = schedule::schedule_recording(program, std::move(*events), diags);
      if (!schedule) return fail(diags.all().empty() ? "no schedule" : diags.all().back().message);
      return std::move(*schedule);
    };
    exec::CaptureOptions options;
    options.dynamic = seed % 3 != 0;
    options.clone_input = seed % 5 != 0;
    options.clone_output = seed % 7 == 0;
    options.inplace_pass = seed % 4 != 0;
    options.reuse_graph_pool_in_same_fx = seed % 3 != 1;
    exec::CaptureCounters counters;
    const auto calls = World(p, seed, rows, 1 + seed % 2).capture(p, hook, options, &counters);
    // A wait that stands before its record is refused in every graph mode.
    if (calls[0].error == "its own events are wrong") continue;
    for (size_t call = 0; call < calls.size(); ++call) {
      ASSERT_EQ(calls[call].error, "") << "call " << call << "\n" << print(p);
      ASSERT_TRUE(calls[call] == expected) << "call " << call << "\n" << print(p);
    }
    ASSERT_EQ(counters.captures, 1u);
    ASSERT_EQ(counters.replays, 2u);
    ++ran;
  }
  EXPECT_GT(races, ran / 8);
  EXPECT_GT(ran, 100u);
}

}  // namespace
}  // namespace skdsl
