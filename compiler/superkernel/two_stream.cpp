// two_stream — a cube queue and a vector queue that run side by side, tied by flags where kernels depend on
// each other
//
// One edge for each neighbouring pair inside a stream and one for each event; the flags that others make
// redundant are dropped. The original drops the barrier inside a queue together with a redundant flag, and
// misses the wait of a kernel that is first in its queue; here the analysis of the finished lists finds what
// is missing and it is put back.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compiler/superkernel/emit.h"

namespace skdsl::superkernel {

namespace {

// The flag that an edge label stands for; none for labels inside a queue.
std::optional<bool> to_vector(Edge e) {
  if (e == Edge::C2V) return true;
  if (e == Edge::V2C) return false;
  return {};
}

bool last_of_stream(const std::vector<SubKernel>& kernels, size_t k) {
  return std::none_of(kernels.begin() + static_cast<long>(k) + 1, kernels.end(),
                      [&](const SubKernel& o) { return o.stream == kernels[k].stream; });
}

}  // namespace

void Emitter::two_stream() {
  // Edges as (from, to, label).
  struct Labelled {
    size_t from, to;
    Edge label;
  };
  std::vector<Labelled> edges;
  const auto connect = [&](size_t from, size_t to) {
    for (const Edge e : edge_labels(kernels_[from].type, kernels_[to].type))
      if (std::none_of(edges.begin(), edges.end(),
                       [&](const Labelled& o) { return o.from == from && o.to == to && o.label == e; }))
        edges.push_back({from, to, e});
  };
  std::array<std::vector<size_t>, 2> queues;
  std::vector<bool> notify_on_cube(count(), false);
  for (size_t i = 0; i < count(); ++i) {
    for (const Side s : plan::kSides)
      if (has(i, s)) queues[static_cast<size_t>(s)].push_back(i);
    for (size_t j = i + 1; j < count(); ++j)
      if (kernels_[j].stream == kernels_[i].stream) {
        connect(i, j);
        break;
      }
    for (const uint32_t e : kernels_[i].send_events)
      for (size_t j = 0; j < count(); ++j)
        if (j != i && kernels_[j].stream != kernels_[i].stream &&
            std::find(kernels_[j].recv_events.begin(), kernels_[j].recv_events.end(), e) !=
                kernels_[j].recv_events.end())
          connect(i, j);
    // A mix kernel tells the outside only when both its sides are done; the next kernel carries that news.
    if (plan::is_mix(kernels_[i].type) && i + 1 < count() && kernels_[i + 1].stream != kernels_[i].stream &&
        !plan::external_events(sk_, i).notify.empty()) {
      connect(i, i + 1);
      notify_on_cube[i] = plan::is_cube(kernels_[i + 1].type);
    }
  }
  std::vector<Flag> flags;
  for (const Labelled& e : edges)
    if (const auto direction = to_vector(e.label))
      flags.push_back({static_cast<uint32_t>(e.from), static_cast<uint32_t>(e.to), *direction});
  flags = reduce_flags(std::move(flags));
  const auto kept = [&](const Labelled& e) {
    const auto direction = to_vector(e.label);
    return !direction || std::find(flags.begin(), flags.end(),
                                   Flag{static_cast<uint32_t>(e.from), static_cast<uint32_t>(e.to),
                                        *direction}) != flags.end();
  };

  std::vector<std::array<bool, 2>> must_meet(
      count());  // a dropped flag stood for a barrier inside this queue too
  for (;;) {
    for (const Side s : plan::kSides) steps(s).clear();
    for (const Side s : plan::kSides) {
      if (!launched(s)) continue;
      const auto& queue = queues[static_cast<size_t>(s)];
      const bool outward = s == Side::Aic;  // a flag of this side goes to the vector side
      const auto notify_of = [&](size_t k) {
        const Side by =
            plan::is_mix(kernels_[k].type) ? (notify_on_cube[k] ? Side::Aic : Side::Aiv) : event_side(k);
        if (by == s) event_slots(s, k, true);
      };
      const auto send = [&](size_t k, bool last_of_queue) {
        if (k + 1 == count()) return;
        size_t left = 0;
        for (const Labelled& e : edges) left += e.from == k && kept(e);
        const bool tells = last_of_stream(kernels_, k) && !plan::external_events(sk_, k).notify.empty();
        if (left > 0 || tells || must_meet[k][static_cast<size_t>(s)]) {
          sync(s, plan::scope_of(s));
          for (const Flag& f : flags)
            if (f.from == k && f.to_vector == outward) flag(s, SkStep::Kind::Signal, outward);
        } else if (!last_of_queue) {
          emit(s, SkStep::Kind::PipeBarrier);
        }
      };
      open(s);
      for (size_t place = 0; place < queue.size(); ++place) {
        const size_t k = queue[place];
        select(s, k);
        if (place == 0) preload(s, k);
        if (place + 1 < queue.size()) preload(s, queue[place + 1]);
        if (place > 0) send(queue[place - 1], false);
        for (const Flag& f : flags)
          if (f.to == k && f.to_vector != outward) flag(s, SkStep::Kind::Await, !outward);
        if (place > 0) notify_of(queue[place - 1]);
        if (wait(k, s)) sync(s, plan::is_mix(kernels_[k].type) ? SyncScope::AllMix : plan::scope_of(s));
        feed(s, k);
        profile(s, SkStep::What::SubKernel, static_cast<uint32_t>(k + 1), true);
        // Every core must have seen the tiling before the first one releases its lock.
        if (kernels_[k].dynamic)
          sync(s, plan::is_mix(kernels_[k].type) ? SyncScope::AllMix : plan::scope_of(s));
        call(s, k);
        debug_after(s, k);
        if (options_.on(Option::DebugSyncAll)) {
          emit(s, SkStep::Kind::PipeBarrier);
          sync(s, plan::scope_of(s));
          steps(s).back().drains_stores = s == Side::Aic;
        }
        profile(s, SkStep::What::SubKernel, static_cast<uint32_t>(k + 1), false);
      }
      if (!queue.empty()) {
        send(queue.back(), true);
        notify_of(queue.back());
      }
      close(s);
    }
    const plan::SkAnalysis seen = plan::analyse(sk_);
    bool changed = false;
    for (const plan::SkDependency& d : seen.unenforced)
      for (const Side s : plan::kSides)
        if (has(d.before, s) && has(d.after, s) && !must_meet[d.before][static_cast<size_t>(s)]) {
          must_meet[d.before][static_cast<size_t>(s)] = true;
          changed = true;
          out_.deviations.push_back(
              fmt::format("`{}` keeps its barrier over the {} cores, since `{}` depends on it and the flag "
                          "between them is redundant",
                          kernels_[d.before].id, plan::name(s), kernels_[d.after].id));
        }
    if (!changed) {
      // What no barrier inside a queue can mend needs its own flag again.
      for (const plan::SkDependency& d : seen.unenforced)
        for (const Edge e : edge_labels(kernels_[d.before].type, kernels_[d.after].type))
          if (const auto direction = to_vector(e)) {
            const Flag f{d.before, d.after, *direction};
            if (std::find(flags.begin(), flags.end(), f) != flags.end()) continue;
            flags.push_back(f);
            changed = true;
            out_.deviations.push_back(
                fmt::format("the flag from `{}` to `{}` stays, since nothing else orders them",
                            kernels_[d.before].id, kernels_[d.after].id));
          }
      std::sort(flags.begin(), flags.end(), [](const Flag& a, const Flag& b) {
        return std::pair(a.from, a.to) < std::pair(b.from, b.to);
      });
    }
    if (!changed) return;
  }
}

}  // namespace skdsl::superkernel
