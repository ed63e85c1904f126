// wait_tensor(x, y) whose y is there before the step: a weight, a state or an input is no operator to wait
// for.
#include "compiler/lint/edit.h"

namespace skdsl::lint::rules_impl {

void sk407_wait_tensor_operands(const Context& c, Report& report) {
  if (!c.ge_graph() || !c.decode()) return;
  for (const plan::OpId id : c.order->ops()) {
    const plan::Op& op = c.op(id);
    if (op.code != Opcode::WaitTensor) continue;
    const plan::OpId made = c.order->producer(op.operands[1]);
    const bool itself = made != plan::kNone && made == c.order->producer(op.operands[0]);
    if (made != plan::kNone && !itself) continue;
    const ast::NodeId call = node_at(c, c.span(op.loc), ast::Kind::Call);
    const auto arguments = call ? c.ast().children(call).subspan(1) : std::span<const ast::NodeId>{};
    const Span y = arguments.size() == 2 ? c.ast().span(arguments[1]) : Span{};
    auto finding =
        report.at(id, y ? fmt::format("`{}`", c.sources.text(y)) : "the second operand",
                  itself ? "comes from the operator that makes the first one" : "is there before the step");
    finding.help(
        "the first operand is an input of the operator that waits, the second the result that it waits for");
    // The other way round there would be something to wait for.
    if (y && !itself && c.order->producer(op.operands[0]) != plan::kNone) {
      const Span x = c.ast().span(arguments[0]);
      finding.fix(x, std::string(c.sources.text(y))).fix(y, std::string(c.sources.text(x)));
    }
  }
}

}  // namespace skdsl::lint::rules_impl
