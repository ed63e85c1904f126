// native_run — a step of machine code with its argument tables
#pragma once
#include <memory>
#include <vector>

#include "runtime/exec/allocator.h"
#include "runtime/exec/native_order.h"
#include "runtime/exec/workers.h"

namespace skdsl::exec {

/// A kernel of a launch with its call.
struct NativeCall {
  const kernels::KernelEntry* entry = nullptr;
  const sk_call* call = nullptr;  // copied
};

class NativeRun {
 public:
  /// Calls by launch of the step, in the order of the function's kernels.
  static Expected<std::unique_ptr<NativeRun>> build(const NativeStep& step, const std::vector<std::vector<NativeCall>>& calls,
                                                    std::unique_ptr<NativeCode> code, Workers& workers, TensorPool& pool,
                                                    const std::atomic<bool>* interrupt);
  ~NativeRun();

  /// How a run ended: at the end, by an interrupt, or by a fault in a launch.
  struct End {
    bool interrupted = false;
    const sk_fault* fault = nullptr;  // of the first kernel in the list, its first row; as the plan executor tells it
    size_t launch = 0, kernel = 0;
    size_t launches_run = 0;
  };
  End run();
  const NativeInfo& info() const;

 private:
  NativeRun();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skdsl::exec
