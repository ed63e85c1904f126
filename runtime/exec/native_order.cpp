#include "runtime/exec/native_order.h"

#include <algorithm>
#include <array>

#include "runtime/base/assert.h"
#include "runtime/exec/superkernel_walk.h"

namespace skdsl::exec {

using plan::Side;
using plan::SkStep;

namespace {

// An arrival or a wait of the list before it is thinned out; `id` numbers arrivals.
struct Token {
  enum class Kind : uint8_t { Call, Arrive, Wait, Prefetch };
  Kind kind;
  uint32_t kernel = 0;
  uint32_t id = 0;
};

// Writes down what one worker does. A side that comes to a wait lets the other go on first, so that what it
// could do meanwhile stands before the wait.
struct Scribe {
  const plan::SuperKernel& sk;
  std::vector<Token> list;
  std::array<std::vector<uint32_t>, 2> arrivals;  // ids by side
  std::array<bool, 2> yielded{};
  std::vector<uint8_t> sides_left;  // by kernel
  uint32_t ids = 0;

  void arrive(Side s) {
    arrivals[static_cast<size_t>(s)].push_back(ids);
    list.push_back({Token::Kind::Arrive, 0, ids++});
  }
  bool met(Side s, Walk& w) {
    bool& yielded_now = yielded[static_cast<size_t>(s)];
    if (w.arrivals >= arrivals[static_cast<size_t>(s)].size()) return false;
    if (!yielded_now) {
      yielded_now = true;
      return false;
    }
    yielded_now = false;
    list.push_back({Token::Kind::Wait, 0, arrivals[static_cast<size_t>(s)][w.arrivals++]});
    return true;
  }
  // A mix kernel runs as a whole where the later of its sides would: what it needs is done by then, and who
  // needs it waits for both.
  bool call(Side side, size_t k, Walk&) {
    if (plan::runs_on(sk.kernels[k].type, side) && --sides_left[k] == 0)
      list.push_back({Token::Kind::Call, static_cast<uint32_t>(k)});
    return true;
  }
  void note(Side, const SkStep& s) {
    if (s.kind == SkStep::Kind::Preload) list.push_back({Token::Kind::Prefetch, s.of});
  }
};

std::vector<Token> merged(const plan::SuperKernel& sk) {
  Scribe scribe{.sk = sk};
  for (const plan::SkKernel& k : sk.kernels) scribe.sides_left.push_back(plan::is_mix(k.type) ? 2 : 1);
  std::array<Walk, 2> walks;
  GroupFlags flags{};
  for (int idle = 0; idle < 4;) {
    bool open = false;
    for (const Side s : plan::kSides) {
      Walk& w = walks[static_cast<size_t>(s)];
      while (w.at < sk.of(s).size() && walk_step(scribe, sk, s, w, flags)) idle = 0;
      open |= w.at < sk.of(s).size();
    }
    if (!open) break;
    ++idle;
  }
  for (const Side s : plan::kSides)
    SK_ASSERT(walks[static_cast<size_t>(s)].at == sk.of(s).size(),
              "plan::verify plays both sides to their end");
  return std::move(scribe.list);
}

// The list with phases, without waits for what was waited for before, and without arrivals that nobody waits
// for. `covered` counts calls: an arrival says that so many are done.
std::vector<NativeOp> thinned(const std::vector<Token>& list, const std::vector<NativeKernel>& kernels,
                              bool solo, const NativeOptions& options, uint32_t& meetings) {
  struct Item {
    NativeOp op;
    uint32_t id = 0;       // of the arrival
    uint32_t covered = 0;  // calls before it
    bool wanted = true;
  };
  std::vector<Item> items;
  uint32_t ids = 0, calls = 0;
  for (const Token& t : list) ids = std::max(ids, t.id + 1);
  const auto barrier = [&] {
    items.push_back({{.kind = NativeOp::Kind::Meet, .how = kArrive}, ids, calls});
    items.push_back({{.kind = NativeOp::Kind::Meet, .how = kWait}, ids++, 0});
  };
  for (const Token& t : list) switch (t.kind) {
      case Token::Kind::Arrive:
        items.push_back({{.kind = NativeOp::Kind::Meet, .how = kArrive}, t.id, calls});
        break;
      case Token::Kind::Wait:
        items.push_back({{.kind = NativeOp::Kind::Meet, .how = kWait}, t.id, 0});
        break;
      case Token::Kind::Prefetch:
        if (options.preload) items.push_back({{.kind = NativeOp::Kind::Prefetch, .kernel = t.kernel}});
        break;
      case Token::Kind::Call: {
        const NativeKernel& k = kernels[t.kernel];
        for (uint32_t phase = 0; phase < k.phases; ++phase) {
          if (phase > 0 && !k.alone) barrier();
          items.push_back({{.kind = NativeOp::Kind::Call, .kernel = t.kernel, .phase = phase}});
          ++calls;
        }
        // The slots of the workspace are read by others until the last phase is over.
        if (k.phases > 1 && k.workspace && !k.alone) barrier();
        break;
      }
    }
  std::vector<uint32_t> covered(ids, 0);
  for (const Item& i : items)
    if (i.op.kind == NativeOp::Kind::Meet && i.op.how == kArrive) covered[i.id] = i.covered;
  // Of waits side by side the one that covers most serves for all.
  std::vector<bool> used(ids, false);
  uint32_t known = 0;
  for (size_t at = 0; at < items.size(); ++at) {
    Item& i = items[at];
    if (i.op.kind != NativeOp::Kind::Meet || i.op.how != kWait) continue;
    uint32_t best = covered[i.id];
    for (size_t next = at + 1; next < items.size() && items[next].op.kind == NativeOp::Kind::Meet; ++next)
      if (items[next].op.how == kWait) best = std::max(best, covered[items[next].id]);
    i.wanted = !solo && covered[i.id] > known && covered[i.id] == best;
    if (!i.wanted) continue;
    known = covered[i.id];
    used[i.id] = true;
  }
  std::vector<NativeOp> out;
  std::vector<uint32_t> number(ids, 0);
  for (const Item& i : items) {
    if (i.op.kind != NativeOp::Kind::Meet) {
      out.push_back(i.op);
      continue;
    }
    if (!used[i.id] || !i.wanted) continue;
    NativeOp op = i.op;
    if (op.how == kArrive) {
      number[i.id] = ++meetings;
      op.meeting = meetings;
    } else {
      op.meeting = number[i.id];
      if (!out.empty() && out.back().kind == NativeOp::Kind::Meet && out.back().meeting == op.meeting &&
          !options.early_start) {
        out.back().how = kMeet;
        continue;
      }
    }
    out.push_back(op);
  }
  return out;
}

// Between arriving and waiting a worker may look at what the kernel behind the wait will read.
void touch_next(std::vector<NativeOp>& ops) {
  std::vector<NativeOp> out;
  for (size_t at = 0; at < ops.size(); ++at) {
    if (ops[at].kind == NativeOp::Kind::Meet && ops[at].how == kWait)
      for (size_t next = at + 1; next < ops.size(); ++next)
        if (ops[next].kind == NativeOp::Kind::Call) {
          out.push_back({.kind = NativeOp::Kind::Touch, .kernel = ops[next].kernel});
          break;
        }
    out.push_back(ops[at]);
  }
  ops = std::move(out);
}

// What has run since somebody last waited for it.
struct Dirty {
  bool first = false;             // by the first worker, unseen by the others
  bool others_for_first = false;  // by the others
  bool others_for_others = false;
  void run(bool alone) {
    first = true;
    others_for_first |= !alone;
    others_for_others |= !alone;
  }
};

// A meeting after which the first worker runs something, and the others too when `wide`.
uint32_t needed(Dirty& dirty, bool first_runs, bool wide) {
  uint32_t how = 0;
  if (first_runs && dirty.others_for_first)
    how |= kOthersArrive | kFirstWaits, dirty.others_for_first = false;
  if (wide && dirty.first) how |= kFirstArrives | kOthersWaitFirst, dirty.first = false;
  if (wide && dirty.others_for_others)
    how |= kOthersArrive | kOthersWaitOthers, dirty.others_for_others = false;
  return how;
}

void narrow(NativeFunction& f) {
  Dirty dirty;
  std::vector<NativeOp> out;
  for (size_t at = 0; at < f.ops.size(); ++at) {
    NativeOp op = f.ops[at];
    if (op.kind == NativeOp::Kind::Call) dirty.run(f.kernels[op.kernel].alone);
    if (op.kind == NativeOp::Kind::Meet && op.how == kMeet) {
      bool first_runs = false, wide = false;
      for (size_t next = at + 1; next < f.ops.size(); ++next) {
        if (f.ops[next].kind == NativeOp::Kind::Meet && (f.ops[next].how & kWait)) break;
        if (f.ops[next].kind != NativeOp::Kind::Call) continue;
        first_runs = true;
        wide |= !f.kernels[f.ops[next].kernel].alone;
      }
      op.how = needed(dirty, first_runs, wide);
      if (op.how == 0) continue;
    } else if (op.kind == NativeOp::Kind::Meet && op.how == kWait) {
      // Arrived at earlier: only what was called between stays unseen.
      dirty = {};
      for (size_t back = at;
           back-- > 0 && !(f.ops[back].kind == NativeOp::Kind::Meet && f.ops[back].meeting == op.meeting);)
        if (f.ops[back].kind == NativeOp::Kind::Call) dirty.run(f.kernels[f.ops[back].kernel].alone);
    }
    out.push_back(op);
  }
  f.ops = std::move(out);
}

}  // namespace

NativeFunction native_function(const plan::SuperKernel& sk, std::vector<NativeKernel> kernels,
                               const NativeOptions& options, bool solo) {
  NativeFunction f;
  f.name = sk.name;
  f.kernels = std::move(kernels);
  f.ops = thinned(merged(sk), f.kernels, solo, options, f.meetings);
  if (options.narrow_sync) narrow(f);
  if (options.early_start) touch_next(f.ops);
  return f;
}

NativeFunction native_task(NativeKernel kernel, bool solo) {
  NativeFunction f;
  f.name = info(kernel.code).name;
  f.plain = true;
  for (uint32_t phase = 0; phase < kernel.phases; ++phase) {
    if (phase > 0 && !kernel.alone && !solo)
      f.ops.push_back({.kind = NativeOp::Kind::Meet, .meeting = ++f.meetings});
    f.ops.push_back({.kind = NativeOp::Kind::Call, .phase = phase});
  }
  f.kernels.push_back(std::move(kernel));
  return f;
}

std::vector<uint32_t> boundaries(const std::vector<bool>& first_only) {
  std::vector<uint32_t> out;
  Dirty dirty;
  for (const bool alone : first_only) {
    out.push_back(out.empty() ? 0 : needed(dirty, true, !alone));
    dirty.run(alone);
  }
  return out;
}

void set_boundaries(NativeStep& step) {
  std::vector<bool> first_only;
  for (const NativeLaunch& l : step.launches) first_only.push_back(step.functions[l.function].first_only());
  const std::vector<uint32_t> narrow = boundaries(first_only);
  for (size_t i = 0; i < step.launches.size(); ++i)
    step.launches[i].how = i == 0 || step.solo        ? 0
                           : step.options.narrow_sync ? narrow[i]
                                                      : static_cast<uint32_t>(kMeet);
}

}  // namespace skdsl::exec
