#include "compiler/superkernel/capture_superkernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "runtime/base/assert.h"

namespace skdsl::superkernel {

using plan::KernelType;
using plan::Side;
using plan::SkStep;
using plan::SyncScope;

namespace {

constexpr size_t kMaxKernels = 1 << 16;

tl::unexpected<OptionError> refuse(std::string message, std::string help) {
  return tl::unexpected(OptionError{"", std::move(message), std::move(help), false});
}

/// One entry of the queues. Events stand in the queue of their kernel; a mix kernel's in the vector queue.
struct Item {
  enum class Kind : uint8_t { Kernel, Wait, Reset, Notify };
  Kind kind = Kind::Kernel;
  uint32_t kernel = 0;
  KernelType type = KernelType::Aiv;
  uint32_t event = 0, slot = 0;
  bool mix_group = false;  // DAV_3510: kept apart from items of the other kind
};

class Builder {
 public:
  Builder(const std::vector<CaptureKernel>& kernels, const CaptureOptions& options,
          const CaptureTarget& target, CaptureResult& out)
      : kernels_(kernels), options_(options), target_(target), out_(out), sk_(out.kernel) {}

  void run() {
    make_items();
    plan_barriers();
    plan_flags();
    plan_early_start();
    for (uint32_t i = 0; i < items_.size(); ++i) {
      for (const Side s : plan::kSides)
        if (has(i, s)) receive(i, s);
      for (const Side s : plan::kSides)
        if (has(i, s)) dispatch(i, s);
      if (i + 1 < items_.size()) preload(i + 1);
      for (const Side s : plan::kSides) barrier(i, s);
      for (const Side s : plan::kSides)
        if (has(i, s)) send(i, s);
    }
  }

 private:
  static size_t at(Side s) { return static_cast<size_t>(s); }
  bool launched(Side s) const { return plan::runs_on(sk_.type, s); }
  bool has(uint32_t i, Side s) const { return plan::runs_on(items_[i].type, s); }
  bool is_kernel(uint32_t i) const { return items_[i].kind == Item::Kind::Kernel; }
  const SubKernel& kernel(uint32_t i) const { return kernels_[items_[i].kernel].kernel; }
  bool can(uint32_t i, uint8_t capability) const {
    return is_kernel(i) && (kernels_[items_[i].kernel].capabilities & capability) != 0;
  }
  plan::CoreGuard guard(uint32_t i) const { return {plan::is_vector(kernel(i).type), kernel(i).block_dim}; }
  SkStep& emit(Side s, SkStep::Kind kind) {
    SkStep& step = sk_.of(s).emplace_back();
    step.kind = kind;
    return step;
  }

  void make_items() {
    for (uint32_t k = 0; k < kernels_.size(); ++k) {
      const CaptureKernel& c = kernels_[k];
      const KernelType events = plan::is_cube(c.kernel.type) ? KernelType::Aic : KernelType::Aiv;
      const bool mix =
          plan::is_mix(c.kernel.type) && !options_.matches(CaptureOption::UbufLockIgnore, c.kernel.id);
      const uint32_t first = out_.param_slots[k] + c.kernel.params;
      const auto slot = [&](const std::vector<uint32_t>& list, uint32_t event) {
        return static_cast<uint32_t>(std::find(list.begin(), list.end(), event) - list.begin());
      };
      const uint32_t received = first + static_cast<uint32_t>(c.kernel.send_events.size());
      const uint32_t cleared = received + static_cast<uint32_t>(c.kernel.recv_events.size());
      for (const uint32_t e : c.waits)
        items_.push_back({Item::Kind::Wait, k, events, e, received + slot(c.kernel.recv_events, e), mix});
      for (const uint32_t e : c.resets)
        items_.push_back({Item::Kind::Reset, k, events, e, cleared + slot(c.resets, e), mix});
      item_of_.push_back(static_cast<uint32_t>(items_.size()));
      items_.push_back({Item::Kind::Kernel, k, c.kernel.type, 0, 0, mix});
      for (const uint32_t e : c.notifies)
        items_.push_back({Item::Kind::Notify, k, events, e, first + slot(c.kernel.send_events, e), mix});
    }
    all_.assign(items_.size(), false);
    for (auto& b : barrier_) b.assign(items_.size(), false);
    for (auto& d : deferred_) d.assign(items_.size(), false);
    next_in_queue_ = {};
    for (const Side s : plan::kSides) {
      next_in_queue_[at(s)].assign(items_.size(), kNone);
      uint32_t last = kNone;
      for (uint32_t i = 0; i < items_.size(); ++i) {
        if (!has(i, s)) continue;
        if (last != kNone) next_in_queue_[at(s)][last] = i;
        last = i;
      }
    }
  }

