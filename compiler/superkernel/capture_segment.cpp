#include "compiler/superkernel/capture_segment.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <queue>
#include <set>

#include "compiler/superkernel/capture_superkernel.h"
#include "runtime/base/assert.h"

namespace skdsl::superkernel {

using Kind = CaptureTask::Kind;

namespace {

bool is_wait(const CaptureNode& n) { return n.kind == Kind::Wait || n.kind == Kind::MemoryWait; }
bool is_event(const CaptureNode& n) {
  return is_wait(n) || n.kind == Kind::Notify || n.kind == Kind::Reset || n.kind == Kind::MemoryWrite;
}

class Segmenter {
 public:
  Segmenter(std::vector<CaptureNode> nodes, const CaptureOptions& options, const Platform& cores)
      : nodes_(std::move(nodes)), options_(options), cores_(cores), place_(nodes_.size(), 0) {
    for (uint32_t i = 0; i < nodes_.size(); ++i) streams_[nodes_[i].stream].nodes.push_back(i);
  }

  CaptureSegments run() {
    if (options_.on(CaptureOption::DebugPerOpMaxCoreNum)) {
      for (uint32_t i = 0; i < nodes_.size(); ++i)
        if (nodes_[i].kind == Kind::Kernel && !nodes_[i].unfused)
          out_.groups.push_back({{i}, CaptureBreak::PerOp, -1});
      for (uint32_t i = 0; i < nodes_.size(); ++i) place_[i] = i;
      return finish();
    }
    while (!attempt() && out_.resplits < kMaxResplits) ++out_.resplits;
    // After that many attempts what still stands in the way is taken out of the groups as they are.
    std::erase_if(out_.groups, [&](CaptureGroup& g) {
      std::erase_if(g.nodes, [&](uint32_t n) { return nodes_[n].unfused.has_value(); });
      return g.nodes.empty();
    });
    deadlocks();
    return finish();
  }

 private:
  struct Stream {
    std::vector<uint32_t> nodes;
    size_t at = 0;
    bool stopped = false;
    bool done() const { return at == nodes.size(); }
    uint32_t head() const { return nodes[at]; }
  };

  bool task_bypass() const { return options_.strategy(CaptureStrategy::TaskBreaker) == 1; }
  bool unfused(uint32_t n) const {
    // Under the bypass such tasks are taken along first; default_nodes() sorts them out.
    return nodes_[n].unfused &&
           !(task_bypass() && *nodes_[n].unfused == CaptureReason::DefaultNode && !refused_.contains(n));
  }
  bool held(uint32_t n) const {
    return is_wait(nodes_[n]) && nodes_[n].notify >= 0 && !taken_[static_cast<size_t>(nodes_[n].notify)];
  }

  void take(uint32_t n) {
    place_[n] = next_place_++;
    taken_[n] = true;
  }

  // Passes what does not fuse at the heads of the streams; a wait only when its notify has passed.
  void skip() {
    for (bool moved = true; moved;) {
      moved = false;
      for (auto& [id, s] : streams_)
        while (!s.done() && unfused(s.head()) && !held(s.head())) {
          take(s.head());
          ++s.at;
          moved = true;
        }
    }
  }

  void drain(const std::vector<uint32_t>& scopes) {
    CaptureGroup group;
    CandidateHeap heap(nodes_, options_.on(CaptureOption::AutoOpParallel));
    std::set<uint32_t> offered;
    const auto offer = [&](Stream& s) {
      if (s.done() || s.stopped || held(s.head()) || !offered.insert(s.head()).second) return;
      if (unfused(s.head())) {
        s.stopped = true;
        group.why = CaptureBreak::UnfusibleNode;
        group.trigger = s.head();
      } else if (nodes_[s.head()].scopes != scopes) {
        s.stopped = true;
      } else {
        heap.push(s.head());
      }
    };
    for (auto& [id, s] : streams_) {
      s.stopped = false;
      offer(s);
    }
    while (!heap.empty()) {
      const uint32_t n = heap.pop();
      group.nodes.push_back(n);
      take(n);
      Stream& own = streams_.at(nodes_[n].stream);
      ++own.at;
      offer(own);
      for (const uint32_t w : waits_[n]) offer(streams_.at(nodes_[w].stream));
    }
    out_.groups.push_back(std::move(group));
  }

  // All groups once; false when a task was found not to fuse after all.
  bool attempt() {
    out_.groups.clear();
    taken_.assign(nodes_.size(), false);
    waits_.assign(nodes_.size(), {});
    for (uint32_t i = 0; i < nodes_.size(); ++i)
      if (nodes_[i].notify >= 0) waits_[static_cast<size_t>(nodes_[i].notify)].push_back(i);
    next_place_ = 0;
    for (auto& [id, s] : streams_) s.at = 0;
    for (;;) {
      skip();
      int64_t first = -1;
      for (const auto& [id, s] : streams_)
        if (!s.done() && !unfused(s.head()) && !held(s.head()) && (first < 0 || s.head() < first))
          first = s.head();
      if (first < 0) break;
      drain(nodes_[static_cast<size_t>(first)].scopes);
    }
    for (const auto& [id, s] : streams_)
      SK_ASSERT(s.done(), "a notify stands before its waits, so some head can move");
    sync_all();
    deadlocks();
    if (task_bypass()) {
      if (!default_nodes()) return false;
      deadlocks();
    }
    return isolated_events();
  }

