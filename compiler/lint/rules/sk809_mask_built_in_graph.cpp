// A mask over positions against positions, built anew in each step from numbers that no step changes.
#include "compiler/lint/data_flow.h"

namespace skdsl::lint::rules_impl {

namespace {

/// Nothing but aranges and numbers, through whatever moves or shifts them.
bool fixed(const Context& c, plan::ValueId v, int depth, bool& positions) {
  const plan::OpId made = v == plan::kNone ? plan::kNone : c.order->definer(v);
  if (made == plan::kNone || depth > 32) return false;
  const plan::Op& op = c.op(made);
  const OpInfo& row = info(op.code);
  if (op.code == Opcode::Arange) positions = true;
  if (op.code == Opcode::Arange || op.code == Opcode::Constant || op.code == Opcode::Full ||
      op.code == Opcode::HostInt || op.code == Opcode::HostFloat)
    return true;
  if (op.code != Opcode::ToTensor && op.code != Opcode::Cast && !row.has(kLayout) &&
      row.category != "elementwise")
    return false;
  for (const plan::ValueId x : op.operands)
    if (x == plan::kNone || !fixed(c, x, depth + 1, positions)) return false;
  return !op.operands.empty();
}

}  // namespace

void sk809_mask_built_in_graph(const Context& c, Report& report) {
  if (!c.graph()) return;
  for (const plan::OpId id : c.order->ops()) {
    const plan::Op& op = c.op(id);
    if (info(op.code).rule != ShapeRule::BroadcastBool || op.operands.size() != 2) continue;
    const plan::Type& mask = c.function->values[op.results[0]].type;
    if (mask.rank() < 2) continue;
    const auto wide = [](const plan::Dim& d) { return !d.is_constant() || d.constant() > 1; };
    if (!wide(mask.dims[mask.rank() - 1]) || !wide(mask.dims[mask.rank() - 2])) continue;
    bool rows = false, columns = false;
    if (!fixed(c, op.operands[0], 0, rows) || !fixed(c, op.operands[1], 0, columns) || !rows || !columns)
      continue;
    report.at(id, c.program->text(mask))
        .help("write it as a `const` of the layer, or let attention mask: `sparse_mode = 3`");
  }
}

}  // namespace skdsl::lint::rules_impl
