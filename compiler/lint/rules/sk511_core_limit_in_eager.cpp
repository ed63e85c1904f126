// `cores` in the body of a prefill, which always runs eager: there the limit is a setting of a stream, not a
// block.
#include "compiler/lint/edit.h"

namespace skdsl::lint::rules_impl {

namespace {

void walk(const Context& c, ast::NodeId node, bool prefill, Report& report) {
  const ast::Ast& a = c.ast();
  if (a.kind(node) == ast::Kind::PhaseDecl) prefill = a.text(node) == "prefill";
  if (prefill && a.kind(node) == ast::Kind::Cores) {
    const Span s = a.span(node);
    auto finding = report.at(Span{s.file, s.begin, s.begin + 5});
    finding.help("take the block away, or write it in the decode");
    unwrap(c, node, finding);
  }
  for (const ast::NodeId child : a.children(node))
    if (child) walk(c, child, prefill, report);
}

}  // namespace

void sk511_core_limit_in_eager(const Context& c, Report& report) { walk(c, c.ast().root, false, report); }

}  // namespace skdsl::lint::rules_impl
