// A paged cache that a decode makes itself: it is empty in every step, and a graph has no place that lasts.
#include "compiler/lint/data_flow.h"

namespace skdsl::lint::rules_impl {

void sk803_kv_not_preallocated(const Context& c, Report& report) {
  if (!c.decode()) return;
  for (const plan::OpId id : c.order->ops()) {
    const plan::Op& op = c.op(id);
    plan::ValueId cache = plan::kNone;
    if (op.code == Opcode::ScatterUpdate) cache = op.operands[0];
    if (op.code == Opcode::FusedInferAttentionScore && op.operands[5] != plan::kNone) cache = op.operands[1];
    const plan::OpId made = cache == plan::kNone ? plan::kNone : source(c, cache);
    if (made == plan::kNone || (c.op(made).code != Opcode::Full && c.op(made).code != Opcode::Constant))
      continue;
    report.at(id, info(op.code).name, c.describe(made))
        .note(c.span(c.op(made).loc), "it is made here")
        .help("declare it once: `state kv: act[kv_blocks, block_size, …] uninitialized`");
  }
}

}  // namespace skdsl::lint::rules_impl
