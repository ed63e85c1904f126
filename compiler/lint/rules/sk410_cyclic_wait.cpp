// Streams whose waits form a circle: none of the records in it is ever reached.
#include "compiler/lint/rule.h"

namespace skdsl::lint::rules_impl {

void sk410_cyclic_wait(const Context& c, Report& report) {
  const std::vector<plan::OpId> cycle = c.order->cycle();
  std::vector<plan::OpId> waits;
  std::vector<std::string> streams;
  for (const plan::OpId id : cycle) {
    if (c.op(id).code == Opcode::WaitEvent) waits.push_back(id);
    std::string name = fmt::format("`{}`", c.order->streams()[c.order->stream(id)]);
    if (std::find(streams.begin(), streams.end(), name) == streams.end()) streams.push_back(std::move(name));
  }
  if (waits.empty()) return;
  std::sort(streams.begin(), streams.end());
  // The first in the order of the program; each turn of the circle starts somewhere else.
  const auto first = std::min_element(waits.begin(), waits.end(), [&](plan::OpId a, plan::OpId b) {
    return c.order->position(a) < c.order->position(b);
  });
  auto finding = report.at(*first, fmt::join(streams, " and "));
  for (const plan::OpId id : cycle)
    if (id != *first && (c.op(id).code == Opcode::WaitEvent || c.op(id).code == Opcode::RecordEvent))
      finding.note(c.span(c.op(id).loc),
                   c.op(id).code == Opcode::WaitEvent ? "this waits too" : "this is never reached");
  finding.help("let one of the streams record before it waits");
}

}  // namespace skdsl::lint::rules_impl
