// An event declared inside of a loop: each round makes another one. Events and streams are few on a device
// and made once.
#include "compiler/lint/edit.h"

namespace skdsl::lint::rules_impl {

namespace {

using ast::Kind;

void walk(const Context& c, ast::NodeId node, ast::NodeId loop, Report& report) {
  const ast::Ast& a = c.ast();
  if (a.kind(node) == Kind::Event && loop) {
    auto finding = report.at(a.span(node), a.text(node));
    finding.help("declare it before the loop: it can be recorded again in each round");
    remove_statement(c, node, finding);
    const Span s = a.span(loop);
    finding.fix({s.file, s.begin, s.begin}, fmt::format("event {}\n{}", a.text(node), indent_of(c, s)));
  }
  const bool loops = a.kind(node) == Kind::For || a.kind(node) == Kind::While;
  // The body of a function has its own loops.
  const bool body = a.kind(node) == Kind::Fn || a.kind(node) == Kind::PhaseDecl;
  for (const ast::NodeId child : a.children(node))
    if (child) walk(c, child, body ? 0 : loops && !loop ? node : loop, report);
}

}  // namespace

void sk113_resource_created_in_phase(const Context& c, Report& report) { walk(c, c.ast().root, 0, report); }

}  // namespace skdsl::lint::rules_impl
