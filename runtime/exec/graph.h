// graph — executes a static graph: no interpreter, no allocation, no look-up between steps
//
// Built once from a schedule: every task becomes a kernel and a call whose pointers lead into one arena, the
// weights, states, constants and fixed input buffers. run() copies the inputs in, does the steps in order and
// copies the outputs out.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/exec/allocator.h"
#include "runtime/exec/bindings.h"
#include "runtime/exec/native.h"
#include "runtime/exec/observe.h"
#include "runtime/exec/value.h"
#include "runtime/exec/workers.h"
#include "runtime/plan/plan.h"

namespace skdsl::exec {

/// Who runs a graph.
struct GraphExecutor {
  bool native = false;
  NativeInfo info;
  std::string why_not;  // the plan executor although a compiler was given
};

/// Bytes that graphs of which only one runs at a time may share.
using ArenaPool = std::shared_ptr<Tensor>;

struct GraphOptions {
  bool poison = kPoisonByDefault;  // the arena is poisoned before each run
  bool verify = true;              // plan::verify first; off where the schedule's maker has done it
  bool spread = false;             // every kernel on all workers, small ones too; for tests of barriers
  const std::atomic<bool>* interrupt = nullptr;  // looked at before every launch
  // Told of each kernel as it ends and of each `dump`, inside super kernels too; those run on one worker
  // then.
  Observer observe;
  // Makes one launch of the whole run; absent or refusing, the plan executor runs. Observed runs and dry ones
  // always use the plan executor.
  NativeCompiler* native = nullptr;
  NativeOptions native_options;
  std::function<void(const plan::Schedule&, const GraphExecutor&)> built;  // told who runs the graph
  // ---- of a capture, whose guards answer for host values and for the addresses of states
  bool guarded = false;
  ArenaPool pool;               // the arena is taken from here when it is large enough, else put here
  std::vector<Tensor> inputs;   // by argument; empty ones get memory of the graph
  std::vector<Tensor> outputs;  // where results go in every run; empty: fresh tensors each time
};

class Graph {
 public:
  /// Refuses what plan::verify rejects, tasks without a kernel, and weights or states that are missing or
  /// have other sizes. Program, bindings and workers must outlive the graph; states keep their bytes.
  static Expected<std::unique_ptr<Graph>> build(const plan::Program& program, plan::Schedule schedule,
                                                Bindings& bindings, Workers& workers,
                                                GraphOptions options = {});
  ~Graph();

  /// One replay. Inputs in the order of the function's parameters; host scalars must equal the ones that were
  /// bound, host lists that are input buffers may hold other values of as many elements.
  Expected<std::vector<RuntimeValue>> run(const std::vector<RuntimeValue>& inputs);

  const plan::Schedule& schedule() const;
  /// The bytes its buffers stand in, maybe shared with other graphs.
  const Tensor& arena() const;
  uint64_t replays() const;
  /// Kernels executed so far.
  uint64_t steps_run() const;
  /// Launches so far: a super kernel is one; and how many a replay makes.
  uint64_t launches_run() const;
  size_t launches_per_run() const;
  const GraphExecutor& executor() const;

 private:
  Graph();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skdsl::exec
