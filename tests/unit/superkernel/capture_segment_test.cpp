// Which captured tasks become one super kernel.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "compiler/superkernel/capture.h"
#include "compiler/superkernel/capture_scope.h"
#include "tests/unit/superkernel/facts.h"

namespace skdsl::superkernel {
namespace {

using facts::cases;
using facts::fact;
using plan::KernelType;
using Kind = CaptureTask::Kind;
using Lists = std::vector<std::vector<int64_t>>;

CaptureTask task(Kind kind, uint32_t stream = 0, uint32_t event = 0) {
  CaptureTask t;
  t.kind = kind;
  t.stream = stream;
  t.event = event;
  t.kernel.id = "f";
  return t;
}
CaptureTask kernel(uint32_t stream = 0, KernelType type = KernelType::Aiv, uint32_t dim = 1,
                   bool sync_all = false) {
  CaptureTask t = task(Kind::Kernel, stream);
  t.kernel.type = type;
  t.kernel.block_dim = dim;
  t.kernel.sync_all = sync_all;
  return t;
}
CaptureTask unfused(uint32_t stream = 0) {
  CaptureTask t = kernel(stream);
  t.unfusable = CaptureReason::UnsupportedOp;
  return t;
}
CaptureTask notify(uint32_t stream, uint32_t event) { return task(Kind::Notify, stream, event); }
CaptureTask wait(uint32_t stream, uint32_t event) { return task(Kind::Wait, stream, event); }

CaptureNodes prepare(const std::vector<CaptureTask>& tasks, const CaptureOptions& options = {}) {
  auto nodes = capture_nodes(tasks, options, {});
  EXPECT_TRUE(nodes.has_value());
  return *nodes;
}
CaptureSegments segments(const std::vector<CaptureTask>& tasks, const CaptureOptions& options = {}) {
  return segment_capture(prepare(tasks, options).nodes, options, {});
}
Lists groups(const CaptureSegments& s) {
  Lists out;
  for (const CaptureGroup& g : s.groups) out.emplace_back(g.nodes.begin(), g.nodes.end());
  return out;
}

/// "K1", "U2", "B(A)3", "BN4", "K5[A]": one stream of the facts.
void read_stream(const Json& list, uint32_t stream, std::vector<CaptureTask>& tasks,
                 std::vector<int64_t>& ids, std::vector<std::optional<std::string>>& flags) {
  for (const Json& item : list.as_array()) {
    std::string s = item.as_string();
    std::optional<std::string> flag;
    if (const size_t at = s.find('['); at != std::string::npos) {
      flag = s.substr(at + 1, s.size() - at - 2);
      s.resize(at);
    }
    CaptureTask t = kernel(stream);
    size_t digits = 1;
    if (s[0] == 'U') t.unfusable = CaptureReason::UnsupportedOp;
    if (s[0] == 'B' || s[0] == 'E') {
      t.kind = s[0] == 'B' ? Kind::Begin : Kind::End;
      digits = 2;
      if (s[1] == '(') {
        digits = s.find(')') + 1;
        t.scope = s.substr(2, digits - 3);
      }
    }
    tasks.push_back(t);
    ids.push_back(std::stoll(s.substr(digits)));
    flags.push_back(flag);
  }
}

TEST(CaptureSegment, Facts) {
  for (const Json& c : cases("aot_segmentation")) {
    SCOPED_TRACE(to_json(c));
    std::vector<CaptureTask> tasks;
    std::vector<int64_t> ids;
    std::vector<std::optional<std::string>> flags;
    uint32_t stream = 0;
    for (const Json& s : c.find("streams")->as_array()) read_stream(s, stream++, tasks, ids, flags);
    CaptureNodes prepared = prepare(tasks);
    for (size_t i = 0; i < tasks.size(); ++i)
      if (flags[i]) prepared.nodes[i].scopes = {static_cast<uint32_t>((*flags[i])[0] - 'A')};
    const CaptureSegments s = segment_capture(prepared.nodes, {}, {});
    const auto at = [&](const std::string& id) {
      return static_cast<size_t>(std::find(ids.begin(), ids.end(), std::stoll(id)) - ids.begin());
    };
    if (const Json* want = c.find("groups")) {
      Json got(Json::Array{});
      for (const CaptureGroup& g : s.groups) {
        std::vector<int64_t> members;
        for (const uint32_t n : g.nodes) members.push_back(ids[n]);
        std::sort(members.begin(), members.end());
        Json list(Json::Array{});
        for (const int64_t m : members) list.push(m);
        got.push(std::move(list));
      }
      EXPECT_EQ(got, *want);
    }
    if (const Json* count = c.find("groups_count"))
      EXPECT_EQ(s.groups.size(), static_cast<size_t>(count->as_int()));
    if (const Json* list = c.find("unfusible"))
      for (const Json& id : list->as_array()) EXPECT_TRUE(s.unfused[at(to_json(id))].has_value());
    if (const Json* list = c.find("fusible"))
      for (const auto& [id, want] : list->as_object())
        EXPECT_EQ(!s.unfused[at(id)].has_value(), want.as_bool()) << id;
    if (const Json* list = c.find("flags"))
      for (const auto& [id, want] : list->as_object()) {
        Json got(Json::Array{});
        for (const uint32_t n : prepared.nodes[at(id)].scopes) got.push(prepared.scope_names[n]);
        EXPECT_EQ(got, want) << id;
      }
  }
}

TEST(CaptureSegment, SyncAllFacts) {
  for (const Json& c : cases("aot_sync_all_split")) {
    std::vector<SyncAllKernel> kernels;
    for (const Json& k : c.find("kernels")->as_array()) {
      const auto n = [&](size_t i) { return static_cast<uint32_t>(k.as_array()[i].as_int()); };
      kernels.push_back({{n(0), n(1)}, n(2) == 1});
    }
    Json sizes(Json::Array{});
    for (const SyncAllPart& p : sync_all_split(kernels)) sizes.push(p.kernels);
    EXPECT_EQ(sizes, *c.find("groups")) << to_json(c);
  }
  EXPECT_TRUE(sync_all_split({{{8, 16}, true}, {{4, 8}, true}})[1].by_drop);
  EXPECT_FALSE(sync_all_split({{{4, 8}, true}, {{8, 16}, false}})[1].by_drop);
}

TEST(CaptureSegment, SyncAllMeetsOnlyCoresThatItCounts) {
  // Three vector cores beside one cube core start two groups, so the fourth vector core would be waited for.
  const auto s = segments({kernel(0, KernelType::Aiv, 3, true), kernel(0, KernelType::Aic, 1)});
  EXPECT_EQ(groups(s), (Lists{{0}, {1}}));
  EXPECT_EQ(s.groups[0].why, CaptureBreak::SyncAllRise);
  EXPECT_EQ(s.notes.size(), 1u);
  EXPECT_EQ(groups(segments({kernel(0, KernelType::Aiv, 4, true), kernel(0, KernelType::Aic, 1)})),
            (Lists{{0, 1}}));
  const auto drop =
      segments({kernel(0, KernelType::MixAic12, 8), kernel(0, KernelType::MixAic12, 4, true), kernel()});
  EXPECT_EQ(groups(drop), (Lists{{0}, {1, 2}}));
  EXPECT_EQ(drop.groups[0].why, CaptureBreak::SyncAllDrop);
  EXPECT_EQ(drop.groups[0].trigger, 1);
  CaptureTask free = kernel(0, KernelType::MixAic12, 4, true);
  free.capabilities = kSkipsBatchCheck;
  EXPECT_EQ(groups(segments({kernel(0, KernelType::MixAic12, 8), free})), (Lists{{0, 1}}));
}

TEST(CaptureSegment, AWaitHoldsItsStreamUntilItsNotifyWasTaken) {
  // Stream 1 waits for stream 0 in the middle of the group.
  const auto s = segments({kernel(0), kernel(1), notify(0, 7), wait(1, 7), kernel(1), kernel(0)});
  EXPECT_EQ(groups(s), (Lists{{0, 2, 1, 3, 4, 5}}));
  // The notify is behind a task that does not fuse, so what waits for it comes later.
  const auto late = segments({kernel(0), unfused(0), notify(0, 7), wait(1, 7), kernel(1), kernel(0)});
  EXPECT_EQ(groups(late), (Lists{{0}, {2, 3, 4, 5}}));
  EXPECT_EQ(late.order, (std::vector<int64_t>{-1, 1, -2}));
  EXPECT_EQ(late.groups[0].why, CaptureBreak::UnfusibleNode);
  EXPECT_EQ(late.groups[0].trigger, 1);
}

TEST(CaptureSegment, StreamsWithEventsOnlyGo) {
  // Stream 1 only passes the event on.
  const auto s = segments({kernel(0), notify(0, 1), wait(1, 1), notify(1, 2), wait(0, 2), kernel(0)});
  // The wait would stand first in its launch, so it is left in front of it.
  EXPECT_EQ(groups(s), (Lists{{0, 1}, {5}}));
  EXPECT_EQ(s.unfused[4], CaptureReason::Deadlock);
  EXPECT_TRUE(s.split_at.empty());
  EXPECT_EQ(s.unfused[2], CaptureReason::IsolatedEvent);
  EXPECT_EQ(s.unfused[3], CaptureReason::IsolatedEvent);
  EXPECT_EQ(s.resplits, 1u);
  EXPECT_EQ(s.order, (std::vector<int64_t>{-1, 2, 3, 4, -2}));
}

TEST(CaptureSegment, ResplitsEnd) {
  // Each pass over the streams frees one more stream that has nothing but events.
  std::vector<CaptureTask> tasks{kernel(0)};
  for (uint32_t i = 0; i < 40; ++i) {
    tasks.push_back(notify(i, i));
    tasks.push_back(wait(i + 1, i));
    if (i % 3 == 0) tasks.push_back(unfused(i + 1));
  }
  tasks.push_back(kernel(40));
  tasks.push_back(notify(40, 99));
  tasks.push_back(wait(0, 99));
  tasks.push_back(kernel(0));
  const auto s = segments(tasks);
  EXPECT_LE(s.resplits, kMaxResplits);
  size_t seen = 0;
  for (const int64_t u : s.order) seen += u >= 0 ? 1 : s.groups[static_cast<size_t>(-1 - u)].nodes.size();
  EXPECT_EQ(seen, tasks.size());
}

TEST(CaptureSegment, ALaunchLeavesCoresToWhatItWaitsFor) {
  // Stream 1 computes outside; the launch on stream 0 waits for it with 24 cube cores in hand.
  const auto around = [](uint32_t dim) {
    CaptureTask outside = kernel(1, KernelType::Aic, dim);
    outside.unfusable = CaptureReason::UnsupportedOp;
    return std::vector<CaptureTask>{outside, notify(1, 5), kernel(0, KernelType::Aic, 16), wait(0, 5),
                                    kernel(0, KernelType::Aic, 16)};
  };
  // The notify does not fuse alone: stream 1 has nothing but events.
  const auto fits = segments(around(8));
  EXPECT_EQ(groups(fits), (Lists{{2, 3, 4}}));
  const auto full = segments(around(9));
  EXPECT_EQ(groups(full), (Lists{{2}, {4}}));
  EXPECT_EQ(full.unfused[3], CaptureReason::Deadlock);
  EXPECT_EQ(full.groups[0].why, CaptureBreak::Deadlock);
  EXPECT_EQ(full.groups[0].trigger, 3);
  // A wait in front of everything is left outside in any case.
  auto first = around(1);
  first.erase(first.begin() + 2);
  EXPECT_EQ(groups(segments(first)), (Lists{{3}}));
}

TEST(CaptureSegment, EventsWithoutTheirOtherHalf) {
  const auto s = segments({kernel(), notify(0, 1), kernel(), wait(0, 2), kernel()});
  EXPECT_EQ(groups(s), (Lists{{0}, {2}, {4}}));
  EXPECT_EQ(s.unfused[1], CaptureReason::ExternalDependency);
  EXPECT_EQ(s.unfused[3], CaptureReason::ExternalDependency);
  const auto twice =
      segments({kernel(), notify(0, 1), wait(1, 1), kernel(1), notify(0, 1), wait(1, 1), kernel(1)});
  for (const size_t n : {1u, 2u, 4u, 5u}) EXPECT_EQ(twice.unfused[n], CaptureReason::UnsupportedEvent) << n;
  // A reset at the end stands behind the launch.
  const auto reset = segments({kernel(), notify(0, 1), wait(1, 1), kernel(1), task(Kind::Reset, 1, 1)});
  EXPECT_EQ(reset.unfused[4], CaptureReason::ResetNode);
  EXPECT_EQ(reset.order.back(), 4);
}

TEST(CaptureSegment, MemoryWords) {
  const auto word = [](Kind kind, uint32_t stream, uint64_t value, MemoryFlag flag = MemoryFlag::Eq) {
    CaptureTask t = task(kind, stream, 100);
    t.value = value;
    t.flag = flag;
    return t;
  };
  const auto with = [](uint32_t bits) {
    CaptureOptions o;
    o.set(CaptureStrategy::ValueBreaker, bits);
    return o;
  };
  const std::vector<CaptureTask> paired{kernel(0), word(Kind::MemoryWrite, 0, 3), kernel(1),
                                        word(Kind::MemoryWait, 1, 3), kernel(1)};
  EXPECT_EQ(segments(paired).unfused[3], CaptureReason::UnsupportedEvent);
  EXPECT_EQ(groups(segments(paired, with(kPairedWaits))), (Lists{{0, 1, 2, 3, 4}}));
  std::vector<CaptureTask> other = paired;
  other[1].value = 4;  // no notify of that wait, so it resets the word
  EXPECT_EQ(segments(other, with(kPairedWaits)).unfused[3], CaptureReason::MemoryOnly);
  EXPECT_EQ(segments(other, with(kPairedWaits)).unfused[1], CaptureReason::ResetNode);
  EXPECT_EQ(segments(other, with(kUnpairedWaits)).unfused[3], std::nullopt);
  EXPECT_TRUE(satisfies(MemoryFlag::Geq, 1, UINT64_MAX));  // wrapped
  EXPECT_FALSE(satisfies(MemoryFlag::Geq, 1, 2));
  EXPECT_TRUE(satisfies(MemoryFlag::And, 6, 2));
  EXPECT_FALSE(satisfies(MemoryFlag::Nor, UINT64_MAX, 0));
  // Two writes would satisfy the wait.
  const auto two = segments({kernel(0), word(Kind::MemoryWrite, 0, 3), word(Kind::MemoryWrite, 0, 3),
                             word(Kind::MemoryWait, 1, 3), kernel(1)},
                            with(3));
  EXPECT_EQ(two.unfused[3], CaptureReason::UnsupportedEvent);
}

TEST(CaptureSegment, TaskBreakerBypass) {
  CaptureOptions bypass;
  bypass.set(CaptureStrategy::TaskBreaker, 1);
  // The host task is on a stream of its own beside the kernels.
  const std::vector<CaptureTask> beside{kernel(0), task(Kind::Default, 1), kernel(0)};
  EXPECT_EQ(groups(segments(beside, bypass)), (Lists{{0, 2}}));
  // On the kernels' stream it cuts after all.
  const auto cut = segments({kernel(0), task(Kind::Default, 0), kernel(0)}, bypass);
  EXPECT_EQ(groups(cut), (Lists{{0}, {2}}));
  EXPECT_EQ(cut.unfused[1], CaptureReason::DefaultNode);
  // What the launch needs from it comes first: the launch is not possible as a whole.
  const auto trip = segments(
      {kernel(0), notify(0, 1), wait(1, 1), task(Kind::Default, 1), notify(1, 2), wait(0, 2), kernel(0)},
      bypass);
  EXPECT_EQ(groups(trip), (Lists{{0, 1}, {6}}));
  EXPECT_EQ(trip.unfused[5], CaptureReason::Deadlock);
}

TEST(CaptureSegment, PerOpMaxCores) {
  CaptureOptions options;
  options.set(CaptureOption::DebugPerOpMaxCoreNum, 1);
  const auto s = segments({kernel(0), unfused(0), kernel(1)}, options);
  EXPECT_EQ(groups(s), (Lists{{0}, {2}}));
  EXPECT_EQ(s.groups[0].why, CaptureBreak::PerOp);
  EXPECT_EQ(s.order, (std::vector<int64_t>{-1, 1, -2}));
}

TEST(CaptureSegment, ReasonsOfKernels) {
  CaptureTask dynamic = kernel(), large = kernel(0, KernelType::MixAic12, 25), simt = kernel();
  dynamic.kernel.dynamic = true;
  simt.simt = true;
  const std::vector<CaptureTask> tasks{dynamic, large, simt, task(Kind::Default)};
  const auto on = [&](bool dav_3510) { return capture_nodes(tasks, {}, {.dav_3510 = dav_3510})->nodes; };
  EXPECT_EQ(on(false)[0].unfused, CaptureReason::DynamicTask);
  EXPECT_EQ(on(false)[1].unfused, CaptureReason::TooManyCores);
  EXPECT_EQ(on(false)[2].unfused, std::nullopt);
  EXPECT_EQ(on(true)[2].unfused, CaptureReason::SimtOp);
  EXPECT_EQ(on(false)[3].unfused, CaptureReason::DefaultNode);
  for (size_t i = 0; i < static_cast<size_t>(CaptureReason::kCount); ++i) {
    const plan::FusionReasonRow& r = plan::row(static_cast<CaptureReason>(i));
    EXPECT_FALSE(r.word.empty() || r.reason.empty() || r.remedy.empty());
  }
}

TEST(CaptureSegment, CandidateHeap) {
  std::vector<CaptureNode> nodes(8);
  const auto set = [&](uint32_t n, KernelType type, uint32_t stream) {
    nodes[n].type = type, nodes[n].stream = stream;
  };
  set(0, KernelType::Aiv, 0), set(1, KernelType::MixAic12, 1), set(2, KernelType::Aic, 2),
      set(3, KernelType::MixAic11, 3);
  set(4, KernelType::Aiv, 1);
  nodes[6].kind = Kind::Notify, nodes[7].kind = Kind::Default;
  const auto order = [&](bool parallel, std::vector<uint32_t> list) {
    CandidateHeap heap(nodes, parallel);
    for (const uint32_t n : list) heap.push(n);
    std::vector<uint32_t> out;
    while (!heap.empty()) out.push_back(heap.pop());
    return out;
  };
  EXPECT_EQ(order(false, {3, 2, 1, 0, 6, 7}), (std::vector<uint32_t>{7, 6, 0, 1, 2, 3}));
  // Mix first, another mix, then whatever another stream has; after vector a cube kernel.
  EXPECT_EQ(order(true, {3, 2, 1, 0, 6, 7}), (std::vector<uint32_t>{7, 6, 1, 3, 0, 2}));
  EXPECT_EQ(order(true, {0, 2, 4}), (std::vector<uint32_t>{0, 2, 4}));
}

TEST(CaptureScopes, Attributes) {
  for (const Json& c : cases("scope_attribute_rules")) {
    SCOPED_TRACE(to_json(c));
    std::vector<ScopeFrame> frames;
    for (const Json& f : c.find("stack")->as_array()) {
      ScopeFrame frame;
      if (const Json* sk = f.find("sk")) {
        frame.superkernel = true;
        if (sk->is_string()) frame.scope = sk->as_string();
        if (const Json* options = f.find("options")) frame.options = options->as_string();
      }
      if (const Json* stream = f.find("stream")) frame.stream = stream->as_string();
      frames.push_back(frame);
    }
    const ScopeAttributes got = scope_attributes(frames);
    EXPECT_EQ(got.scope.empty() ? Json() : Json(got.scope), *c.find("op_scope"));
    if (const Json* options = c.find("op_options")) EXPECT_EQ(got.options, options->as_string());
    if (const Json* stream = c.find("op_stream")) EXPECT_EQ(got.stream, stream->as_string());
  }
}

TEST(CaptureScopes, GraphCheck) {
  const std::map<std::string, ScopeTrouble> troubles{
      {"end_without_open_begin", ScopeTrouble::EndWithoutOpenBegin},
      {"no_matching_begin", ScopeTrouble::NoMatchingBegin},
      {"begin_without_end", ScopeTrouble::BeginWithoutEnd}};
  for (const Json& c : cases("npugraph_ex_scope_matching")) {
    SCOPED_TRACE(to_json(c));
    std::vector<ScopeCall> calls;
    for (const Json& s : c.find("seq")->as_array()) {
      const std::string& text = s.as_string();
      const size_t blank = text.find(' ');
      ScopeCall call{text.starts_with("begin"), {}};
      if (blank != std::string::npos) call.name = text.substr(blank + 1);
      calls.push_back(call);
    }
    const ScopePairs got = check_scopes(calls);
    const Json* error = c.find("error");
    ASSERT_EQ(got.trouble.has_value(), error != nullptr);
    if (error)
      EXPECT_EQ(*got.trouble, troubles.at(error->as_string()));
    else
      EXPECT_EQ(got.pairs.size() * 2, calls.size());
  }
  // The oldest begin of that name.
  const ScopePairs nested = check_scopes({{true, "a"}, {true, "a"}, {false, "a"}, {false, "a"}});
  EXPECT_EQ(nested.pairs, (std::vector<std::pair<uint32_t, uint32_t>>{{0, 2}, {1, 3}}));
}

TEST(CaptureScopes, Limits) {
  const auto mark = [](Kind kind, std::optional<std::string> name) {
    CaptureTask t = task(kind);
    t.scope = std::move(name);
    return t;
  };
  EXPECT_FALSE(read_scopes({mark(Kind::Begin, "")}));
  EXPECT_FALSE(read_scopes({mark(Kind::Begin, std::string(256, 'a'))}));
  EXPECT_TRUE(
      read_scopes({mark(Kind::Begin, std::string(255, 'a')), mark(Kind::End, std::string(255, 'a'))}));
  std::vector<CaptureTask> many;
  for (size_t i = 0; i <= kMaxScopeNames; ++i) {
    many.push_back(mark(Kind::Begin, "s" + std::to_string(i)));
    many.push_back(kernel());
    many.push_back(mark(Kind::End, "s" + std::to_string(i)));
  }
  const auto scopes = read_scopes(many);
  ASSERT_TRUE(scopes);
  EXPECT_EQ(scopes->names.size(), kMaxScopeNames);
  EXPECT_EQ(scopes->unfused[many.size() - 2], CaptureReason::TooManyScopes);
  EXPECT_EQ(scopes->unfused[many.size() - 5], std::nullopt);
  EXPECT_EQ(scopes->warnings.size(), 1u);
  // Interleaved scopes, a stray end, an unclosed begin.
  const auto mixed = read_scopes({mark(Kind::Begin, "a"), mark(Kind::Begin, "b"), mark(Kind::End, "a"),
                                  kernel(), mark(Kind::End, "a"), mark(Kind::End, {})});
  EXPECT_EQ(mixed->open[3], (std::vector<uint32_t>{1}));
  EXPECT_EQ(mixed->warnings.size(), 3u);
  // A scope is one stream's.
  CaptureTask other = kernel(1);
  EXPECT_EQ(read_scopes({mark(Kind::Begin, "a"), other})->unfused[1], CaptureReason::NotInScope);
}

TEST(CaptureNames, Facts) {
  const std::string format = fact("aot_fused_name").find("format")->as_string(),
                    none = fact("aot_fused_name").find("no_kernel")->as_string();
  const auto fill = [](std::string text, std::string_view key, std::string_view value) {
    const size_t at = text.find(key);
    return text.replace(at, key.size(), value);
  };
  std::string want = fill(fill(fill(fill(format, "<scopeId>", "3"), "<scopeName>", "decode"),
                               "<firstKernelFunction>", "rms_norm"),
                          "<lastKernelFunction>", "add");
  EXPECT_EQ(capture_name(3, "decode", "rms_norm", "add"), want);
  EXPECT_EQ(capture_name(3, "decode", "", ""), fill(fill(none, "<scopeId>", "3"), "<scopeName>", "decode"));
}

}  // namespace
}  // namespace skdsl::superkernel
