// Two collectives beside each other that hold more vector cores together than the chip has. A collective
// keeps its cores until all ranks have come; when one rank starts the one and another rank the other, both
// wait for ever.
#include "compiler/lint/rule.h"

namespace skdsl::lint::rules_impl {

void sk601_collective_deadlock_risk(const Context& c, Report& report) {
  if (!c.graph()) return;
  std::vector<plan::OpId> collectives;
  for (const plan::OpId id : c.order->ops())
    if (const OpInfo& row = info(c.op(id).code); row.has(kCollective) && row.has_kernel())
      collectives.push_back(id);
  for (size_t i = 0; i < collectives.size(); ++i)
    for (size_t k = i + 1; k < collectives.size(); ++k) {
      const plan::OpId a = collectives[i], b = collectives[k];
      if (!c.order->concurrent(a, b)) continue;
      const int64_t x = c.cores(a).aiv, y = c.cores(b).aiv;
      if (x + y <= c.chip.aiv) continue;
      report.at(b, c.describe(a), c.describe(b), x, y, c.chip.name, c.chip.aiv)
          .note(c.span(c.op(a).loc), "the other one is here")
          .help("limit both with `cores`, or order them with an event");
    }
}

}  // namespace skdsl::lint::rules_impl
