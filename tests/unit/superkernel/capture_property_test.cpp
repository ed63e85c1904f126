// Random captures: every task runs once and in order, no launch depends on what depends on it, and each super
// kernel ends, balances its flags, calls every kernel and enforces whatever its streams and events ask for.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "compiler/superkernel/capture.h"
#include "compiler/superkernel/case.h"
#include "tests/support/random_program.h"

namespace skdsl::superkernel {
namespace {

using plan::KernelType;
using testing::Random;
using Kind = CaptureTask::Kind;

CaptureOptions random_options(Random& random) {
  CaptureOptions out;
  for (size_t i = 0; i < static_cast<size_t>(CaptureOption::kCount); ++i) {
    const auto o = static_cast<CaptureOption>(i);
    const CaptureOptionRow& r = row(o);
    if (!random.chance(o == CaptureOption::EarlyStart             ? 50
                       : o == CaptureOption::DebugPerOpMaxCoreNum ? 4
                                                                  : 15))
      continue;
    if (r.kind == CaptureOptionKind::Number)
      out.set(o, static_cast<uint32_t>(r.low + random.below(r.high - r.low + 1)));
    if (r.kind == CaptureOptionKind::Patterns)
      out.set(o, std::vector<std::string>{random.chance(50) ? ".*" : "f[0-9]", "f1*"});
  }
  if (random.chance(20)) out.set(CaptureStrategy::TaskBreaker, 1);
  if (random.chance(40)) out.set(CaptureStrategy::ValueBreaker, static_cast<uint32_t>(random.below(4)));
  return out;
}

std::vector<CaptureTask> random_tasks(Random& random) {
  const size_t streams = 1 + random.below(4), count = 1 + random.below(40), names = random.below(4);
  const bool clean = random.chance(50);
  std::vector<CaptureTask> out;
  std::vector<std::pair<uint32_t, uint32_t>> told;  // event, stream
  uint32_t events = 0;
  for (size_t i = 0; i < count; ++i) {
    CaptureTask t;
    t.stream = static_cast<uint32_t>(random.below(streams));
    const size_t what = random.below(100);
    if (what < 55) {
      t.kernel.id = "f" + std::to_string(random.below(12));
      t.kernel.type = static_cast<KernelType>(random.below(6));
      t.kernel.block_dim = static_cast<uint32_t>(1 + random.below(random.chance(60)                ? 4
                                                                  : plan::is_vector(t.kernel.type) ? 48
                                                                                                   : 24));
      t.kernel.params = static_cast<uint32_t>(random.below(5));
      t.kernel.code_bytes = static_cast<uint32_t>(random.below(40000));
      t.kernel.sync_all = random.chance(15);
      t.capabilities = static_cast<uint8_t>(random.below(16));
      if (!clean && random.chance(10)) t.unfusable = CaptureReason::UnsupportedOp;
      if (!clean && random.chance(3)) t.kernel.block_dim = 60;
      if (!clean && random.chance(3)) t.kernel.dynamic = true;
    } else if (what < 70) {
      t.kind = Kind::Notify;
      t.event =
          !clean && random.chance(5) && events > 0 ? static_cast<uint32_t>(random.below(events)) : events++;
      told.emplace_back(t.event, t.stream);
    } else if (what < 88 && !told.empty()) {
      const auto& [event, from] = told[told.size() - 1 - random.below(std::min<size_t>(told.size(), 4))];
      t.kind = Kind::Wait;
      t.event = event;
      if (from == t.stream && streams > 1) t.stream = static_cast<uint32_t>((from + 1) % streams);
    } else if (what < 91) {
      t.kind = Kind::Reset;
      t.event = static_cast<uint32_t>(random.below(events + 1));
    } else if (what < 93 && !clean) {
      t.kind = Kind::Default;
    } else if (what < 96 && !clean) {
      t.kind = random.chance(50) ? Kind::MemoryWrite : Kind::MemoryWait;
      t.event = static_cast<uint32_t>(1000 + random.below(3));
      t.value = random.below(2);
      t.flag = static_cast<MemoryFlag>(random.below(4));
    } else if (names > 0) {
      t.kind = random.chance(50) ? Kind::Begin : Kind::End;
      if (random.chance(80)) t.scope = std::string(1, static_cast<char>('a' + random.below(names)));
    } else {
      t.kernel.id = "g";
    }
    out.push_back(std::move(t));
  }
  return out;
}

/// reach[a][b]: a must be done before b.
std::vector<std::vector<char>> reach(size_t n, const std::vector<std::pair<uint32_t, uint32_t>>& edges) {
  std::vector<std::vector<char>> out(n, std::vector<char>(n, 0));
  for (const auto& [a, b] : edges) out[a][b] = 1;
  for (size_t k = 0; k < n; ++k)
    for (size_t a = 0; a < n; ++a)
      if (out[a][k])
        for (size_t b = 0; b < n; ++b) out[a][b] |= out[k][b];
  return out;
}

TEST(CaptureProperties, RandomCaptures) {
  size_t pieces = 0, fused = 0, several = 0, cuts = 0, deadlocks = 0, early = 0, outside = 0;
  const size_t rounds = testing::repeats(4000, 200000);
  for (uint64_t seed = 1; seed <= rounds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const auto tasks = random_tasks(random);
    const CaptureOptions options = random_options(random);
    CaptureTarget target;
    target.dav_3510 = random.chance(20);
    const auto nodes = capture_nodes(tasks, options, target);
    ASSERT_TRUE(nodes);
    const auto got = capture_superkernels(tasks, options, target);
    ASSERT_TRUE(got) << got.error().message;
    cuts += got->cuts.size();
    for (const CaptureCut& c : got->cuts) {
      deadlocks += c.reason == CaptureReason::Deadlock;
      // Only a SyncAll that all cores would have to meet is ever given up.
      if (c.reason == CaptureReason::PartOfScope)
        ASSERT_TRUE(options.on(CaptureOption::DebugPerOpMaxCoreNum)) << c.node;
    }
    // What must be done before what.
    std::vector<std::pair<uint32_t, uint32_t>> edges;
    std::map<uint32_t, uint32_t> last;
    for (uint32_t i = 0; i < tasks.size(); ++i) {
      if (last.contains(tasks[i].stream)) edges.emplace_back(last[tasks[i].stream], i);
      last[tasks[i].stream] = i;
      if (nodes->nodes[i].notify >= 0) edges.emplace_back(static_cast<uint32_t>(nodes->nodes[i].notify), i);
    }
    std::vector<int> unit(tasks.size(), -1), place(tasks.size(), -1);
    int at = 0, now = 0;
    for (const int64_t u : got->order) {
      const std::vector<uint32_t> single{static_cast<uint32_t>(std::max<int64_t>(u, 0))};
      for (const uint32_t n : u >= 0 ? single : got->pieces[static_cast<size_t>(-1 - u)].nodes) {
        ASSERT_EQ(unit[n], -1) << n << " runs twice";
        unit[n] = at;
        place[n] = now++;
      }
      ++at;
    }
    for (uint32_t i = 0; i < tasks.size(); ++i) ASSERT_GE(unit[i], 0) << i << " never runs";
    for (const auto& [a, b] : edges) ASSERT_LT(place[a], place[b]) << a << " -> " << b;
    const auto before = reach(tasks.size(), edges);
    for (const CapturePiece& p : got->pieces) {
      const plan::SuperKernel& k = p.result.kernel;
      ASSERT_EQ(k.kernels.size(), p.kernels.size());
      ++pieces;
      fused += p.kernels.size();
      several += p.kernels.size() > 1;
      for (const uint32_t m : p.result.early_start) early += m != 0;
      for (const uint32_t n : p.kernels) ASSERT_FALSE(nodes->nodes[n].unfused) << n;
      ASSERT_TRUE(p.result.hangs.empty());
      const plan::SkAnalysis seen = plan::analyse(k);
      std::vector<std::string> ids;
      for (const uint32_t n : p.kernels) ids.push_back("k" + std::to_string(n));
      const std::string what = p.name + " " + options.print() + "\n" + to_json(schedule_json(k, ids), 1);
      ASSERT_TRUE(seen.ends) << what;
      ASSERT_TRUE(seen.flags_balanced) << what;
      ASSERT_TRUE(seen.all_mix_matches) << what;
      ASSERT_TRUE(seen.every_kernel_called) << what;
      ASSERT_TRUE(seen.feed_end_published) << what;
      ASSERT_TRUE(seen.waits_not_emitted.empty()) << what;
      ASSERT_TRUE(seen.unenforced.empty())
          << ids[seen.unenforced[0].before] << " -> " << ids[seen.unenforced[0].after] << "\n"
          << what;
      // The dependencies that were checked are all that there are.
      std::vector<std::pair<uint32_t, uint32_t>> inner;
      for (const plan::SkDependency& d : plan::dependencies(k)) inner.emplace_back(d.before, d.after);
      const auto kept = reach(p.kernels.size(), inner);
      for (size_t a = 0; a < p.kernels.size(); ++a)
        for (size_t b = 0; b < p.kernels.size(); ++b)
          if (before[p.kernels[a]][p.kernels[b]])
            ASSERT_TRUE(kept[a][b]) << ids[a] << " -> " << ids[b] << "\n" << what;
      // A wait for the outside stands in front of every kernel behind it.
      const std::set<uint32_t> inside(p.nodes.begin(), p.nodes.end());
      for (const uint32_t w : p.nodes) {
        const bool wait = tasks[w].kind == Kind::Wait || tasks[w].kind == Kind::MemoryWait;
        const int64_t notify = nodes->nodes[w].notify;
        if (!wait || (notify >= 0 && inside.contains(static_cast<uint32_t>(notify)))) continue;
        ++outside;
        for (size_t b = 0; b < p.kernels.size(); ++b) {
          if (!before[w][p.kernels[b]]) continue;
          bool told = false;
          for (size_t c = 0; c < p.kernels.size(); ++c) {
            const auto& recv = k.kernels[c].recv_events;
            told |=
                (c == b || kept[c][b]) && std::find(recv.begin(), recv.end(), tasks[w].event) != recv.end();
          }
          ASSERT_TRUE(told) << "event " << tasks[w].event << " -> " << ids[b] << "\n" << what;
        }
      }
    }
  }
  std::printf(
      "random captures, seeds 1..%zu: %zu pieces (%zu of several kernels) of %zu kernels, %zu cuts, %zu "
      "split at a wait, "
      "%zu early starts, %zu waits for the outside\n",
      rounds, pieces, several, fused, cuts, deadlocks, early, outside);
  EXPECT_GT(several, rounds / 2);
  EXPECT_GT(early, rounds / 10);
  EXPECT_GT(deadlocks, 0u);
  EXPECT_GT(outside, rounds / 100);
}

}  // namespace
}  // namespace skdsl::superkernel
