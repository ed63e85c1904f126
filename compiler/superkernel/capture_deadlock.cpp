// capture_deadlock — waits inside a launch that might never end
//
// A launch starts when all that stands before it on its streams is done, and keeps its cores until it ends. A
// wait inside it may depend on tasks of other streams that have not run yet: they need cores beside those of
// the launch, and they must not depend on the launch itself.
#include <algorithm>
#include <set>

#include "compiler/superkernel/capture_segment.h"

namespace skdsl::superkernel {

namespace {

bool is_wait(const CaptureNode& n) {
  return n.kind == CaptureTask::Kind::Wait || n.kind == CaptureTask::Kind::MemoryWait;
}

class Detector {
 public:
  Detector(const std::vector<CaptureNode>& nodes, const std::vector<CaptureGroup>& groups, size_t at,
           const Platform& cores)
      : nodes_(nodes),
        groups_(groups),
        device_(cores),
        before_(nodes.size(), -1),
        group_of_(nodes.size(), -1),
        self_(at) {
    std::vector<int64_t> last;
    for (uint32_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].stream >= last.size()) last.resize(nodes[i].stream + 1, -1);
      before_[i] = last[nodes[i].stream];
      last[nodes[i].stream] = i;
    }
    for (size_t g = 0; g < groups.size(); ++g)
      for (const uint32_t n : groups[g].nodes) group_of_[n] = static_cast<int64_t>(g);
    for (const uint32_t n : groups[at].nodes) streams_.insert(nodes[n].stream);
  }

  Deadlock run() {
    const auto& group = groups_[self_].nodes;
    done_.assign(nodes_.size(), false);
    std::set<uint32_t> begun;
    for (const uint32_t n : group)
      if (begun.insert(nodes_[n].stream).second && before_[n] >= 0)
        walk(static_cast<uint32_t>(before_[n]), [&](uint32_t v) {
          if (done_[v] || inside(v)) return false;
          done_[v] = true;
          return true;
        });
    int64_t last_wait = -1;
    for (size_t i = 0; i < group.size(); ++i) {
      const CaptureNode& n = nodes_[group[i]];
      if (is_wait(n)) {
        last_wait = group[i];
        if (n.notify >= 0 && !inside(n.notify) && (i == 0 || !reachable(static_cast<uint32_t>(n.notify))))
          return {last_wait, group[i]};
      }
      if (n.kind == CaptureTask::Kind::Kernel && !fits(n.cores, held_, beside_)) return {last_wait, group[i]};
    }
    return {};
  }

 private:
  bool inside(int64_t n) const { return group_of_[static_cast<size_t>(n)] == static_cast<int64_t>(self_); }

  // From a node to all it depends on; `visit` says whether to go on behind it.
  template <class F>
  void walk(uint32_t from, F&& visit) const {
    std::vector<uint32_t> work{from};
    while (!work.empty()) {
      const uint32_t v = work.back();
      work.pop_back();
      if (!visit(v)) continue;
      if (before_[v] >= 0) work.push_back(static_cast<uint32_t>(before_[v]));
      if (nodes_[v].notify >= 0) work.push_back(static_cast<uint32_t>(nodes_[v].notify));
    }
  }

  // Room for `want` in `mine`, which grows into what the device has beside `others`.
  bool fits(const Cores& want, Cores& mine, const Cores& others) const {
    if (want.cube <= mine.cube && want.vector <= mine.vector) return true;
    if (uint64_t{want.cube} + others.cube > device_.aic ||
        uint64_t{want.vector} + others.vector > device_.aiv)
      return false;
    mine.cube = std::max(mine.cube, want.cube);
    mine.vector = std::max(mine.vector, want.vector);
    return true;
  }

  // An earlier launch on one of our streams is over when this one starts.
  bool over(size_t group) const {
    return group < self_ && std::any_of(
                                groups_[group].nodes.begin(), groups_[group].nodes.end(),
                                [&](uint32_t n) { return streams_.contains(nodes_[n].stream); });
  }

  Cores cores_of_group(size_t group) const {
    Cores most;
    for (const uint32_t n : groups_[group].nodes) {
      most.cube = std::max(most.cube, nodes_[n].cores.cube);
      most.vector = std::max(most.vector, nodes_[n].cores.vector);
    }
    return most;
  }

  bool reachable(uint32_t notify) {
    bool good = true;
    std::set<uint32_t> seen;
    walk(notify, [&](uint32_t v) {
      if (!good || done_[v] || !seen.insert(v).second) return false;
      if (inside(v)) return good = false;  // it waits for an earlier part of this launch
      const int64_t group = group_of_[v];
      if (group >= 0 && over(static_cast<size_t>(group))) return false;
      const Cores need = group >= 0 ? cores_of_group(static_cast<size_t>(group)) : nodes_[v].cores;
      return good = fits(need, beside_, held_);
    });
    return good;
  }

  const std::vector<CaptureNode>& nodes_;
  const std::vector<CaptureGroup>& groups_;
  Platform device_;
  std::vector<int64_t> before_, group_of_;
  size_t self_;
  std::set<uint32_t> streams_;
  std::vector<bool> done_;  // before the launch starts
  Cores held_, beside_;
};

}  // namespace

Deadlock find_deadlock(const std::vector<CaptureNode>& nodes, const std::vector<CaptureGroup>& groups,
                       size_t at, const Platform& cores) {
  return Detector(nodes, groups, at, cores).run();
}

}  // namespace skdsl::superkernel
