// An option about the data cache that names a collective, or an operator that the scope does not have:
// nothing follows from it.
#include <map>
#include <set>

#include "compiler/lint/edit.h"
#include "compiler/superkernel/options.h"

namespace skdsl::lint::rules_impl {

namespace {
/// The text of an option of the block, without the name.
void leave_out(const Context& c, const plan::Context& scope, std::string_view key, std::string_view name,
               diag::Engine::Builder& finding) {
  const ast::Ast& a = c.ast();
  const ast::NodeId node = node_at(c, c.span(scope.loc), ast::Kind::SuperKernel);
  const ast::NodeId options = node ? a.child(node, 1) : 0;
  if (!options) return;
  for (const ast::NodeId option : a.children(options)) {
    const ast::NodeId value = a.child(option, 0);
    if (a.text(option) != key || a.kind(value) != ast::Kind::Str) continue;
    std::vector<std::string> kept;
    for (std::string& item : superkernel::split_list(a.text(value)))
      if (item != name) kept.push_back(std::move(item));
    if (!kept.empty()) {
      finding.fix(a.span(value), fmt::format("\"{}\"", fmt::join(kept, ",")));
    } else if (a.children(options).size() == 1) {
      const Span header = a.span(a.child(node, 0));
      finding.fix({header.file, header.end, a.span(options).end}, "");
    }
  }
}
}  // namespace

void sk317_superkernel_dcci_ineffective(const Context& c, Report& report) {
  if (!c.graph()) return;
  std::map<plan::ContextId, std::set<std::string>> has;  // operators of a scope
  std::set<std::string> collectives;
  for (const plan::OpId id : c.order->ops()) {
    if (!c.order->is_task(id)) continue;
    const OpInfo& row = info(c.op(id).code);
    if (row.has(kCollective)) collectives.emplace(row.name);
    for (plan::ContextId s = c.op(id).context; s != plan::kNone; s = c.program->contexts[s].parent)
      if (c.program->contexts[s].kind == plan::Context::Kind::SuperKernel) has[s].emplace(row.name);
  }
  for (const auto& [id, names] : has) {
    const plan::Context& scope = c.program->contexts[id];
    for (const auto& [key, value] : scope.options) {
      if (!key.starts_with("dcci-")) continue;
      for (const std::string& name : superkernel::split_list(value)) {
        const bool collective = collectives.contains(name);
        if (names.contains(name) && !collective) continue;
        auto finding = report.at(
            scope.loc, key, name, scope.name,
            collective ? "a collective looks after the cache itself" : "the scope has no such operator");
        finding.help("leave the name out");
        leave_out(c, scope, key, name, finding);
      }
    }
  }
}

}  // namespace skdsl::lint::rules_impl
