// A prefetch that begins when the operator that needs it begins: nothing runs that it could hide behind.
#include "compiler/lint/data_flow.h"
#include "compiler/lint/edit.h"

namespace skdsl::lint::rules_impl {

void sk713_prefetch_no_window(const Context& c, Report& report) {
  if (!c.graph()) return;
  for (const PrefetchUse& p : prefetches(c)) {
    if (p.start == plan::kNone || p.use == plan::kNone) continue;
    bool window = c.order->stream(p.start) != c.order->stream(p.use);
    for (uint32_t i = c.order->position(p.start) + 1; i < c.order->position(p.use); ++i)
      window |= c.order->is_task(c.order->ops()[i]);
    if (window) continue;
    auto finding = report.at(p.prefetch, p.target);
    finding.note(c.place(p.use), "it is used here").help("name an earlier value behind `after`");
    remove_statement(c, statement_at(c, c.span(c.op(p.prefetch).loc)), finding);
  }
}

}  // namespace skdsl::lint::rules_impl
