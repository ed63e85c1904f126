// An operator in a core limit that is no AscendC kernel: it takes the cores that it wants, or none.
#include "compiler/lint/data_flow.h"
#include "compiler/lint/edit.h"

namespace skdsl::lint::rules_impl {

void sk505_core_limit_non_ascendc(const Context& c, Report& report) {
  if (!c.graph()) return;
  for (const plan::OpId id : c.order->ops()) {
    const OpInfo& row = info(c.op(id).code);
    const bool other = row.core == Core::AiCpu || (row.core == Core::Host && row.has(kCollective));
    const plan::Context* block = c.around(id, plan::Context::Kind::Cores);
    if (!other || !block) continue;
    auto finding = report.at(id, row.name);
    finding.note(c.span(block->loc), "the limit is here").help("move it out of the block");
    if (alone_in_cores(c, id)) unwrap(c, node_at(c, c.span(block->loc), ast::Kind::Cores), finding);
  }
}

}  // namespace skdsl::lint::rules_impl
