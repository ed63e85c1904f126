// A record that no later wait belongs to: often the edge to a consumer was forgotten, or the stream that
// waits is switched off.
#include <set>

#include "compiler/lint/edit.h"

namespace skdsl::lint::rules_impl {

namespace {
constexpr double kHostMicroseconds = 8;  // of a record, as vllm-ascend pull request 16668 measured it
}

void sk402_record_never_waited(const Context& c, Report& report) {
  std::set<plan::OpId> waited;
  for (const plan::EventWait& w : c.order->waits()) waited.insert(w.record);
  std::vector<plan::OpId> idle;
  for (const plan::OpId id : c.order->ops())
    if (c.op(id).code == Opcode::RecordEvent && !waited.contains(id)) idle.push_back(id);
  for (const plan::OpId id : idle) {
    auto finding = report.at(id, c.event(id));
    if (idle.size() > 1)
      finding.note(
          fmt::format("{} records of a step are not waited for; in eager they cost the host about {:.2f} ms",
                      idle.size(), static_cast<double>(idle.size()) * kHostMicroseconds / 1000));
    finding.help(
        "write `wait` on the stream that needs what stands before the record, or take the record away");
    remove_statement(c, statement_at(c, c.span(c.op(id).loc)), finding);
  }
}

}  // namespace skdsl::lint::rules_impl
