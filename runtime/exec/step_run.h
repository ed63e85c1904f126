// step_run — a decode step with its argument tables, on all workers: machine code, or a walk over the plan
//
// Every worker enters once, with tables of its own. Meetings, the end by a fault or an interrupt, and the
// search for the first fault are the same for both.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "runtime/exec/allocator.h"
#include "runtime/exec/native.h"
#include "runtime/exec/step.h"
#include "runtime/exec/workers.h"

namespace skdsl::exec {

class StepRun {
 public:
  /// The plan executor's; calls are copied. `launches` and `workers` must outlive it.
  static Expected<std::unique_ptr<StepRun>> build(const std::vector<StepLaunch>& launches, Workers& workers,
                                                  TensorPool& pool, const std::atomic<bool>* interrupt);
  ~StepRun();
  /// Runs machine code of the same launches from now on.
  void use(const NativeStep& step, std::unique_ptr<NativeCode> code);

  /// How a run ended: at the end, by an interrupt, or by a fault in a launch.
  struct End {
    bool interrupted = false;
    const sk_fault* fault =
        nullptr;  // of the first kernel in the list, its first row among those that workers met first
    size_t launch = 0, kernel = 0;
    size_t launches_run = 0;
  };
  End run();
  /// One super kernel on the caller alone; `done(k)` follows the end of its kernel k.
  End run_superkernel(size_t launch, const std::function<void(size_t)>& done);

 private:
  StepRun();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skdsl::exec
