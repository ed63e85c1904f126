// wait_tensor(x, y) when nobody reads x behind it: the edge hangs on x, and nothing waits.
#include <algorithm>

#include "compiler/lint/edit.h"

namespace skdsl::lint::rules_impl {

void sk406_wait_tensor_unused(const Context& c, Report& report) {
  if (!c.ge_graph() || !c.decode()) return;
  // What shows the bytes of a value: itself, and views of it.
  const auto shows = [&](plan::ValueId v, plan::ValueId x) {
    while (v != plan::kNone && v != x) {
      const plan::OpId made = c.order->definer(v);
      if (made == plan::kNone || !info(c.op(made).code).has(kView)) return false;
      v = c.op(made).operands[0];
    }
    return v == x;
  };
  for (const plan::OpId id : c.order->ops()) {
    const plan::Op& op = c.op(id);
    if (op.code != Opcode::WaitTensor) continue;
    const plan::ValueId x = op.operands[0];
    const auto& ops = c.order->ops();
    const bool read = std::any_of(ops.begin() + c.order->position(id) + 1, ops.end(), [&](plan::OpId r) {
      const auto& operands = c.op(r).operands;
      return info(c.op(r).code).category != "schedule" &&
             std::any_of(operands.begin(), operands.end(), [&](plan::ValueId v) { return shows(v, x); });
    });
    if (read) continue;
    auto finding = report.at(id);
    finding.help(
        "let the first operand be what the waiting operator reads, and write it before that operator");
    remove_statement(c, statement_at(c, c.span(op.loc)), finding);
  }
}

}  // namespace skdsl::lint::rules_impl
