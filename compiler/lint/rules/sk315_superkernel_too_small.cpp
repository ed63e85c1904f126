// A scope with no piece of two operators: a super kernel saves the launches between its kernels, and there
// are none.
#include <algorithm>
#include <set>

#include "compiler/lint/edit.h"

namespace skdsl::lint::rules_impl {

void sk315_superkernel_too_small(const Context& c, Report& report) {
  std::set<std::string> seen;
  for (const plan::Task& task : c.schedule->tasks) {
    const plan::Context* scope = nullptr;
    for (plan::ContextId id = task.context; id != plan::kNone && !scope;
         id = c.scheduled->contexts[id].parent) {
      const plan::Context& context = c.scheduled->contexts[id];
      if (context.kind == plan::Context::Kind::NoSuperKernel) break;
      if (context.kind == plan::Context::Kind::SuperKernel) scope = &context;
    }
    if (!scope || !seen.insert(scope->name).second) continue;
    size_t most = 0;
    for (const plan::SuperKernel& k : c.schedule->superkernels)
      if (k.scope == scope->name) most = std::max(most, k.kernels.size());
    if (most >= 2) continue;
    auto finding = report.at(scope->loc, scope->name, most == 0 ? "no operator" : "one operator");
    finding.help("take the scope away, or let it reach over the operators beside it");
    unwrap(c, node_at(c, c.span(scope->loc), ast::Kind::SuperKernel), finding);
  }
}

}  // namespace skdsl::lint::rules_impl
