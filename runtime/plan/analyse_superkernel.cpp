// analyse_superkernel — both sides of a super kernel, played through once
//
// One group stands for all, since every core of a side does the same. A side knows which kernels are done in
// its own group and which are done on all cores; barriers turn the first into the second, flags carry both to
// the other side. A kernel may start only when all it depends on is done on all cores.
#include <algorithm>
#include <deque>
#include <set>

#include "runtime/plan/superkernel.h"

namespace skdsl::plan {

namespace {

// Kernels on their sides, as bits.
class Parts {
 public:
  explicit Parts(size_t kernels) : bits_(2 * kernels) {}
  bool contains(uint32_t kernel, Side s) const { return bits_[2 * kernel + static_cast<size_t>(s)] != 0; }
  void insert(uint32_t kernel, Side s) { bits_[2 * kernel + static_cast<size_t>(s)] = 1; }
  void insert(const Parts& o) {
    for (size_t i = 0; i < bits_.size(); ++i) bits_[i] |= o.bits_[i];
  }

 private:
  std::vector<uint8_t> bits_;
};

struct Knowledge {
  explicit Knowledge(size_t kernels) : group(kernels), all(kernels) {}
  Parts group, all;

  void meet() { all.insert(group); }
  void learn(const Knowledge& o) {
    group.insert(o.group);
    all.insert(o.all);
  }
};

struct Walk {
  explicit Walk(size_t kernels) : knows(kernels) {}
  Side side = Side::Aic;
  size_t at = 0;
  int part = 0;  // inside a step that waits more than once
  Knowledge knows;
  std::deque<Knowledge> raised;  // early-start flags not waited for yet
  size_t all_mix = 0;
};

class Player {
 public:
  explicit Player(const SuperKernel& k)
      : k_(k),
        depends_(dependencies(k)),
        called_(k.kernels.size()),
        walks_{Walk(k.kernels.size()), Walk(k.kernels.size())} {}

  SkAnalysis run() {
    for (const Side s : kSides) walk(s).side = s;
    for (bool moved = true; moved;) {
      moved = false;
      for (const Side s : kSides)
        while (walk(s).at < k_.of(s).size() && step(walk(s), k_.of(s)[walk(s).at])) moved = true;
    }
    for (const Side s : kSides) {
      out_.ends &= walk(s).at == k_.of(s).size();
      out_.flags_balanced &= flags_[static_cast<size_t>(s)].empty() && walk(s).raised.empty();
    }
    out_.all_mix_matches = walk(Side::Aic).all_mix == walk(Side::Aiv).all_mix && mix_needs_both();
    for (size_t i = 0; i < k_.kernels.size(); ++i)
      for (const Side s : kSides)
        if (runs_on(k_.kernels[i].type, s))
          out_.every_kernel_called &= called_[i][static_cast<size_t>(s)] == 1;
    events();
    return std::move(out_);
  }

 private:
  Walk& walk(Side s) { return walks_[static_cast<size_t>(s)]; }
  std::deque<Knowledge>& flags(bool to_vector) { return flags_[to_vector ? 1 : 0]; }

  /// all_mix in a super kernel with one side only could never be met.
  bool mix_needs_both() const {
    for (const Side s : kSides)
      if (k_.of(s).empty() && walks_[static_cast<size_t>(other(s))].all_mix > 0) return false;
    return true;
  }

  bool await(Walk& w, bool to_vector) {
    auto& queue = flags(to_vector);
    if (queue.empty()) return false;
    w.knows.learn(queue.front());
    queue.pop_front();
    return true;
  }

  // SyncAll<false>: vector cores report to their cube core, the cube cores meet, each lets its vector cores
  // go.
  bool meet_all(Walk& w) {
    if (w.part == 0) ++w.all_mix, w.part = 1;
    if (w.side == Side::Aic) {
      if (!await(w, false)) return false;
      w.knows.meet();
      flags(true).push_back(w.knows);
    } else {
      if (w.part == 1) flags(false).push_back(w.knows), w.part = 2;
      if (!await(w, true)) return false;
    }
    return true;
  }

  bool step(Walk& w, const SkStep& s) {
    switch (s.kind) {
      case SkStep::Kind::Sync:
        if (s.scope == SyncScope::AllMix && !meet_all(w)) return false;
        if (s.scope == scope_of(w.side)) w.knows.meet();
        break;
      case SkStep::Kind::Signal:
        flags(s.to_vector).push_back(w.knows);
        break;
      case SkStep::Kind::Await:
        if (!await(w, s.to_vector)) return false;
        break;
      case SkStep::Kind::SetNextStart:
        w.raised.push_back(w.knows);
        break;
      case SkStep::Kind::WaitPrevEnd: {
        const SkWaitActions a = wait_actions(s.config, w.side);
        if (w.part == 0) {
          if (a.wait_all) {
            if (w.raised.empty()) return false;
            Knowledge seen = w.raised.front();
            w.raised.pop_front();
            seen.meet();
            w.knows.learn(seen);
          }
          if (a.signal) flags(w.side == Side::Aic).push_back(w.knows);
          w.part = 1;
        }
        if (a.await && !await(w, w.side == Side::Aiv)) return false;
        break;
      }
      case SkStep::Kind::Call:
      case SkStep::Kind::DynamicCall:
        call(w, s.of);
        break;
      default:
        break;
    }
    w.part = 0;
    ++w.at;
    return true;
  }

  void call(Walk& w, uint32_t kernel) {
    if (!runs_on(k_.kernels[kernel].type, w.side)) return;  // a tiling sink that this side merely follows
    ++called_[kernel][static_cast<size_t>(w.side)];
    for (const SkDependency& d : depends_) {
      if (d.after != kernel) continue;
      for (const Side s : kSides)
        if (runs_on(k_.kernels[d.before].type, s) && !w.knows.all.contains(d.before, s) &&
            std::find(out_.unenforced.begin(), out_.unenforced.end(), d) == out_.unenforced.end())
          out_.unenforced.push_back(d);
    }
    w.knows.group.insert(kernel, w.side);
  }

  void events() {
    std::set<uint32_t> waited;
    for (const Side s : kSides)
      for (const SkStep& step : k_.of(s)) {
        if (step.kind == SkStep::Kind::WaitEvent) waited.insert(step.event);
        if (step.kind == SkStep::Kind::Call && step.feeds != feeds_at(s, step))
          out_.feed_end_published = false;
      }
    for (size_t i = 0; i < k_.kernels.size(); ++i)
      for (const auto& [event, slot] : external_events(k_, i).wait)
        if (!waited.contains(event)) out_.waits_not_emitted.emplace_back(static_cast<uint32_t>(i), event);
  }

  // Whether feeding was switched on for this call.
  bool feeds_at(Side side, const SkStep& call) const {
    bool enabled = false;
    for (const SkStep& step : k_.of(side)) {
      if (step.kind == SkStep::Kind::FeedSync) enabled = step.enabled;
      if (&step == &call) break;
    }
    return enabled;
  }

  const SuperKernel& k_;
  std::vector<SkDependency> depends_;
  std::vector<std::array<int, 2>> called_;
  std::array<Walk, 2> walks_;
  std::array<std::deque<Knowledge>, 2> flags_;  // v2c, c2v
  SkAnalysis out_;
};

}  // namespace

SkAnalysis analyse(const SuperKernel& k) { return Player(k).run(); }

}  // namespace skdsl::plan
