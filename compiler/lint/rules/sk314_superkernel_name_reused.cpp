// One block that opens its scope under the same name again and again: a loop or a layer without an index in
// the name. Equal names are one range.
#include <algorithm>
#include <map>

#include "compiler/lint/edit.h"

namespace skdsl::lint::rules_impl {

namespace {

/// The variable of the loop around a node, in the same body.
std::string_view loop_variable(const ast::Ast& a, ast::NodeId at, ast::NodeId node,
                               std::string_view variable) {
  if (at == node) return variable;
  const Span inner = a.span(node);
  for (const ast::NodeId child : a.children(at)) {
    const Span s = a.span(child);
    if (!child || inner.begin < s.begin || inner.end > s.end) continue;
    const ast::Kind kind = a.kind(child);
    const bool body = kind == ast::Kind::Fn || kind == ast::Kind::PhaseDecl;
    return loop_variable(a, child, node, body ? "" : kind == ast::Kind::For ? a.text(child) : variable);
  }
  return "";
}

}  // namespace

void sk314_superkernel_name_reused(const Context& c, Report& report) {
  if (!c.graph()) return;
  struct Seen {
    plan::ContextId context;
    plan::OpId op;
  };
  std::map<std::tuple<uint32_t, uint32_t, std::string>, Seen> first;  // place and name
  std::vector<plan::ContextId> told;
  for (const plan::OpId id : c.order->ops()) {
    if (!c.order->is_task(id)) continue;
    plan::ContextId scope = c.op(id).context;
    while (scope != plan::kNone && c.program->contexts[scope].kind != plan::Context::Kind::SuperKernel)
      scope = c.program->contexts[scope].parent;
    if (scope == plan::kNone) continue;
    const plan::Context& context = c.program->contexts[scope];
    const Span where = c.span(context.loc);
    const auto [it, fresh] =
        first.emplace(std::tuple(where.file, where.begin, context.name), Seen{scope, id});
    if (fresh || it->second.context == scope) continue;
    if (std::find(told.begin(), told.end(), it->second.context) != told.end()) continue;
    told.push_back(it->second.context);
    auto finding = report.at(context.loc, context.name);
    const std::string& a = c.op(it->second.op).path;
    const std::string& b = c.op(id).path;
    if (a != b) finding.note(fmt::format("in the layers `{}` and `{}`", a, b));
    finding.help("put the index of the layer or of the round into the name: \"moe_{i}\"");
    const ast::NodeId node = node_at(c, where, ast::Kind::SuperKernel);
    const ast::NodeId name = node ? c.ast().child(node, 0) : 0;
    if (!name || c.ast().kind(name) != ast::Kind::Str) continue;
    if (const auto variable = loop_variable(c.ast(), c.ast().root, node, ""); !variable.empty()) {
      const Span s = c.ast().span(name);
      finding.fix({s.file, s.end - 1, s.end - 1}, fmt::format("_{{{}}}", variable));
    }
  }
}

}  // namespace skdsl::lint::rules_impl
