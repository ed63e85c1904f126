// `wait_tensor` outside ge_graph: it is an edge of a GE graph and raises everywhere else.
#include "compiler/lint/edit.h"

namespace skdsl::lint::rules_impl {

void sk405_wait_tensor_outside_ge(const Context& c, Report& report) {
  for (const plan::OpId id : c.order->ops()) {
    const plan::Op& op = c.op(id);
    if (op.code != Opcode::WaitTensor || (c.ge_graph() && c.decode())) continue;
    auto finding = report.at(id, c.decode() ? c.mode : "eager");
    finding.help("order the streams with `record e` behind the producer and `wait e` before the consumer");
    if (!c.ge_graph()) put_under(c, statement_at(c, c.span(op.loc)), "exe_mode == \"ge_graph\"", finding);
  }
}

}  // namespace skdsl::lint::rules_impl
