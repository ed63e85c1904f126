// A record that no later wait belongs to: often the edge to a consumer was forgotten.
#include <set>

#include "compiler/lint/edit.h"

namespace skdsl::lint::rules_impl {

void sk402_record_never_waited(const Context& c, Report& report) {
  std::set<plan::OpId> waited;
  for (const plan::EventWait& w : c.order->waits()) waited.insert(w.record);
  for (const plan::OpId id : c.order->ops()) {
    if (c.op(id).code != Opcode::RecordEvent || waited.contains(id)) continue;
    auto finding = report.at(id, c.event(id));
    finding.help(
        "write `wait` on the stream that needs what stands before the record, or take the record away");
    remove_statement(c, statement_at(c, c.span(c.op(id).loc)), finding);
  }
}

}  // namespace skdsl::lint::rules_impl
