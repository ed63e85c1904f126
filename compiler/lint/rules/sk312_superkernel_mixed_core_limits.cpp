// A scope whose operators have different core limits: the super kernel starts as many cores as the largest of
// them, and they idle under the small ones.
#include <map>
#include <set>

#include "compiler/lint/rule.h"

namespace skdsl::lint::rules_impl {

void sk312_superkernel_mixed_core_limits(const Context& c, Report& report) {
  if (!c.graph()) return;
  std::map<std::string, std::pair<Context::Cores, plan::OpId>> first;  // by scope
  std::set<std::string> told;
  for (const plan::OpId id : c.order->ops()) {
    if (!c.order->is_task(id)) continue;
    const plan::Context* scope = c.around(id, plan::Context::Kind::SuperKernel);
    if (!scope) continue;
    const Context::Cores here = c.cores(id);
    const auto [it, fresh] = first.emplace(scope->name, std::pair(here, id));
    const Context::Cores& there = it->second.first;
    if (fresh || (here.aic == there.aic && here.aiv == there.aiv) || !told.insert(scope->name).second)
      continue;
    report.at(scope->loc, scope->name)
        .note(c.place(it->second.second),
              fmt::format("{} cube and {} vector cores here", there.aic, there.aiv))
        .note(c.place(id), fmt::format("{} cube and {} vector cores here", here.aic, here.aiv))
        .help("write the `cores` block around the scope, or end the scope where the limit changes");
  }
}

}  // namespace skdsl::lint::rules_impl
