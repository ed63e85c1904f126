// A host operator inside of a scope: the graph breaks there, and the scope would begin in one graph and end
// in another.
#include <set>

#include "compiler/lint/rule.h"

namespace skdsl::lint::rules_impl {

namespace {
std::string_view word(plan::Context::Kind kind) {
  using Kind = plan::Context::Kind;
  return kind == Kind::Stream ? "stream" : kind == Kind::Cores ? "cores" : "superkernel";
}
}  // namespace

void sk107_scope_crosses_break(const Context& c, Report& report) {
  if (!c.graph()) return;
  std::set<plan::ContextId> told;
  for (const plan::OpId id : c.order->ops()) {
    const OpInfo& row = info(c.op(id).code);
    if (!row.has(kHostRead) && !row.has(kHostIo) && !row.has(kSync)) continue;
    // The innermost scope is the one to split.
    const plan::ContextId scope = c.op(id).context;
    if (scope == plan::kNone || !told.insert(scope).second) continue;
    const plan::Context& context = c.program->contexts[scope];
    if (context.kind == plan::Context::Kind::NoSuperKernel) continue;
    report.at(context.loc, word(context.kind), row.name, c.mode)
        .note(c.place(id), "the graph breaks here")
        .help("end the scope before it and open another one behind it");
  }
}

}  // namespace skdsl::lint::rules_impl
