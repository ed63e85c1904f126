// Routing and its end that count experts differently: what the one skipped as an identity expert the other
// looks up among the rows.
#include "compiler/lint/data_flow.h"

namespace skdsl::lint::rules_impl {

void sk832_moe_expert_num(const Context& c, Report& report) {
  for (const plan::OpId id : c.order->ops()) {
    const plan::Op& end = c.op(id);
    if (end.code != Opcode::MoeFinalizeRouting) continue;
    // The rows' places come from the routing.
    const plan::OpId made = source(c, end.operands[1]);
    if (made == plan::kNone || c.op(made).code != Opcode::MoeInitRouting) continue;
    const auto& a = std::get<plan::Dim>(end.attrs[0]);
    const auto& b = std::get<plan::Dim>(c.op(made).attrs[0]);
    if (!a.is_constant() || !b.is_constant() || a.constant() == b.constant()) continue;
    auto finding = report.at(id, a.constant(), b.constant());
    finding.note(c.span(c.op(made).loc), "the routing is here");
    finding.help("give both the number of experts with weights; those behind it give weight * x");
    const ast::NodeId value = argument(c, call_of(c, id), "expert_num", 5);
    if (value && c.ast().kind(value) == ast::Kind::Int)
      finding.fix(c.ast().span(value), std::to_string(b.constant()));
  }
}

}  // namespace skdsl::lint::rules_impl
