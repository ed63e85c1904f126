// scope_begin a, scope_begin b, scope_end a, scope_end b: pairing goes by name and is accepted, but what
// stands between belongs to two ranges.
#include "compiler/lint/edit.h"

namespace skdsl::lint::rules_impl {

namespace {
/// The place of the name of a scope_begin or scope_end in the linted file.
Span name_of(const Context& c, plan::OpId id) {
  const ast::NodeId node = node_at(c, c.span(c.op(id).loc), ast::Kind::ScopeEnd);
  return node ? c.ast().span(c.ast().child(node, 0)) : Span{};
}
}  // namespace

void sk318_superkernel_interleaved(const Context& c, Report& report) {
  if (!c.graph()) return;
  struct Open {
    std::string name;
    plan::OpId op;
  };
  std::vector<Open> open;
  for (const plan::OpId id : c.order->ops()) {
    const plan::Op& op = c.op(id);
    if (op.code != Opcode::ScopeBegin && op.code != Opcode::ScopeEnd) continue;
    const auto& name = std::get<std::string>(op.attrs[0]);
    if (op.code == Opcode::ScopeBegin) {
      open.push_back({name, id});
      continue;
    }
    auto it = open.end();
    while (it != open.begin() && (it - 1)->name != name) --it;
    if (it == open.begin()) continue;  // never opened: another rule
    const Open begun = *(it - 1);
    if (it != open.end()) {
      const Open& inner = open.back();
      auto finding = report.at(id, name, inner.name);
      finding.note(c.place(begun.op), fmt::format("`{}` begins here", begun.name))
          .note(c.place(inner.op), fmt::format("`{}` begins here and is still open", inner.name))
          .help("end the inner scope first, or let one begin where the other ends");
      // Where both ends are written, their names change places.
      for (const plan::OpId other : c.order->ops()) {
        if (c.op(other).code != Opcode::ScopeEnd || c.order->position(other) < c.order->position(id))
          continue;
        if (std::get<std::string>(c.op(other).attrs[0]) != inner.name) continue;
        const Span mine = name_of(c, id), theirs = name_of(c, other);
        if (mine && theirs)
          finding.fix(mine, std::string(c.sources.text(theirs)))
              .fix(theirs, std::string(c.sources.text(mine)));
        break;
      }
    }
    open.erase(it - 1);
  }
}

}  // namespace skdsl::lint::rules_impl
