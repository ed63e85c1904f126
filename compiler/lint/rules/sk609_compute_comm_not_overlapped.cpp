// A collective on the main stream with matrix work behind it that does not need its result: on a stream of
// its own the one would hide behind the other.
#include "compiler/lint/data_flow.h"

namespace skdsl::lint::rules_impl {

void sk609_compute_comm_not_overlapped(const Context& c, Report& report) {
  if (!c.graph()) return;
  for (const plan::OpId id : c.order->ops()) {
    const OpInfo& row = info(c.op(id).code);
    if (!row.has(kCollective) || !row.has_kernel() || c.order->stream(id) != 0) continue;
    const auto& readers = c.order->readers(id);
    const uint32_t until = readers.empty() ? 0 : c.order->position(readers.front());
    for (uint32_t i = c.order->position(id) + 1; i < until; ++i) {
      const plan::OpId other = c.order->ops()[i];
      if (!is_matrix(info(c.op(other).code)) || c.order->stream(other) != 0 || depends(c, other, id))
        continue;
      report.at(other, c.describe(other), row.name)
          .note(c.span(c.op(id).loc), "the collective is here")
          .help("put the collective into a `stream` block");
      break;
    }
  }
}

}  // namespace skdsl::lint::rules_impl
