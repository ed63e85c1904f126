// build — what the stages of scheduling hand to each other
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/diag/diag.h"
#include "compiler/schedule/schedule.h"
#include "runtime/plan/plan.h"

namespace skdsl::schedule {

/// The word for the mode in messages about graphs.
inline constexpr std::string_view kMode = "static-graph";

/// A step before events are settled; in the order of the program.
struct Item {
  plan::Step::Kind kind = plan::Step::Kind::Call;
  uint32_t index = 0;  // task, or event
  uint32_t stream = 0;
  Loc loc;
};

/// How far each stream had come: `clock[s]` items of stream s are certainly done.
using Clock = std::vector<uint32_t>;

struct Build {
  const plan::Program& original;
  const plan::Program& program;  // specialised; the function comes first
  const plan::Function& function;
  diag::Engine& diags;
  plan::Schedule out;

  bool events_are_explicit = false;  // data flow between streams makes no events (npugraph_ex)
  std::vector<Item> items;
  std::vector<plan::BufferId> root;  // by buffer: the one whose bytes it shows
  std::vector<uint8_t> may_reuse;    // by task: out[0] may take the bytes of in[0]
  std::vector<Clock> start;          // by task: what is done when it starts
  std::vector<uint32_t> number;      // by task: its place on its stream, from 1

  Span span(const Loc& loc) const { return diags.sources().span(loc); }
};

/// Tasks read these operands' bytes (a note that only names a value reads nothing).
inline bool reads_operands(const plan::Task& t) {
  return info(t.code).has_kernel() || t.code == Opcode::Tap || t.code == Opcode::WaitTensor;
}

/// Tasks, buffers and items from the body; false after a diagnostic.
bool flatten(Build& b);
/// Events between streams and the final steps; false after a diagnostic.
bool order(Build& b);
/// Scopes become super kernels, as ge_graph makes them; false after a diagnostic.
bool fuse(Build& b, const ScheduleOptions& options);
/// The same for a recording, as npugraph_ex makes them; `options.capture` is set.
bool fuse_captured(Build& b, const ScheduleOptions& options);
/// The kernel after which a prefetch starts: the one that gives the named value, or the last one of the named
/// instance; kNone when there is none.
uint32_t trigger_of(const Build& b, const plan::Task& prefetch);
/// Places in the arena.
void place(Build& b);

/// The attribute as kernels take it; nothing when it has an unbound symbol. `result` answers for dtype
/// "none".
std::optional<plan::TaskAttr> evaluate_attr(const Param& param, const plan::Attr& attr, plan::DType result);

/// The limit of the innermost `cores` around an op, or the cores of the device.
superkernel::Platform cores_for(const plan::Program& program, plan::ContextId context,
                                superkernel::Platform device);

/// Blocks on the device: one for each 1,024 output elements (256 for the cube cores), at most the core limit
/// of the innermost `cores` around the op, or the 24 cube and 48 vector cores of the default chip. Assumed
/// until the chip profile says otherwise.
uint32_t block_dim(const plan::Program& program, const plan::Task& task, int64_t elements);

}  // namespace skdsl::schedule
