// An operator that gives its operand back: a concat of one, a cast to the dtype that is there. A graph drops
// it, the eager prefill pays for it.
#include "compiler/lint/edit.h"

namespace skdsl::lint::rules_impl {

namespace {

bool is_noop(const Context& c, const plan::Op& op) {
  const auto& type = [&](plan::ValueId v) -> const plan::Type& { return c.function->values[v].type; };
  if (op.code == Opcode::Concat) return op.operands.size() == 1;
  if (op.code != Opcode::Cast) return false;
  // What has the activation dtype has it by configuration.
  const plan::DType dtype = type(op.operands[0]).dtype;
  return dtype == type(op.results[0]).dtype && dtype != plan::DType::Stored && plan::name(dtype) != "bf16" &&
         plan::name(dtype) != "f16" && c.builtins->dtype == "bfloat16";
}

}  // namespace

void sk949_noop_written(const Context& c, Report& report) {
  for (const plan::OpId id : c.order->ops()) {
    const plan::Op& op = c.op(id);
    if (!is_noop(c, op)) continue;
    const ast::NodeId call = node_at(c, c.span(op.loc), ast::Kind::Call);
    if (!call || c.ast().span(call) != c.span(op.loc)) continue;  // written in the linted file
    const auto args = c.ast().children(call).subspan(1);
    const std::string_view name = c.sources.text(c.ast().span(c.ast().child(call, 0)));
    // A dtype that is a parameter of the layer may be another one elsewhere.
    if (op.code == Opcode::Cast &&
        (args.size() != 2 || name != "cast" ||
         c.sources.text(c.ast().span(args[1])).find("f32") == std::string_view::npos))
      continue;
    if (args.empty() || name.find('.') != std::string_view::npos) continue;
    const std::string_view operand = c.sources.text(c.ast().span(args[0]));
    auto finding = report.at(id, name, operand);
    finding.help("leave it out");
    finding.fix(c.span(op.loc), "(" + std::string(operand) + ")");
  }
}

}  // namespace skdsl::lint::rules_impl
