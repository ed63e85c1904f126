// Lengths as a host list while sizes and numbers are constants of the graph: each step has other lengths and
// is compiled anew.
#include <set>

#include "compiler/lint/edit.h"
#include "compiler/lint/host_lists.h"

namespace skdsl::lint::rules_impl {

namespace {
/// The place of `step.…_list` inside of a call, or an empty span.
Span written(const Context& c, ast::NodeId node, std::string_view member) {
  const ast::Ast& a = c.ast();
  if (a.kind(node) == ast::Kind::Member && a.text(node) == member) return a.span(node);
  for (const ast::NodeId child : a.children(node))
    if (child)
      if (const Span s = written(c, child, member)) return s;
  return {};
}
}  // namespace

void sk202_list_lengths_static(const Context& c, Report& report) {
  if (!c.npugraph_ex() || !c.decode() || c.run->flag("npugraph_ex.dynamic")) return;
  std::set<std::pair<plan::OpId, std::string>> told;
  for (const ListUse& use : list_uses(c)) {
    if (use.computed || !told.emplace(use.op, use.list).second) continue;
    auto finding = report.at(use.op, use.list);
    finding.help(
        "set enable_dynamic_graph, which keeps the lengths out of the graph, or pass them as a tensor: the "
        "same name without `_list`");
    const std::string member = use.list.substr(use.list.rfind('.') + 1);
    const ast::NodeId call = node_at(c, c.span(c.op(use.op).loc), ast::Kind::Call);
    if (!use.updatable || !call || !member.ends_with("_list")) continue;
    if (const Span s = written(c, call, member))
      finding.fix({s.file, s.end - static_cast<uint32_t>(std::string_view("_list").size()), s.end}, "");
  }
}

}  // namespace skdsl::lint::rules_impl
