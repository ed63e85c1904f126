// Positions or lengths counted inside of a decode: every step begins at the same number again.
#include "compiler/lint/data_flow.h"

namespace skdsl::lint::rules_impl {

namespace {

bool counted(const Context& c, plan::ValueId v) {
  for (int depth = 0; v != plan::kNone && depth < 32; ++depth) {
    const plan::OpId made = source(c, v);
    if (made == plan::kNone) return false;
    const plan::Op& op = c.op(made);
    if (op.code == Opcode::Arange) return true;
    // Shifted by a number: still the same in each step.
    if (op.code != Opcode::Add && op.code != Opcode::Sub) return false;
    if (!literal(c, op.operands[1]) && !counted(c, op.operands[1])) return false;
    v = op.operands[0];
  }
  return false;
}

}  // namespace

void sk810_length_derived_inside(const Context& c, Report& report) {
  if (!c.decode()) return;
  for (const plan::OpId id : c.order->ops()) {
    const plan::Op& op = c.op(id);
    std::vector<plan::ValueId> positions;
    if (op.code == Opcode::FusedInferAttentionScore) positions = {op.operands[7]};
    if (op.code == Opcode::ScatterUpdate) positions = {op.operands[1]};
    // A table of constants, such as rotary ones, read at positions.
    if (op.code == Opcode::IndexSelect && !c.weight_path(op.operands[0]).empty())
      positions = {op.operands[1]};
    for (const plan::ValueId v : positions)
      if (counted(c, v))
        report.at(id, info(op.code).name)
            .help(
                "take `step.position_ids`, `step.slot_mapping` or `step.kv_len`, which move from step to "
                "step");
  }
}

}  // namespace skdsl::lint::rules_impl