  // Where all cores of a side, or of both, meet.
  void plan_barriers() {
    const bool both = launched(Side::Aic) && launched(Side::Aiv);
    for (uint32_t i = 0; i < items_.size(); ++i) {
      const bool last = i + 1 == items_.size();
      if (options_.on(CaptureOption::DebugSyncAll)) {
        all_[i] = true;
        continue;
      }
      if (last) continue;
      if (target_.dav_3510 && both && items_[i].mix_group != items_[i + 1].mix_group) {
        all_[i] = true;
        continue;
      }
      if (items_[i].kind == Item::Kind::Reset || items_[i].kind == Item::Kind::Notify) continue;
      for (const Side s : plan::kSides) barrier_[at(s)][i] = has(i, s);
    }
  }

  // Flags between the queues; those that others make redundant are dropped. A barrier over both sides carries
  // them all.
  void plan_flags() {
    if (options_.on(CaptureOption::DebugSyncAll)) return;
    std::vector<uint32_t> segment(items_.size(), 0);
    for (uint32_t i = 1; i < items_.size(); ++i) segment[i] = segment[i - 1] + (all_[i - 1] ? 1 : 0);
    std::vector<Flag> flags;
    const auto connect = [&](uint32_t from, uint32_t to) {
      if (segment[from] != segment[to]) return;
      for (const Edge e : edge_labels(items_[from].type, items_[to].type)) {
        if (e == Edge::C2C || e == Edge::V2V) continue;
        const Flag f{from, to, e == Edge::C2V};
        if (std::find(flags.begin(), flags.end(), f) == flags.end()) flags.push_back(f);
      }
    };
    std::map<uint32_t, uint32_t> last;
    for (uint32_t i = 0; i < items_.size(); ++i) {
      const uint32_t stream = kernels_[items_[i].kernel].kernel.stream;
      if (const auto it = last.find(stream); it != last.end()) connect(it->second, i);
      last[stream] = i;
    }
    for (const plan::SkDependency& d : plan::dependencies(sk_))
      if (sk_.kernels[d.before].stream != sk_.kernels[d.after].stream)
        connect(item_of_[d.before], item_of_[d.after]);
    flags_ = reduce_flags(std::move(flags));
    // The cores meet behind a wait anyway, so a barrier right in front of it that tells nobody is one too
    // many.
    for (const Side s : plan::kSides)
      for (uint32_t i = 0; i < items_.size(); ++i)
        if (const uint32_t next = next_in_queue_[at(s)][i];
            barrier_[at(s)][i] && is_kernel(i) && next != kNone && items_[next].kind == Item::Kind::Wait &&
            segment[next] == segment[i] && sends(i, s) == 0)
          barrier_[at(s)][i] = false;
  }

  size_t sends(uint32_t i, Side s) const {
    return static_cast<size_t>(std::count_if(flags_.begin(), flags_.end(), [&](const Flag& f) {
      return f.from == i && f.to_vector == (s == Side::Aic);
    }));
  }
  size_t receives(uint32_t i, Side s) const {
    return static_cast<size_t>(std::count_if(flags_.begin(), flags_.end(), [&](const Flag& f) {
      return f.to == i && f.to_vector == (s == Side::Aiv);
    }));
  }

  // A kernel that awaits by itself takes over the barrier behind the one before it in its queue, with the
  // flags around.
  void plan_early_start() {
    out_.early_start.assign(kernels_.size(), 0);
    if (!options_.on(CaptureOption::EarlyStart) || options_.on(CaptureOption::DebugSyncAll)) return;
    for (const Side s : plan::kSides)
      for (uint32_t i = 0; i < items_.size(); ++i) {
        const uint32_t next = next_in_queue_[at(s)][i];
        if (next == kNone || !barrier_[at(s)][i] || !is_kernel(i)) continue;
        const bool cube = s == Side::Aic;
        const bool meets = std::none_of(all_.begin() + i, all_.begin() + next, [](bool a) { return a; });
        if (!meets) continue;
        if (can(i, kSetsEarly)) mask(i) |= cube ? kAicToAicSet : kAivToAivSet;
        if (!can(next, kWaitsEarly)) continue;
        SK_ASSERT(sends(i, s) <= 1 && receives(next, s) <= 1,
                  "the reduction leaves one flag for each end and direction");
        deferred_[at(s)][i] = true;
        mask(next) |= cube ? kAicToAicWait : kAivToAivWait;
        if (sends(i, s) > 0) mask(next) |= cube ? kAicToAivSet : kAivToAicSet;
        if (receives(next, s) > 0) mask(next) |= cube ? kAivToAicWait : kAicToAivWait;
      }
    if (target_.dav_3510)
      for (uint32_t& m : out_.early_start)
        if (m != 0) m |= kSplitCoreControl;
  }
  uint32_t& mask(uint32_t i) { return out_.early_start[items_[i].kernel]; }

