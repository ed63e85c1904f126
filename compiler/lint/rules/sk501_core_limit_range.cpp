// A core limit that the chip cannot give. The original's interface checks nothing.
#include <set>

#include "compiler/lint/edit.h"

namespace skdsl::lint::rules_impl {

void sk501_core_limit_range(const Context& c, Report& report) {
  if (!c.graph()) return;
  std::set<plan::ContextId> seen;
  for (const plan::OpId id : c.order->ops())
    for (plan::ContextId k = c.op(id).context; k != plan::kNone && seen.insert(k).second;
         k = c.program->contexts[k].parent) {
      const plan::Context& context = c.program->contexts[k];
      if (context.kind != plan::Context::Kind::Cores) continue;
      for (const auto& [key, value] : context.options) {
        const int64_t most = key == "aic" ? c.chip.aic : c.chip.aiv, given = std::stoll(value);
        if (given >= 1 && given <= most) continue;
        // Underline the option where it is written in the linted file.
        Span place = c.span(context.loc);
        const ast::NodeId node = node_at(c, place, ast::Kind::Cores);
        ast::NodeId number = 0;
        for (const ast::NodeId option :
             node ? c.ast().children(c.ast().child(node, 0)) : std::span<const ast::NodeId>())
          if (c.ast().text(option) == key) {
            place = c.ast().span(option);
            number = c.ast().child(option, 0);
          }
        auto finding = report.at(place, key, given, most, c.chip.name);
        finding.help(fmt::format("write at most {}", most));
        if (number && c.ast().kind(number) == ast::Kind::Int)
          finding.fix(c.ast().span(number), std::to_string(most));
      }
    }
}

}  // namespace skdsl::lint::rules_impl
