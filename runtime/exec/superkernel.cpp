#include "runtime/exec/superkernel.h"

#include <thread>

#include "runtime/exec/superkernel_walk.h"
#include "runtime/exec/workers.h"

namespace skdsl::exec {

using plan::Side;
using plan::SkStep;

namespace {

constexpr size_t index(Side s) { return static_cast<size_t>(s); }
bool has_phases(const StepKernel& k) { return !k.alone && k.entry->phases > 1; }
void count_up(std::atomic<uint64_t>& own) {
  own.store(own.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

}  // namespace

// The machine of one worker.
struct SuperKernelWalk::Group {
  const SuperKernelWalk& walk;
  const Crew& crew;
  const std::function<void(size_t)>& done;
  std::vector<uint32_t> sides_left;  // by kernel, for `done`
  // All workers begin a super kernel with equal counts, so one's own say where the others' began.
  std::array<uint64_t, 2> arrived{}, phases{};
  bool faulty = false;

  Group(const SuperKernelWalk& w, const Crew& c, const std::function<void(size_t)>& d)
      : walk(w), crew(c), done(d) {
    const SideProgress& own = crew.progress[crew.worker];
    for (const Side s : plan::kSides) {
      arrived[index(s)] = own.arrived[index(s)].load(std::memory_order_relaxed);
      phases[index(s)] = own.phases[index(s)].load(std::memory_order_relaxed);
    }
    if (done)
      for (const plan::SkKernel& k : walk.launch_.superkernel->kernels)
        sides_left.push_back(plan::is_mix(k.type) ? 2 : 1);
  }

  bool all_at(std::array<std::atomic<uint64_t>, 2> SideProgress::* what, Side s, uint64_t count) const {
    for (uint32_t w = 0; w < crew.lanes; ++w)
      if ((crew.progress[w].*what)[index(s)].load(std::memory_order_acquire) < count) return false;
    return true;
  }

  void arrive(Side s) { count_up(crew.progress[crew.worker].arrived[index(s)]); }
  bool met(Side s, Walk& w) {
    if (!all_at(&SideProgress::arrived, s, arrived[index(s)] + w.arrivals + 1)) return false;
    ++w.arrivals;
    return true;
  }
  // Have all who run kernel k done so many phases of it?
  bool together(size_t k, uint32_t count) const {
    for (const Side s : plan::kSides)
      if (plan::runs_on(walk.launch_.superkernel->kernels[k].type, s) &&
          !all_at(&SideProgress::phases, s, phases[index(s)] + walk.phases_before_[index(s)][k] + count))
        return false;
    return true;
  }

  // The workers of a kernel's side run it, those of both sides when it is mix, or the first worker alone.
  // w.part counts phases done; blocked while others are in the phase before.
  bool call(Side side, size_t k, Walk& w) {
    const plan::KernelType type = walk.launch_.superkernel->kernels[k].type;
    if (!plan::runs_on(type, side)) return true;
    const StepKernel& kernel = walk.launch_.kernels[k];
    const bool mix = plan::is_mix(type), second = mix && side == Side::Aiv;
    const sk_call& c = crew.calls[second ? 1 : 0][k];
    const uint32_t count = kernel.entry->phases;
    if (kernel.alone) {
      if (crew.worker == 0 && !second)
        for (uint32_t phase = 0; phase < count; ++phase) kernel.entry->run(&c, phase, 0, 1);
    } else {
      const uint32_t block = second ? crew.lanes + crew.worker : crew.worker;
      for (; w.part < count; ++w.part) {
        if (w.part > 0 && !together(k, w.part)) return false;
        kernel.entry->run(&c, w.part, block, crew.lanes * (mix ? 2 : 1));
        if (count > 1) count_up(crew.progress[crew.worker].phases[index(side)]);
      }
      // The slots of the workspace are read by others until the last phase is over.
      if (count > 1 && !together(k, count)) return false;
    }
    faulty |= c.fault->code != SK_FAULT_NONE;
    if (done && --sides_left[k] == 0) done(k);
    return true;
  }
  void note(Side, const SkStep&) {}
};

SuperKernelWalk::SuperKernelWalk(const StepLaunch& launch) : launch_(launch) {
  for (const Side s : plan::kSides) {
    std::vector<uint64_t>& before = phases_before_[index(s)];
    before.resize(launch.kernels.size());
    uint64_t count = 0;
    for (const SkStep& step : launch.superkernel->of(s)) {
      if (step.kind != SkStep::Kind::Call && step.kind != SkStep::Kind::DynamicCall) continue;
      before[step.of] = count;
      if (plan::runs_on(launch.superkernel->kernels[step.of].type, s) && has_phases(launch.kernels[step.of]))
        count += launch.kernels[step.of].entry->phases;
    }
  }
}

bool SuperKernelWalk::run(const Crew& crew, const std::function<void(size_t)>& done) const {
  const plan::SuperKernel& sk = *launch_.superkernel;
  std::array<Walk, 2> walks;
  GroupFlags flags{};
  Group group(*this, crew, done);
  for (uint32_t idle = 0;;) {
    bool moved = false, open = false;
    for (const Side s : plan::kSides) {
      Walk& w = walks[index(s)];
      while (w.at < sk.of(s).size() && walk_step(group, sk, s, w, flags)) moved = true;
      open |= w.at < sk.of(s).size();
    }
    if (!open) return group.faulty;
    if (moved)
      idle = 0;
    else if (idle++ < crew.spins)
      relax();
    else
      std::this_thread::yield();
  }
}

}  // namespace skdsl::exec
