// memory — places in the arena
//
// Buffers that show the same bytes (views, in-place results) form a group. Two groups may share bytes when
// all uses of one are certainly done before the other is first written, events between streams counted.
// Groups are placed from the largest to the smallest, each into the tightest gap between those it must not
// touch.
#include <algorithm>

#include "compiler/schedule/build.h"
#include "runtime/plan/text.h"

namespace skdsl::schedule {

using namespace plan;

namespace {

constexpr uint64_t kAlignment = 64;

struct Group {
  uint64_t bytes = 0;
  Clock last;              // by stream: the last task that uses it
  uint32_t first = kNone;  // the task that writes it first
  bool returned = false;
  uint64_t offset = 0;
};

class Placer {
 public:
  explicit Placer(Build& b) : b_(b) {}

  void run() {
    group_of_ = b_.root;
    groups_.resize(b_.out.buffers.size());
    for (BufferId i = 0; i < b_.out.buffers.size(); ++i)
      if (arena(i) && b_.root[i] == i) {
        groups_[i].bytes = text::byte_size(b_.out.buffers[i].dtype, b_.out.buffers[i].shape).value_or(0);
        groups_[i].last.assign(b_.out.streams.size(), 0);
      }
    for (const BufferId o : b_.out.outputs)
      if (arena(o)) groups_[b_.root[o]].returned = true;
    for (const Item& item : b_.items)
      if (item.kind != Step::Kind::Record && item.kind != Step::Kind::Wait) use(item.index);
    assign();
    for (BufferId i = 0; i < b_.out.buffers.size(); ++i)
      if (arena(i)) b_.out.buffers[i].offset = groups_[find(b_.root[i])].offset;
  }

 private:
  bool arena(BufferId i) const { return i != kNone && b_.out.buffers[i].storage == Storage::Arena; }

  BufferId find(BufferId i) {
    while (group_of_[i] != i) i = group_of_[i] = group_of_[group_of_[i]];
    return i;
  }

  // Are all uses of `g` so far done when the task starts?
  bool done(const Group& g, uint32_t task) const {
    const Clock& start = b_.start[task];
    for (size_t s = 0; s < g.last.size(); ++s)
      if (g.last[s] > start[s]) return false;
    return true;
  }

  void use(uint32_t index) {
    const Task& t = b_.out.tasks[index];
    // A view moves nothing, yet its operand must still be there when it stands in the order: a view that
    // nobody reads is played through like any other.
    if (t.view && arena(t.in[0])) note(groups_[find(b_.root[t.in[0]])], t.stream, index);
    if (t.view || !reads_operands(t)) return;
    if (b_.may_reuse[index] && arena(t.in[0])) {
      const BufferId onto = find(b_.root[t.in[0]]), out = find(b_.root[t.out[0]]);
      Group& g = groups_[onto];
      // Another operand that shows these bytes at other places would see them change.
      bool alone = true;
      for (size_t k = 1; k < t.in.size(); ++k)
        if (arena(t.in[k]) && find(b_.root[t.in[k]]) == onto)
          alone &= b_.out.buffers[t.in[k]].shape == b_.out.buffers[t.in[0]].shape;
      if (alone && !g.returned && g.bytes == groups_[out].bytes && done(g, index)) {
        group_of_[out] = onto;
        g.returned = groups_[out].returned;
      }
    }
    for (const BufferId b : t.in)
      if (arena(b)) note(groups_[find(b_.root[b])], t.stream, index);
    for (const BufferId b : t.out) {
      Group& g = groups_[find(b_.root[b])];
      if (g.first == kNone) g.first = index;
      note(g, t.stream, index);
    }
  }

  void note(Group& g, uint32_t stream, uint32_t task) {
    g.last[stream] = std::max(g.last[stream], b_.number[task]);
  }

  bool apart(const Group& a, const Group& b) const {
    return (!a.returned && done(a, b.first)) || (!b.returned && done(b, a.first));
  }

  void assign() {
    std::vector<BufferId> order;
    for (BufferId i = 0; i < groups_.size(); ++i)
      if (arena(i) && b_.root[i] == i && group_of_[i] == i && groups_[i].bytes > 0 &&
          groups_[i].first != kNone)
        order.push_back(i);
    std::sort(order.begin(), order.end(), [&](BufferId a, BufferId b) {
      return groups_[a].bytes != groups_[b].bytes ? groups_[a].bytes > groups_[b].bytes : a < b;
    });
    std::vector<BufferId> placed;  // by offset
    for (const BufferId id : order) {
      Group& g = groups_[id];
      const uint64_t bytes = (g.bytes + kAlignment - 1) / kAlignment * kAlignment;
      uint64_t end = 0, best = 0, best_gap = ~uint64_t{0};
      for (const BufferId other : placed) {
        const Group& o = groups_[other];
        if (apart(g, o)) continue;
        if (o.offset >= end && o.offset - end >= bytes && o.offset - end < best_gap) {
          best = end;
          best_gap = o.offset - end;
        }
        end = std::max(end, (o.offset + o.bytes + kAlignment - 1) / kAlignment * kAlignment);
      }
      g.offset = best_gap == ~uint64_t{0} ? end : best;
      b_.out.arena_bytes = std::max(b_.out.arena_bytes, g.offset + bytes);
      placed.insert(
          std::upper_bound(placed.begin(), placed.end(), id,
                           [&](BufferId a, BufferId b) { return groups_[a].offset < groups_[b].offset; }),
          id);
    }
  }

  Build& b_;
  std::vector<BufferId> group_of_;
  std::vector<Group> groups_;
};

}  // namespace

void place(Build& b) { Placer(b).run(); }

}  // namespace skdsl::schedule
