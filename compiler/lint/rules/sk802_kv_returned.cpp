// A phase that gives a state back as a result. It is written in place; as a result of a graph it is copied or
// keeps its memory from being reused.
#include "compiler/lint/data_flow.h"
#include "compiler/lint/edit.h"

namespace skdsl::lint::rules_impl {

namespace {

/// The last `return` below a node, or None.
ast::NodeId last_return(const Context& c, ast::NodeId node) {
  if (c.ast().kind(node) == ast::Kind::Return) return node;
  ast::NodeId found = 0;
  for (const ast::NodeId child : c.ast().children(node))
    if (const ast::NodeId r = child ? last_return(c, child) : 0) found = r;
  return found;
}

/// Where a phase gives its results: the op itself stands for the whole phase.
Span place(const Context& c, plan::OpId id) {
  const Span phase = c.span(c.op(id).loc);
  const ast::NodeId node = node_at(c, phase, ast::Kind::PhaseDecl);
  const ast::NodeId last = node ? last_return(c, node) : 0;
  return last ? c.ast().span(last) : c.place(id);
}

}  // namespace

void sk802_kv_returned(const Context& c, Report& report) {
  if (c.function->name == "main" || c.eager()) return;
  for (const plan::OpId id : c.order->ops()) {
    if (c.op(id).code != Opcode::Return) continue;
    for (const plan::ValueId v : c.op(id).operands) {
      const plan::OpId made = source(c, v);
      if (made == plan::kNone || c.op(made).code != Opcode::State) continue;
      report.at(place(c, id), std::get<std::string>(c.op(made).attrs[0]))
          .help("leave it out of `return`; the next step finds it where it is");
    }
  }
}

}  // namespace skdsl::lint::rules_impl