  // Replaces group `g` by its nodes before `at` and those from there on.
  void split(size_t g, size_t at, CaptureBreak why, int64_t trigger) {
    CaptureGroup& group = out_.groups[g];
    CaptureGroup rest{
        {group.nodes.begin() + static_cast<long>(at), group.nodes.end()}, group.why, group.trigger};
    group.nodes.resize(at);
    group.why = why;
    group.trigger = trigger;
    out_.groups.insert(out_.groups.begin() + static_cast<long>(g) + 1, std::move(rest));
  }

  void sync_all() {
    for (size_t g = 0; g < out_.groups.size(); ++g) {
      const auto& group = out_.groups[g].nodes;
      std::vector<SyncAllKernel> kernels;
      std::vector<size_t> at;
      for (size_t i = 0; i < group.size(); ++i)
        if (nodes_[group[i]].kind == Kind::Kernel) {
          kernels.push_back({nodes_[group[i]].cores, nodes_[group[i]].sync_all});
          at.push_back(i);
        }
      const auto parts = sync_all_split(kernels);
      if (parts.empty()) continue;
      const size_t whole = meets_all(group, at, parts[0].kernels);
      if (whole < parts[0].kernels) {
        out_.notes.push_back(fmt::format(
            "task {} begins a new super kernel: together with those before it some SyncAll would wait "
            "for a core that it does not count",
            group[at[whole]]));
        split(g, at[whole], CaptureBreak::SyncAllRise, group[at[whole]]);
      } else if (parts.size() > 1) {
        const size_t here = at[whole];
        split(g, here, parts[1].by_drop ? CaptureBreak::SyncAllDrop : CaptureBreak::SyncAllRise, group[here]);
      }
    }
  }

  // How many of the first `count` kernels can share a launch in which every SyncAll meets exactly the cores
  // it counts. An odd number of vector cores beside cube cores is rounded up to whole groups, which the rule
  // above does not see.
  size_t meets_all(const std::vector<uint32_t>& group, const std::vector<size_t>& at, size_t count) const {
    std::vector<std::pair<plan::KernelType, uint32_t>> shapes;
    for (size_t k = 0; k < count; ++k) {
      shapes.emplace_back(nodes_[group[at[k]]].type, nodes_[group[at[k]]].block_dim);
      const Shape launch = entry_shape(shapes);
      for (size_t j = 0; j <= k; ++j)
        if (k > 0 && nodes_[group[at[j]]].sync_all && !covers_all(launch, shapes[j].first, shapes[j].second))
          return k;
    }
    return count;
  }

  bool waits_outside(const CaptureGroup& group) const {
    const std::set<uint32_t> inside(group.nodes.begin(), group.nodes.end());
    return std::any_of(group.nodes.begin(), group.nodes.end(), [&](uint32_t n) {
      return nodes_[n].notify >= 0 && !inside.contains(static_cast<uint32_t>(nodes_[n].notify));
    });
  }

  void deadlocks() {
    for (size_t g = 0; g < out_.groups.size();) {
      if (!waits_outside(out_.groups[g])) {
        ++g;
        continue;
      }
      const Deadlock found = find_deadlock(nodes_, out_.groups, g, cores_);
      if (found.node < 0) {
        ++g;
        continue;
      }
      // A kernel alone always has its cores, so some wait stood before it.
      SK_ASSERT(found.wait >= 0, "cores are only taken away by what a wait depends on");
      auto& group = out_.groups[g].nodes;
      const size_t at =
          static_cast<size_t>(std::find(group.begin(), group.end(), found.wait) - group.begin());
      group.erase(group.begin() + static_cast<long>(at));
      nodes_[static_cast<size_t>(found.wait)].unfused = CaptureReason::Deadlock;
      if (at > 0 && at < group.size()) out_.split_at.push_back(static_cast<uint32_t>(found.wait));
      if (at < group.size()) split(g, at, CaptureBreak::Deadlock, found.node);
      // What is left of it is looked at again: with fewer streams less is known to be done before.
      if (out_.groups[g].nodes.empty()) out_.groups.erase(out_.groups.begin() + static_cast<long>(g));
    }
  }

  std::map<uint32_t, std::vector<uint32_t>> by_stream(const CaptureGroup& group) const {
    std::map<uint32_t, std::vector<uint32_t>> out;
    for (const uint32_t n : group.nodes) out[nodes_[n].stream].push_back(n);
    return out;
  }

