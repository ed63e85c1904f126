// strict-scope-check on a scope with collectives: the check passes over them, so that a collective which cuts
// the scope goes unnoticed.
#include <set>

#include "compiler/lint/rule.h"

namespace skdsl::lint::rules_impl {

void sk320_superkernel_strict_check_collective(const Context& c, Report& report) {
  if (!c.graph()) return;
  std::set<std::string> told;
  for (const plan::OpId id : c.order->ops()) {
    if (!info(c.op(id).code).has(kCollective)) continue;
    const plan::Context* scope = c.around(id, plan::Context::Kind::SuperKernel);
    if (!scope) continue;
    for (const auto& [key, value] : scope->options)
      if (key == "strict-scope-check" && value == "abort" && told.insert(scope->name).second)
        report.at(scope->loc, scope->name)
            .note(c.place(id), fmt::format("`{}` is not checked", info(c.op(id).code).name))
            .help("see in `skdsl explain` whether the scope is one piece");
  }
}

}  // namespace skdsl::lint::rules_impl