  // The code of a wait half that does this on a side (plan::wait_actions).
  static uint32_t config(Side s, bool signals, bool awaits) {
    const bool cube = s == Side::Aic;
    const uint32_t own = cube ? 0 : 1, other = 1 - own, mix = 2;
    const uint32_t before = awaits ? mix : own;
    const uint32_t now = signals && awaits ? mix : signals ? other : own;
    return before << 2 | now;
  }

  void wait_half(Side s, uint32_t code, std::optional<plan::CoreGuard> idle_only) {
    emit(s, SkStep::Kind::EarlyStartPair).config = code;
    SkStep& wait = emit(s, SkStep::Kind::WaitPrevEnd);
    wait.config = code;
    wait.idle_only = idle_only;
  }

  void receive(uint32_t i, Side s) {
    const auto before = std::find(next_in_queue_[at(s)].begin(), next_in_queue_[at(s)].end(), i);
    const auto p = static_cast<uint32_t>(before - next_in_queue_[at(s)].begin());
    if (before != next_in_queue_[at(s)].end() && deferred_[at(s)][p])
      return wait_half(s, config(s, sends(p, s) > 0, receives(i, s) > 0), guard(i));
    for (size_t n = receives(i, s); n > 0; --n) emit(s, SkStep::Kind::Await).to_vector = s == Side::Aiv;
  }

  void send(uint32_t i, Side s) {
    if (deferred_[at(s)][i]) return;
    for (size_t n = sends(i, s); n > 0; --n) emit(s, SkStep::Kind::Signal).to_vector = s == Side::Aic;
  }

  void barrier(uint32_t i, Side s) {
    if (all_[i]) {
      if (launched(s))
        emit(s, SkStep::Kind::Sync).scope = launched(plan::other(s)) ? SyncScope::AllMix : plan::scope_of(s);
      return;
    }
    if (!barrier_[at(s)][i]) return;
    const bool sets = is_kernel(i) && (mask(i) & (s == Side::Aic ? kAicToAicSet : kAivToAivSet)) != 0;
    if (!sets && !deferred_[at(s)][i]) {
      emit(s, SkStep::Kind::Sync).scope = plan::scope_of(s);
      return;
    }
    SkStep& set = emit(s, SkStep::Kind::SetNextStart);
    set.scope = plan::scope_of(s);
    if (sets) set.idle_only = guard(i);
    if (!deferred_[at(s)][i]) wait_half(s, config(s, false, false), {});
  }

  void dispatch(uint32_t i, Side s) {
    const Item& item = items_[i];
    switch (item.kind) {
      case Item::Kind::Wait:
      case Item::Kind::Notify: {
        SkStep& step =
            emit(s, item.kind == Item::Kind::Wait ? SkStep::Kind::WaitEvent : SkStep::Kind::NotifyEvent);
        step.event = item.event;
        step.slot = item.slot;
        return;
      }
      case Item::Kind::Reset:
        emit(s, SkStep::Kind::ClearEventSlot).slot = item.slot;
        return;
      case Item::Kind::Kernel:
        break;
    }
    if (i == 0) preload_on(i, s);
    const Dcci dcci = capture_dcci(options_, kernel(i).id, kernels_[item.kernel].capabilities);
    if (dcci.before) emit(s, SkStep::Kind::DcciAll).why = SkStep::Dcci::Before;
    SkStep& call = emit(s, SkStep::Kind::Call);
    call.of = item.kernel;
    call.slot = out_.param_slots[item.kernel];
    call.guard = guard(i);
    call.copies = options_.number(CaptureOption::SplitMode);
    if (dcci.after) emit(s, SkStep::Kind::DcciAll).why = SkStep::Dcci::After;
  }

