// Identity experts that the caller adds beside a finalizing operator that adds them too.
#include "compiler/lint/data_flow.h"

namespace skdsl::lint::rules_impl {

namespace {

/// Two values that are one list of chosen experts, through views and casts.
bool same_choice(const Context& c, plan::ValueId a, plan::ValueId b) {
  const plan::OpId x = source(c, a), y = source(c, b);
  if (x != plan::kNone || y != plan::kNone) return x == y && (a == b || x != plan::kNone);
  return a == b || (!parameter(c, a).empty() && parameter(c, a) == parameter(c, b));
}

/// A comparison of the chosen experts with their number, which is how a caller finds identity experts.
plan::OpId comparison(const Context& c, plan::ValueId experts, int64_t number) {
  for (const plan::OpId id : c.order->ops()) {
    const plan::Op& op = c.op(id);
    if (op.code != Opcode::Ge && op.code != Opcode::Gt) continue;
    const auto limit = literal(c, op.operands[1]);
    if (!same_choice(c, op.operands[0], experts) || !limit || limit->size() != 1) continue;
    if (limit->front() == number - (op.code == Opcode::Gt ? 1 : 0)) return id;
  }
  return plan::kNone;
}

/// Weights that depend on which experts were chosen: the caller has set those of identity experts to zero.
bool masked(const Context& c, plan::ValueId weights, plan::ValueId experts) {
  const plan::OpId made = source(c, weights);
  if (made == plan::kNone) return false;
  for (const plan::OpId id : c.order->ops())
    if (info(c.op(id).code).rule == ShapeRule::BroadcastBool &&
        same_choice(c, c.op(id).operands[0], experts) && depends(c, made, id))
      return true;
  return false;
}

}  // namespace

void sk833_identity_experts_twice(const Context& c, Report& report) {
  for (const plan::OpId id : c.order->ops()) {
    const plan::Op& op = c.op(id);
    if (op.code != Opcode::Add) continue;
    for (const size_t side : {0U, 1U}) {
      const plan::OpId end = source(c, op.operands[side]);
      if (end == plan::kNone || c.op(end).code != Opcode::MoeFinalizeRouting) continue;
      const auto& number = std::get<plan::Dim>(c.op(end).attrs[0]);
      if (!number.is_constant()) continue;
      const plan::OpId test = comparison(c, c.op(end).operands[3], number.constant());
      const plan::OpId other = source(c, op.operands[1 - side]);
      if (test == plan::kNone || other == plan::kNone || !depends(c, other, test)) continue;
      if (masked(c, c.op(end).operands[2], c.op(end).operands[3])) continue;
      report.at(id)
          .note(c.span(c.op(end).loc),
                fmt::format("it adds weight * x for experts from {}", number.constant()))
          .note(c.span(c.op(test).loc), "they are chosen here")
          .help("leave this addition out");
      break;
    }
  }
}

}  // namespace skdsl::lint::rules_impl