  // Tasks that are no kernels stay outside: where their stream has kernels they cut after all, else their
  // stream goes.
  bool default_nodes() {
    bool again = false;
    for (const CaptureGroup& g : out_.groups)
      for (const auto& [stream, list] : by_stream(g)) {
        const bool kernels =
            std::any_of(list.begin(), list.end(), [&](uint32_t n) { return nodes_[n].kind == Kind::Kernel; });
        for (const uint32_t n : list)
          if (kernels && nodes_[n].kind == Kind::Default) again |= refused_.insert(n).second;
      }
    if (again) return false;
    for (CaptureGroup& g : out_.groups)
      for (const auto& [stream, list] : by_stream(g))
        if (std::any_of(list.begin(), list.end(),
                        [&](uint32_t n) { return nodes_[n].kind == Kind::Default; }))
          std::erase_if(g.nodes, [&](uint32_t n) { return nodes_[n].stream == stream; });
    std::erase_if(out_.groups, [](const CaptureGroup& g) { return g.nodes.empty(); });
    return true;
  }

  bool isolated_events() {
    bool good = true;
    for (const CaptureGroup& g : out_.groups)
      for (const auto& [stream, list] : by_stream(g)) {
        if (!std::all_of(list.begin(), list.end(), [&](uint32_t n) { return is_event(nodes_[n]); })) continue;
        for (const uint32_t n : list) nodes_[n].unfused = CaptureReason::IsolatedEvent;
        good = false;
      }
    return good;
  }

  // A reset behind the last kernel of its stream's part has nothing to stand before.
  void last_resets() {
    for (CaptureGroup& g : out_.groups)
      for (const auto& [stream, list] : by_stream(g)) {
        for (size_t end = list.size(); end > 1 && nodes_[list[end - 1]].kind == Kind::Reset; --end) {
          nodes_[list[end - 1]].unfused = CaptureReason::ResetNode;
          std::erase(g.nodes, list[end - 1]);
        }
      }
  }

  CaptureSegments finish() {
    last_resets();
    order();
    std::vector<bool> grouped(nodes_.size(), false);
    for (const CaptureGroup& g : out_.groups)
      for (const uint32_t n : g.nodes) grouped[n] = true;
    for (uint32_t n = 0; n < nodes_.size(); ++n) {
      const bool event = is_event(nodes_[n]) && !grouped[n];
      out_.unfused.push_back(event && !nodes_[n].unfused ? CaptureReason::IsolatedEvent : nodes_[n].unfused);
    }
    return std::move(out_);
  }

  // Tasks in the order in which they were taken; a group stands where its first task stood, or behind what it
  // needs.
  void order() {
    const size_t n = nodes_.size();
    std::vector<uint32_t> unit(n);
    for (uint32_t i = 0; i < n; ++i) unit[i] = i;
    std::vector<int64_t> group_at(n, -1);
    for (size_t g = 0; g < out_.groups.size(); ++g) {
      const auto& members = out_.groups[g].nodes;
      const uint32_t lead = *std::min_element(members.begin(), members.end(),
                                              [&](uint32_t a, uint32_t b) { return place_[a] < place_[b]; });
      group_at[lead] = static_cast<int64_t>(g);
      for (const uint32_t m : members) unit[m] = lead;
    }
    std::vector<std::vector<uint32_t>> next(n);
    std::vector<uint32_t> missing(n, 0);
    const auto edge = [&](uint32_t a, uint32_t b) {
      if (unit[a] == unit[b]) return;
      next[unit[a]].push_back(unit[b]);
      ++missing[unit[b]];
    };
    for (const auto& [id, s] : streams_)
      for (size_t i = 1; i < s.nodes.size(); ++i) edge(s.nodes[i - 1], s.nodes[i]);
    for (uint32_t i = 0; i < n; ++i)
      if (nodes_[i].notify >= 0) edge(static_cast<uint32_t>(nodes_[i].notify), i);
    const auto later = [&](uint32_t a, uint32_t b) { return place_[a] > place_[b]; };
    std::priority_queue<uint32_t, std::vector<uint32_t>, decltype(later)> ready(later);
    for (uint32_t i = 0; i < n; ++i)
      if (unit[i] == i && missing[i] == 0) ready.push(i);
    size_t seen = 0;
    while (!ready.empty()) {
      const uint32_t u = ready.top();
      ready.pop();
      const int64_t g = group_at[u];
      out_.order.push_back(g < 0 ? int64_t{u} : -1 - g);
      seen += g < 0 ? 1 : out_.groups[static_cast<size_t>(g)].nodes.size();
      for (const uint32_t v : next[u])
        if (--missing[v] == 0) ready.push(v);
    }
    SK_ASSERT(seen == n, "no group depends on what depends on it");
  }

  std::vector<CaptureNode> nodes_;
  const CaptureOptions& options_;
  Platform cores_;
  std::map<uint32_t, Stream> streams_;
  std::vector<std::vector<uint32_t>> waits_;  // by notify
  std::vector<bool> taken_;
  std::vector<uint32_t> place_;
  uint32_t next_place_ = 0;
  std::set<uint32_t> refused_;  // tasks that are no kernels and cut in spite of the bypass
  CaptureSegments out_;
};

}  // namespace

CaptureSegments segment_capture(std::vector<CaptureNode> nodes, const CaptureOptions& options,
                                const Platform& cores) {
  return Segmenter(std::move(nodes), options, cores).run();
}

}  // namespace skdsl::superkernel
