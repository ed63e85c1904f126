// A stream block with nothing but prefetches. Each mode gives prefetches the stream that they need; a second
// one costs a switch and its events.
#include "compiler/lint/edit.h"

namespace skdsl::lint::rules_impl {

namespace {

void walk(const Context& c, ast::NodeId node, Report& report) {
  const ast::Ast& a = c.ast();
  if (a.kind(node) == ast::Kind::Stream) {
    bool prefetches = false, plain = true, others = false;
    for (const ast::NodeId statement : a.children(a.children(node).back())) {
      const ast::Kind kind = a.kind(statement);
      prefetches |= kind == ast::Kind::Prefetch;
      plain &= kind == ast::Kind::Prefetch;
      others |= kind != ast::Kind::Prefetch && kind != ast::Kind::Record && kind != ast::Kind::Wait;
    }
    if (prefetches && !others) {
      const Span s = a.span(node);
      auto finding = report.at(Span{s.file, s.begin, s.begin + 6});
      finding.help("write the prefetches without the block and its events; `after` says when they start");
      if (plain) unwrap(c, node, finding);
    }
  }
  for (const ast::NodeId child : a.children(node))
    if (child) walk(c, child, report);
}

}  // namespace

void sk709_prefetch_manual_stream(const Context& c, Report& report) { walk(c, c.ast().root, report); }

}  // namespace skdsl::lint::rules_impl
