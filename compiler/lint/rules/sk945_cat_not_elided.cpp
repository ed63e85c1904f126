// A concat along another axis than 0 whose operands are all made for it: along axis 0 each would be written
// into its part of the result, and the copy would be gone.
#include "compiler/lint/data_flow.h"

namespace skdsl::lint::rules_impl {

void sk945_cat_not_elided(const Context& c, Report& report) {
  if (!c.npugraph_ex() || !c.decode() || !c.run->flag("npugraph_ex.remove_cat_ops")) return;
  for (const plan::OpId id : c.order->ops()) {
    const plan::Op& op = c.op(id);
    if (op.code != Opcode::Concat || op.operands.size() < 2) continue;
    const auto& axis = std::get<plan::Dim>(op.attrs[0]);
    const plan::Type& out = c.function->values[op.results[0]].type;
    const int64_t rank = static_cast<int64_t>(out.rank());
    if (!axis.is_constant()) continue;
    const int64_t at = axis.constant() < 0 ? axis.constant() + rank : axis.constant();
    // Everything else is as the pass wants it: each operand a product that this concat alone reads.
    bool only = at > 0;
    for (const plan::ValueId v : op.operands) {
      const plan::OpId made = c.order->definer(v);
      only = only && made != plan::kNone && is_matrix(info(c.op(made).code)) &&
             c.order->readers(made).size() == 1;
    }
    if (only)
      report.at(id, at).help(
          "make the products with one weight, `from [\"a\", \"b\"]`, or put the parts along axis 0");
  }
}

}  // namespace skdsl::lint::rules_impl