  void preload(uint32_t i) {
    for (const Side s : plan::kSides)
      if (is_kernel(i) && has(i, s)) preload_on(i, s);
  }

  void preload_on(uint32_t i, Side s) {
    const uint32_t units =
        capture_preload_units(options_.number(CaptureOption::PreloadCode), kernel(i).code_bytes, s);
    if (units == 0) return;
    SkStep& step = emit(s, SkStep::Kind::Preload);
    step.of = items_[i].kernel;
    step.units = units;
    step.guard = guard(i);
    step.copies = options_.number(CaptureOption::SplitMode);
  }

  static constexpr uint32_t kNone = UINT32_MAX;
  const std::vector<CaptureKernel>& kernels_;
  const CaptureOptions& options_;
  const CaptureTarget& target_;
  CaptureResult& out_;
  plan::SuperKernel& sk_;
  std::vector<Item> items_;
  std::vector<uint32_t> item_of_;                       // by kernel
  std::array<std::vector<uint32_t>, 2> next_in_queue_;  // by side and item
  std::array<std::vector<bool>, 2> barrier_;            // the cores of a side meet behind the item
  std::vector<bool> all_;                               // those of both sides do
  std::array<std::vector<bool>, 2> deferred_;           // the next kernel awaits that barrier itself
  std::vector<Flag> flags_;
};

}  // namespace

tl::expected<CaptureResult, OptionError> compile_capture(const std::vector<CaptureKernel>& kernels,
                                                         const CaptureOptions& options,
                                                         const CaptureTarget& target) {
  if (kernels.empty()) return refuse("a super kernel needs at least one kernel", "put an op into the scope");
  if (kernels.size() > kMaxKernels)
    return refuse(fmt::format("a super kernel of {} kernels is too large; at most {} are possible",
                              kernels.size(), kMaxKernels),
                  "split the scope");
  CaptureResult out;
  plan::SuperKernel& sk = out.kernel;
  std::vector<std::pair<KernelType, uint32_t>> shapes;
  std::set<uint32_t> streams;
  uint32_t slot = 1;
  const uint32_t copies = options.number(CaptureOption::SplitMode);
  for (const CaptureKernel& c : kernels) {
    const SubKernel& k = c.kernel;
    if (k.dynamic)
      return refuse(
          fmt::format("`{}` has its tiling computed on the device, which no captured super kernel can hold",
                      k.id),
          "give it a static shape");
    if (k.block_dim == 0)
      return refuse(fmt::format("`{}` has no blocks", k.id), "launch it on at least one core");
    shapes.emplace_back(k.type, k.block_dim);
    streams.insert(k.stream);
    out.param_slots.push_back(slot);
    slot += k.params + static_cast<uint32_t>(k.send_events.size() + k.recv_events.size() + c.resets.size());
    sk.kernels.push_back(
        {k.task, k.type, k.block_dim, k.stream, false, k.sync_all, k.send_events, k.recv_events});
    // Two bound functions serve four copies, each twice.
    if (k.copies != 0 && k.copies != copies && !(k.copies == 2 && copies == 4))
      out.warnings.push_back(
          fmt::format("`{}` is bound with {} copies, split_mode is {}", k.id, k.copies, copies));
  }
  if (streams.size() > 1 && !options.on(CaptureOption::StreamFusion))
    out.warnings.push_back(
        fmt::format("kernels of {} streams share a super kernel though stream_fusion is 0", streams.size()));
  Shape shape = entry_shape(shapes);
  if (options.on(CaptureOption::DebugPerOpMaxCoreNum)) {
    uint32_t blocks = std::min(target.cores.aic, target.cores.aiv / 2);
    for (const auto& [type, dim] : shapes)
      blocks = std::max({blocks, cores_of(type, dim).cube, (cores_of(type, dim).vector + 1) / 2});
    shape = {KernelType::MixAic12, blocks};
  }
  sk.type = shape.type;
  sk.block_dim = shape.block_dim;
  sk.two_stream = true;
  sk.options = options.print();
  out.entry = entry_symbol(shape.type, options);
  out.constant_codegen = options.on(CaptureOption::ConstantCodegen);
  for (uint32_t i = 0; i < kernels.size(); ++i)
    if (kernels[i].kernel.sync_all && (kernels[i].capabilities & kSkipsBatchCheck) == 0 &&
        !covers_all(shape, shapes[i].first, shapes[i].second))
      out.hangs.push_back(i);
  Builder(kernels, options, target, out).run();
  return out;
}

}  // namespace skdsl::superkernel
