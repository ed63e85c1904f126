// An operator with a barrier over all its blocks, without a core limit, beside one that holds cores until
// others come: each has some cores and waits for the rest.
#include "compiler/lint/edit.h"

namespace skdsl::lint::rules_impl {

void sk510_all_core_op_in_parallel(const Context& c, Report& report) {
  if (!c.graph() || c.order->streams().size() < 2) return;
  for (const plan::OpId id : c.order->ops()) {
    const OpInfo& row = info(c.op(id).code);
    if (row.phases < 2 || c.cores(id).limited) continue;
    for (const plan::OpId other : c.order->ops()) {
      const OpInfo& holder = info(c.op(other).code);
      const bool holds = (holder.has(kCollective) && holder.has_kernel()) || holder.phases >= 2;
      if (!holds || other == id || !c.order->concurrent(id, other)) continue;
      const int64_t held = c.cores(other).aiv, left = c.chip.aiv - held;
      auto finding =
          report.at(id, c.describe(id), c.chip.aiv, c.describe(other), held, c.chip.name, c.chip.aiv);
      finding.note(c.span(c.op(other).loc), "the other one is here");
      finding.help("limit both with `cores`, so that they fit together, or order them with an event");
      const ast::NodeId statement = statement_at(c, c.span(c.op(id).loc));
      if (left > 1 && statement) {
        const Span s = c.ast().span(statement);
        finding
            .fix({s.file, s.begin, s.begin},
                 fmt::format("cores(aic = {}, aiv = {}) {{ ", std::max<int64_t>(left / 2, 1), left))
            .fix({s.file, s.end, s.end}, " }");
      }
      break;
    }
  }
}

}  // namespace skdsl::lint::rules_impl
