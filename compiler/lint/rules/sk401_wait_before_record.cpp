// A wait with no record before it in the order of the program: there is nothing that it could wait for.
#include "compiler/lint/rule.h"

namespace skdsl::lint::rules_impl {

void sk401_wait_before_record(const Context& c, Report& report) {
  for (const plan::EventWait& w : c.order->waits()) {
    if (!w.early) continue;
    auto finding = report.at(w.wait, c.event(w.wait));
    if (w.record == plan::kNone)
      finding.note("the event is never recorded in this phase");
    else
      finding.note(c.span(c.op(w.record).loc), "it is recorded here, behind the wait");
    finding.help("record the event on the other stream first");
  }
}

}  // namespace skdsl::lint::rules_impl
