// plan_walk — the plan executor: every worker enters a step once and walks its launches
//
// At the boundary of two launches workers meet as machine code does, only as widely as what runs before and
// behind it asks for. Inside a super kernel they walk its steps (superkernel.h), not the order that machine
// code is made from.
#pragma once
#include <memory>
#include <vector>

#include "runtime/exec/native.h"
#include "runtime/exec/superkernel.h"

namespace skdsl::exec {

class PlanWalk {
 public:
  /// For `lanes` workers; `launches` must outlive it.
  PlanWalk(const std::vector<StepLaunch>& launches, uint32_t lanes);

  /// Numbers that the meetings of a step use.
  uint64_t meetings() const { return meetings_; }
  /// What a worker does in a step, until the end or until all are told to stop. Tables by worker; behind them
  /// those of the vector sides of mix kernels.
  void run(NativeFrame& frame, const std::vector<std::vector<NativeTable>>& tables, uint32_t worker);

 private:
  struct Launch {
    const StepLaunch* what = nullptr;
    std::unique_ptr<SuperKernelWalk> superkernel;
    bool first_only = false;
    uint32_t how = kMeet;  // the meeting before it
  };
  std::vector<Launch> launches_;
  std::vector<SideProgress> progress_;
  uint64_t meetings_ = 0;
};

}  // namespace skdsl::exec
