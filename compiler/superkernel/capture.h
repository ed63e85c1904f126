// capture — captured streams in, super kernels out: the entry of the capture engine
//
// tasks → nodes (scopes, events, reasons) → groups → super kernels. The shapes follow superkernel::Segments:
// pieces, cuts and the order in which all runs, where a piece runs as a whole.
#pragma once
#include <string>
#include <vector>

#include "compiler/superkernel/capture_segment.h"
#include "compiler/superkernel/capture_superkernel.h"

namespace skdsl::superkernel {

struct CapturePiece {
  std::string name;               // "sk_0_decode_start_rms_norm_end_add"
  std::string scope;              // names of the open scopes joined by "_"; "none"
  std::vector<uint32_t> nodes;    // tasks in order: kernels, and the events and markers between them
  std::vector<uint32_t> kernels;  // those of them that are kernels, as in result.kernel.kernels
  CaptureBreak why = CaptureBreak::None;
  int64_t trigger = -1;  // the task that ended it
  CaptureResult result;
};

/// A kernel that runs alone, or a wait at which a group was split.
struct CaptureCut {
  std::string scope;
  uint32_t node = 0;
  CaptureReason reason{};
};

struct Capture {
  std::vector<CapturePiece> pieces;
  std::vector<CaptureCut> cuts;  // by task
  std::vector<int64_t> order;    // a task, or piece p as -1 - p
  std::vector<std::string> warnings;
  std::vector<std::string> notes;  // where it is not what the original would make, and why
};
/// The super kernels of a captured model. A piece without kernels is dissolved; it has taken its number all
/// the same. SkKernel::task is SubKernel::task as given. The error is about the name of a scope.
tl::expected<Capture, OptionError> capture_superkernels(const std::vector<CaptureTask>& tasks,
                                                        const CaptureOptions& options,
                                                        const CaptureTarget& target);

/// The kernels of a group with their flags: an event whose halves are both inside ties the kernels before its
/// notify to those behind its wait; the other events reach the outside. What stands before the first or
/// behind the last kernel of a stream is left to the launch.
std::vector<CaptureKernel> group_kernels(const std::vector<CaptureTask>& tasks,
                                         const std::vector<CaptureNode>& nodes,
                                         const std::vector<uint32_t>& group);

}  // namespace skdsl::superkernel
