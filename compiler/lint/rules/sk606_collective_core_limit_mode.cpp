// A core limit around a collective on a chip that does not expand collectives on vector cores: the limit
// holds for that expansion alone.
#include "compiler/lint/data_flow.h"
#include "compiler/lint/edit.h"

namespace skdsl::lint::rules_impl {

void sk606_collective_core_limit_mode(const Context& c, Report& report) {
  if (!c.graph() || c.chip.name != "950") return;
  for (const plan::OpId id : c.order->ops()) {
    const OpInfo& row = info(c.op(id).code);
    const plan::Context* block = c.around(id, plan::Context::Kind::Cores);
    if (!block || !row.has(kCollective) || !row.has_kernel()) continue;
    auto finding = report.at(id, row.name, c.chip.name);
    finding.note(c.span(block->loc), "the limit is here").help("move it out of the block");
    if (alone_in_cores(c, id)) unwrap(c, node_at(c, c.span(block->loc), ast::Kind::Cores), finding);
  }
}

}  // namespace skdsl::lint::rules_impl
