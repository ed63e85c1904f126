// A wait with nothing behind it on its stream: the order that it makes is an order for nobody.
#include "compiler/lint/edit.h"

namespace skdsl::lint::rules_impl {

void sk416_dangling_wait(const Context& c, Report& report) {
  if (c.ge_graph() || !c.decode()) return;
  const auto& ops = c.order->ops();
  for (const plan::OpId id : ops) {
    // The end of the main stream is where the result is handed out.
    if (c.op(id).code != Opcode::WaitEvent || c.order->stream(id) == 0) continue;
    bool followed = false;
    for (size_t i = c.order->position(id) + 1; i < ops.size() && !followed; ++i) {
      const Opcode code = c.op(ops[i]).code;
      followed = c.order->stream(ops[i]) == c.order->stream(id) && code != Opcode::WaitEvent &&
                 code != Opcode::RecordStream;
    }
    if (followed) continue;
    auto finding = report.at(id, c.event(id), c.order->streams()[c.order->stream(id)]);
    finding.help("write it before the first operator that needs it, or take it away");
    remove_statement(c, statement_at(c, c.span(c.op(id).loc)), finding);
  }
}

}  // namespace skdsl::lint::rules_impl
