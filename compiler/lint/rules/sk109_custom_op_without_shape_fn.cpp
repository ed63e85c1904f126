// An operator of the user's own without a result type: tracing a graph needs its shape and dtype before it
// has ever run.
#include "compiler/lint/rule.h"

namespace skdsl::lint::rules_impl {

void sk109_custom_op_without_shape_fn(const Context& c, Report& report) {
  const ast::Ast& a = c.ast();
  for (const ast::NodeId node : a.children(a.root)) {
    if (!node || a.kind(node) != ast::Kind::Extern || a.child(node, 1)) continue;
    auto finding = report.at(a.name_span(node), a.text(node));
    finding.help("write the type of its result behind the parameters: `-> f32[T, 64]`");
    // Of an operator on one tensor the likely result is such a tensor.
    const ast::NodeId params = a.child(node, 0);
    if (!params || a.children(params).empty()) continue;
    const ast::NodeId type = a.child(a.children(params).front(), 0);
    if (!type || a.kind(type) != ast::Kind::TypeTensor) continue;
    const Span whole = a.span(node);
    finding.fix({whole.file, whole.end, whole.end}, fmt::format(" -> {}", c.sources.text(a.span(type))));
  }
}

}  // namespace skdsl::lint::rules_impl
