// A prefetch of a weight that nobody reads behind it: bandwidth for nothing.
#include "compiler/lint/edit.h"

namespace skdsl::lint::rules_impl {

void sk714_prefetch_never_used(const Context& c, Report& report) {
  if (!c.decode()) return;
  for (const plan::OpId id : c.order->ops()) {
    const plan::Op& op = c.op(id);
    if (op.code != Opcode::Prefetch) continue;
    // A weight, or all weights of an instance.
    const std::string& target = std::get<std::string>(op.attrs[0]);
    bool used = false;
    for (const plan::OpId reader : c.order->ops()) {
      if (!c.order->is_task(reader) || c.order->position(reader) < c.order->position(id)) continue;
      for (const plan::ValueId v : c.op(reader).operands) {
        const std::string_view path = c.weight_path(v);
        used |= path == target ||
                (path.starts_with(target) && path.size() > target.size() && path[target.size()] == '.');
      }
      if (used) break;
    }
    if (used) continue;
    auto finding = report.at(id, target);
    finding.help("take it away, or name the weight that is needed next");
    remove_statement(c, statement_at(c, c.span(op.loc)), finding);
  }
}

}  // namespace skdsl::lint::rules_impl
