// An event that a body declares twice: a wait between the two belongs to another event than the record behind
// them.
#include <map>

#include "compiler/lint/edit.h"

namespace skdsl::lint::rules_impl {

namespace {

using ast::Kind;
using Declared = std::map<std::string_view, ast::NodeId>;

void walk(const Context& c, ast::NodeId node, Declared& declared, Report& report) {
  const ast::Ast& a = c.ast();
  if (a.kind(node) == Kind::Event) {
    const auto [it, fresh] = declared.emplace(a.text(node), node);
    if (fresh) return;
    auto finding = report.at(a.span(node), a.text(node));
    finding.note(a.span(it->second), "it is declared here already")
        .help("give it another name, or take the line away: an event can be recorded again");
    remove_statement(c, node, finding);
    return;
  }
  // A name of one branch is not the same name in the other; a body begins anew.
  const bool body = a.kind(node) == Kind::Fn || a.kind(node) == Kind::PhaseDecl;
  if (body || a.kind(node) == Kind::If) {
    for (const ast::NodeId child : a.children(node))
      if (child) {
        Declared inner = body ? Declared() : declared;
        walk(c, child, inner, report);
      }
    return;
  }
  for (const ast::NodeId child : a.children(node))
    if (child) walk(c, child, declared, report);
}

}  // namespace

void sk403_event_tag_invalid(const Context& c, Report& report) {
  Declared top;
  walk(c, c.ast().root, top, report);
}

}  // namespace skdsl::lint::rules_impl
