// schedule — from one function of the program to a static graph
//
// specialise → graph constraints → tasks and buffers (flatten) → streams and events (ordering) → super
// kernels (fuse) → arena (memory) → verify. Tasks keep the order of the program; where data flows from one
// stream to another an event is made.
#pragma once
#include <optional>

#include "compiler/diag/diag.h"
#include "compiler/superkernel/capture_options.h"
#include "compiler/superkernel/segment.h"
#include "compiler/superkernel/superkernel.h"
#include "runtime/plan/hook.h"

namespace skdsl::schedule {

struct ScheduleOptions {
  bool superkernel = true;                     // scopes become super kernels
  std::string cann{superkernel::kNewestCann};  // release whose kernels can be fused
  superkernel::Platform platform;
  /// npugraph_ex: what super_kernel_optimize is given; nothing leaves it off.
  std::optional<superkernel::CaptureOptions> capture;
  bool verify = true;  // off where nothing is executed
};

/// The static graph of a function (calls inlined) under bindings of all its symbols; nothing after a
/// diagnostic.
std::optional<plan::Schedule> make_schedule(const plan::Program& program, const plan::GraphKey& key,
                                            diag::Engine& diags, const ScheduleOptions& options = {});

/// The static graph of what the interpreter did; nothing after a diagnostic. Same stages from ordering on,
/// with three differences of npugraph_ex: events between streams are the program's alone (SK414, SK415 where
/// one is missing), super kernels are made when `options.capture` is set, and then by the capture engine.
std::optional<plan::Schedule> schedule_recording(const plan::Program& program, plan::Recording recording,
                                                 diag::Engine& diags, const ScheduleOptions& options = {});

}  // namespace skdsl::schedule
