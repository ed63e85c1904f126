#include "runtime/exec/plan_walk.h"

#include "runtime/exec/native_order.h"

namespace skdsl::exec {

namespace {
// Meetings between the phases of a task.
uint32_t meetings_in(const StepLaunch& l) {
  return l.superkernel || l.kernels[0].alone ? 0 : l.kernels[0].entry->phases - 1;
}

// The part of one worker in a task; true when it recorded a fault.
bool run_task(NativeFrame& frame, const StepKernel& k, const sk_call& call, uint32_t worker,
              uint64_t boundary) {
  const uint32_t blocks = k.alone ? 1 : frame.lanes;
  if (worker >= blocks) return false;
  for (uint32_t phase = 0; phase < k.entry->phases; ++phase) {
    if (phase > 0 && !k.alone) sk_native_meet(&frame, worker, boundary + phase, kMeet);
    k.entry->run(&call, phase, worker, blocks);
  }
  return call.fault->code != SK_FAULT_NONE;
}
}  // namespace

PlanWalk::PlanWalk(const std::vector<StepLaunch>& launches, uint32_t lanes) : progress_(lanes) {
  std::vector<bool> first_only;
  for (const StepLaunch& l : launches) first_only.push_back(l.first_only());
  const std::vector<uint32_t> how = boundaries(first_only);
  for (size_t l = 0; l < launches.size(); ++l) {
    Launch& made = launches_.emplace_back();
    made.what = &launches[l];
    made.first_only = first_only[l];
    made.how = how[l];
    if (launches[l].superkernel) made.superkernel = std::make_unique<SuperKernelWalk>(launches[l]);
    meetings_ += 1 + meetings_in(launches[l]);
  }
}

void PlanWalk::run(NativeFrame& frame, const std::vector<std::vector<NativeTable>>& tables, uint32_t worker) {
  const auto calls = [&](size_t participant, size_t l) {
    return participant < tables.size() ? static_cast<sk_call*>(tables[participant][l]) : nullptr;
  };
  uint64_t number = 0;
  for (uint32_t l = 0; l < launches_.size(); ++l) {
    const Launch& launch = launches_[l];
    ++number;
    // Nobody is met before the first launch, so nobody may turn back there.
    if (l > 0 && sk_native_boundary(&frame, worker, number, l, launch.how)) return;
    bool faulty = false;
    if (!launch.superkernel) {
      faulty = run_task(frame, launch.what->kernels[0], *calls(worker, l), worker, number);
    } else if (!launch.first_only) {
      faulty = launch.superkernel->run({worker,
                                        frame.lanes,
                                        frame.spins,
                                        progress_.data(),
                                        {calls(worker, l), calls(frame.lanes + worker, l)}});
    } else if (worker == 0) {
      // Others do not count what they do not walk.
      SideProgress alone;
      faulty = launch.superkernel->run({0, 1, 0, &alone, {calls(0, l), calls(0, l)}});
    }
    if (faulty) sk_native_fault(&frame, l);
    number += meetings_in(*launch.what);
  }
}

}  // namespace skdsl::exec
