// `record` and `wait` in ge_graph: GE orders streams by data and by wait_tensor, an event orders nothing
// there.
#include "compiler/lint/edit.h"

namespace skdsl::lint::rules_impl {

void sk404_event_api_in_ge(const Context& c, Report& report) {
  if (!c.ge_graph() || !c.decode()) return;
  for (const plan::OpId id : c.order->ops()) {
    const plan::Op& op = c.op(id);
    if (op.code != Opcode::RecordEvent && op.code != Opcode::WaitEvent) continue;
    auto finding = report.at(id, c.sources.text(c.span(op.loc)));
    finding.help(
        "data that flows from one stream to another orders them; for an order without data write "
        "`wait_tensor(x, y)`");
    put_under(c, statement_at(c, c.span(op.loc)), "exe_mode != \"ge_graph\"", finding);
  }
}

}  // namespace skdsl::lint::rules_impl
