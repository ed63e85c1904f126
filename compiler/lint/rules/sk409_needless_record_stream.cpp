// record_stream of what stays in memory anyway: weights, states and inputs are given back by nobody.
#include "compiler/lint/edit.h"

namespace skdsl::lint::rules_impl {

void sk409_needless_record_stream(const Context& c, Report& report) {
  if (c.ge_graph() || !c.decode()) return;
  for (const plan::OpId id : c.order->ops()) {
    const plan::Op& op = c.op(id);
    if (op.code != Opcode::RecordStream) continue;
    const plan::OpId made = c.order->producer(op.operands[0]);
    const auto& stream = std::get<std::string>(op.attrs[0]);
    const bool at_home = made != plan::kNone && c.order->streams()[c.order->stream(made)] == stream;
    if (made != plan::kNone && !at_home) continue;
    auto finding = report.at(id, at_home ? fmt::format("the tensor is made on stream `{}` itself", stream)
                                         : "a weight, state or input keeps its memory");
    finding.help("leave it out");
    remove_statement(c, statement_at(c, c.span(op.loc)), finding);
  }
}

}  // namespace skdsl::lint::rules_impl
