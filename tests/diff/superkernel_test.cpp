// Random programs under random scopes: merged, split, renamed, nested, moved to streams, given options. A
// super kernel never changes one bit of what the interpreter gives, on one worker or two or three, in the
// plan executor or as machine code, observed or not.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <thread>

#include "compiler/superkernel/report.h"
#include "jit/host/host.h"
#include "tests/diff/explicit_events.h"
#include "tests/diff/world.h"
#include "tests/support/native_clocks.h"

namespace skdsl {
namespace {

using plan::Context;
using plan::ContextId;
using plan::kNone;
using plan::Program;
using testing::Outcome;
using testing::Random;
using testing::World;

std::vector<std::pair<std::string, std::string>> random_options(Random& random) {
  static constexpr std::pair<const char*, const char*> kOptions[] = {
      {"early-start", "0"},
      {"early-start", "1"},
      {"early-start", "2"},
      {"feed-sync-all", "1"},
      {"debug-sync-all", "1"},
      {"debug-dcci-all", "1"},
      {"profiling", "1"},
      {"preload-code", "none"},
      {"preload-code", "max"},
      {"split-mode", "1"},
      {"split-mode", "7"},
      {"func-align", "0"},
      {"dcci-before-kernel-start", "add,linear"},
      {"strict-scope-check", "bypass"}};
  std::map<std::string, std::string> out;
  if (random.chance(75)) out["stream-fusion"] = "1";
  if (random.chance(60)) out["feed-sync-all"] = "1";
  for (size_t n = random.below(3); n > 0; --n) {
    const auto& [key, value] = kOptions[random.below(std::size(kOptions))];
    out.emplace(key, value);
  }
  return {out.begin(), out.end()};
}

// Steps without which something could go wrong, one after the other taken out: the verifier must see each
// that matters. One that others make up for may go, and then the bits stay.
void damage(const Program& p, const plan::Schedule& good, uint64_t seed, int64_t rows,
            const Outcome& expected, size_t& found, size_t& harmless) {
  Random random(seed);
  for (size_t k = 0; k < good.superkernels.size(); ++k)
    for (const plan::Side side : plan::kSides) {
      const auto& steps = good.superkernels[k].of(side);
      if (steps.empty()) continue;
      plan::Schedule bad = good;
      const size_t at = random.below(steps.size());
      const auto kind = steps[at].kind;
      bad.superkernels[k].of(side).erase(bad.superkernels[k].of(side).begin() + static_cast<long>(at));
      if (!plan::verify(bad, p).empty()) {
        ++found;
        continue;
      }
      ASSERT_NE(kind, plan::SkStep::Kind::Call) << print(bad, p);
      ++harmless;
      ASSERT_TRUE(World(p, seed, rows, 3).replay(p, bad, {.poison = true, .spread = true}) == expected)
          << print(bad, p);
    }
}

// The order for machine code keeps every dependency with any kernels small, phases inside and every switch.
void check_orders(const plan::Schedule& s, Random& random, size_t& checked) {
  for (const plan::SuperKernel& sk : s.superkernels) {
    std::vector<exec::NativeKernel> kernels(sk.kernels.size());
    for (size_t k = 0; k < kernels.size(); ++k) {
      kernels[k].alone = random.chance(40);
      kernels[k].phases = random.chance(15) ? 2 : 1;
      kernels[k].workspace = random.chance(50);
    }
    for (int bits = 0; bits < 8; ++bits) {
      exec::NativeOptions o;
      o.narrow_sync = bits & 1, o.early_start = bits & 2, o.preload = bits & 4;
      for (const uint32_t lanes : {2u, 3u})
        ASSERT_EQ(testing::order_error(exec::native_function(sk, kernels, o, false), sk, lanes), "") << bits;
      ++checked;
    }
  }
}

// Runs of ops get a scope, a stream, a core limit, or none; scopes of one name share their options.
void place_scopes(Program& p, Random& random) {
  p.contexts.clear();
  std::map<std::string, std::vector<std::pair<std::string, std::string>>> options;
  for (const char* name : {"a", "b", "c"}) options[name] = random_options(random);
  const auto scope = [&](ContextId parent) -> ContextId {
    Context c;
    c.parent = parent;
    switch (random.below(9)) {
      case 0:
        c.kind = Context::Kind::NoSuperKernel;
        break;
      case 1:
      case 2:
        c.kind = Context::Kind::Stream, c.name = random.chance(80) ? "s0" : "s1";
        break;
      case 3:
        c.kind = Context::Kind::Cores, c.options = {{"aic", "8"}, {"aiv", "16"}};
        break;
      default:
        c.kind = Context::Kind::SuperKernel;
        c.name = std::string(1, static_cast<char>('a' + random.below(3)));
        c.options = options[c.name];
    }
    p.contexts.push_back(c);
    return static_cast<ContextId>(p.contexts.size() - 1);
  };
  for (plan::Function& f : p.functions)
    for (const plan::Region& r : f.regions) {
      ContextId now = kNone;
      for (const plan::OpId id : r.ops) {
        if (random.chance(12)) now = random.chance(10) ? kNone : scope(random.chance(65) ? now : kNone);
        f.ops[id].context = now;
      }
    }
}

// A fault and an interrupt end a run as they end the plan executor's, and the next run is whole again.
void stop_early(const Program& p, const plan::Schedule& s, uint64_t seed, int64_t rows, jit::Compiler& jit,
                size_t& faults, size_t& interrupts) {
  if (seed % 4 != 0) return;
  const uint32_t workers = seed % 8 == 0 ? 1 : seed % 16 == 4 ? 2 : 3;
  const exec::GraphOptions plain{.poison = true, .spread = workers > 1};
  exec::GraphOptions native = plain;
  native.native = &jit;
  World a(p, seed, rows, workers), b(p, seed, rows, workers);
  a.spoil(), b.spoil();
  const Outcome want = a.replay(p, s, plain), have = b.replay(p, s, native);
  ASSERT_EQ(have.error, want.error) << print(s, p);
  // States are as they were left at the end of the launch with the fault.
  if (want.error.empty())
    ASSERT_TRUE(have == want);
  else
    ASSERT_TRUE(have.state == want.state) << want.error << "\n" << print(s, p);
  faults += !want.error.empty();
  // Launch by launch on one worker.
  exec::GraphOptions watched = plain;
  watched.observe = [](const exec::Observed&) {};
  World w(p, seed, rows, 1);
  w.spoil();
  ASSERT_EQ(w.replay(p, s, watched).error, want.error) << print(s, p);
  for (exec::GraphOptions o : {plain, native}) {
    std::atomic<bool> stop{false};
    o.interrupt = &stop;
    World c(p, seed, rows, workers);
    std::thread other(
        [&] { std::this_thread::sleep_for(std::chrono::microseconds(seed % 50)), stop = true; });
    const Outcome cut = c.replay(p, s, o);
    other.join();
    ASSERT_TRUE(cut.error.empty() || cut.error == "interrupted") << cut.error;
    interrupts += !cut.error.empty();
  }
}

TEST(SuperKernels, NeverChangeABit) {
  size_t ran = 0, fused = 0, pieces = 0, two_stream = 0, refused = 0, found = 0, harmless = 0;
  jit::Compiler jit;
  size_t orders = 0, faults = 0, interrupts = 0;
  const size_t rounds =
      testing::repeats(400, 12000);  // 399: a view in the middle whose bytes a later kernel takes
  for (uint64_t seed = 1; seed <= rounds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed * 7919);
    const auto rows = static_cast<int64_t>(1 + seed % 4);
    Program p = testing::random_program(
        seed, {.ops = 20 + seed % 60, .eager_only = false, .streams = 0, .explicit_events = false});
    place_scopes(p, random);
    const Outcome expected = World(p, seed, rows).interpret(p);
    if (!expected.error.empty()) continue;
    source::Sources sources;
    diag::Engine diags(sources);
    ASSERT_TRUE(passes::run(p, {}, diags));
    const plan::GraphKey key{"M.decode", {{"N", 3}, {"T", rows}}};
    const auto plain = schedule::make_schedule(p, key, diags, {.superkernel = false});
    if (!plain) continue;  // refused without fusion too
    const auto schedule = schedule::make_schedule(p, key, diags);
    if (!schedule) {
      // Too many streams, or two without stream-fusion, or an unfed SyncAll: always said.
      ASSERT_TRUE(diags.has_errors());
      for (const auto& d : diags.all())
        ASSERT_NE(d.id, diag::Id::InternalVerify) << d.message << "\n" << print(p);
      ++refused;
      continue;
    }
    const auto read = plan::parse_plan(print(plan::Plan{p, {*schedule}}));
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_TRUE(plan::equal(read->schedules[0], *schedule));
    for (const uint32_t workers : {1u, seed % 2 == 0 ? 2u : 3u}) {
      const Outcome now =
          World(p, seed, rows, workers).replay(p, *schedule, {.poison = true, .spread = workers > 1});
      ASSERT_EQ(now.error, "") << print(*schedule, p);
      ASSERT_TRUE(now == expected) << workers << " workers\n" << print(*schedule, p);
      exec::GraphExecutor executor;
      const Outcome native =
          World(p, seed, rows, workers)
              .replay(p, *schedule, {.poison = true, .spread = workers > 1, .native = &jit}, &executor);
      ASSERT_EQ(native.error, "") << print(*schedule, p);
      ASSERT_TRUE(executor.native || schedule->tasks.empty()) << executor.why_not;
      ASSERT_TRUE(native == expected) << "machine code, " << workers << " workers\n" << print(*schedule, p);
    }
    check_orders(*schedule, random, orders);
    if (HasFatalFailure()) return;
    damage(p, *schedule, seed, rows, expected, found, harmless);
    if (HasFatalFailure()) return;
    stop_early(p, *schedule, seed, rows, jit, faults, interrupts);
    if (HasFatalFailure()) return;
    size_t seen = 0, kernels = 0;
    exec::GraphOptions watched{.poison = true};
    watched.observe = [&](const exec::Observed& o) { seen += o.code != Opcode::Tap; };
    ASSERT_TRUE(World(p, seed, rows).replay(p, *schedule, watched) == expected);
    for (const plan::Task& t : schedule->tasks) kernels += info(t.code).has_kernel() && !t.view;
    ASSERT_EQ(seen, kernels);
    const auto r = superkernel::report(*schedule);
    fused += r.ops_fused, pieces += r.pieces;
    for (const auto& k : schedule->superkernels) two_stream += k.two_stream;
    ++ran;
  }
  std::printf(
      "machine code: %zu orders checked, %zu runs ended by a fault as the plan executor's, %zu by an "
      "interrupt\n",
      orders, faults, interrupts);
  EXPECT_GT(orders, rounds);
  EXPECT_GT(faults, 0u);
  std::printf(
      "super kernels, seeds 1..%zu: %zu programs ran, %zu pieces (%zu two-stream) with %zu ops, %zu refused; "
      "of the steps taken out %zu were missed and %zu were not needed\n",
      rounds, ran, pieces, two_stream, fused, refused, found, harmless);
  EXPECT_GT(ran, rounds / 5);
  EXPECT_GT(pieces, ran);
  EXPECT_GT(two_stream, ran / 20);
}

superkernel::CaptureOptions random_capture_options(Random& random) {
  using superkernel::CaptureOption;
  static constexpr std::pair<CaptureOption, uint32_t> kOptions[] = {
      {CaptureOption::PreloadCode, 2},         {CaptureOption::PreloadCode, 0},
      {CaptureOption::SplitMode, 1},           {CaptureOption::EarlyStart, 1},
      {CaptureOption::AutoOpParallel, 1},      {CaptureOption::ConstantCodegen, 1},
      {CaptureOption::DebugSyncAll, 1},        {CaptureOption::DebugOpExecTrace, 1},
      {CaptureOption::DebugPerOpMaxCoreNum, 1}};
  superkernel::CaptureOptions out;
  for (size_t n = random.below(4); n > 0; --n) {
    const auto& [key, value] = kOptions[random.below(std::size(kOptions))];
    out.set(key, value);
  }
  if (random.chance(20)) out.set(CaptureOption::DcciBefore, std::vector<std::string>{"add", "lin.*"});
  return out;
}

// The same for npugraph_ex: what was captured is fused by the other engine.
TEST(SuperKernels, CapturedOnesNeverChangeABit) {
  size_t ran = 0, fused = 0, pieces = 0, many_streams = 0;
  const size_t rounds = testing::repeats(400, 12000);
  for (uint64_t seed = 1; seed <= rounds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed * 104729);
    const auto rows = static_cast<int64_t>(1 + seed % 4);
    Program p = testing::random_program(
        seed, {.ops = 20 + seed % 60, .eager_only = false, .streams = 0, .explicit_events = false});
    place_scopes(p, random);
    const Outcome expected = World(p, seed, rows).interpret(p);
    if (!expected.error.empty()) continue;
    source::Sources sources;
    diag::Engine diags(sources);
    if (seed % 2 == 0) ASSERT_TRUE(passes::run(p, {}, diags));
    schedule::ScheduleOptions so;
    so.capture = random_capture_options(random);
    std::optional<plan::Schedule> made;
    const plan::RecordingHook hook = [&](const Program& program,
                                         plan::Recording recording) -> Expected<plan::Schedule> {
      auto events = testing::with_events(program, std::move(recording));
      if (!events) return fail("its own events are wrong");
      made = schedule::schedule_recording(program, std::move(*events), diags, so);
      if (!made) return fail(diags.all().empty() ? "no schedule" : diags.all().back().message);
      return *made;
    };
    exec::CaptureOptions options;
    options.dynamic = seed % 3 != 0;
    options.inplace_pass = seed % 4 != 0;
    for (const uint32_t workers : {1u, seed % 2 == 0 ? 2u : 3u}) {
      exec::CaptureCounters counters;
      const auto calls = World(p, seed, rows, workers).capture(p, hook, options, &counters);
      for (size_t call = 0; call < calls.size(); ++call) {
        ASSERT_EQ(calls[call].error, "") << "call " << call << "\n" << print(p);
        ASSERT_TRUE(calls[call] == expected) << workers << " workers, call " << call << "\n"
                                             << print(*made, p);
      }
      ASSERT_EQ(counters.replays, 2u);
    }
    const auto read = plan::parse_plan(print(plan::Plan{p, {*made}}));
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_TRUE(plan::equal(read->schedules[0], *made));
    const auto r = superkernel::report(*made);
    fused += r.ops_fused, pieces += r.pieces;
    for (const auto& k : made->superkernels) {
      std::set<uint32_t> streams;
      for (const auto& x : k.kernels) streams.insert(x.stream);
      many_streams += streams.size() > 1;
    }
    ++ran;
  }
  std::printf(
      "captured super kernels, seeds 1..%zu: %zu programs ran, %zu pieces (%zu over several streams) with "
      "%zu ops\n",
      rounds, ran, pieces, many_streams, fused);
  EXPECT_GT(ran, rounds / 3);
  EXPECT_GT(pieces, ran);
  EXPECT_GT(many_streams, ran / 20);
}

}  // namespace
}  // namespace skdsl
