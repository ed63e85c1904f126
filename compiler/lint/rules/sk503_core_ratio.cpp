// A core limit whose two numbers do not go with each other: kernels with cube and vector parts take cores in
// the chip's ratio, so what is over stays idle.
#include <set>

#include "compiler/lint/edit.h"

namespace skdsl::lint::rules_impl {

void sk503_core_ratio(const Context& c, Report& report) {
  if (!c.graph() || c.chip.aiv % c.chip.aic != 0) return;
  const int64_t ratio = c.chip.aiv / c.chip.aic;
  std::set<plan::ContextId> seen;
  for (const plan::OpId id : c.order->ops())
    for (plan::ContextId k = c.op(id).context; k != plan::kNone && seen.insert(k).second;
         k = c.program->contexts[k].parent) {
      const plan::Context& context = c.program->contexts[k];
      if (context.kind != plan::Context::Kind::Cores) continue;
      int64_t aic = 0, aiv = 0;
      for (const auto& [key, value] : context.options) (key == "aic" ? aic : aiv) = std::stoll(value);
      const bool known = aic >= 1 && aic <= c.chip.aic && aiv >= 1 && aiv <= c.chip.aiv;
      if (!known || aiv == ratio * aic) continue;
      auto finding = report.at(context.loc, aiv, aic, c.chip.name, ratio);
      finding.help(fmt::format("write `aiv = {}`", ratio * aic));
      const ast::NodeId node = node_at(c, c.span(context.loc), ast::Kind::Cores);
      for (const ast::NodeId option :
           node ? c.ast().children(c.ast().child(node, 0)) : std::span<const ast::NodeId>())
        if (c.ast().text(option) == "aiv" && c.ast().kind(c.ast().child(option, 0)) == ast::Kind::Int)
          finding.fix(c.ast().span(c.ast().child(option, 0)), std::to_string(ratio * aic));
    }
}

}  // namespace skdsl::lint::rules_impl
