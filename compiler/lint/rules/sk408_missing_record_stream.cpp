// A value made on one stream and read on another: the allocator knows only the first, and gives the memory to
// the next op there while the other stream still reads. `record_stream(x, "s")` tells it; a join before the
// next allocation makes it unnecessary.
#include <algorithm>

#include "compiler/lint/edit.h"

namespace skdsl::lint::rules_impl {

namespace {

/// The memory of what `made` made may be given away on its stream while `reader` runs.
bool may_be_reused(const Context& c, plan::OpId made, plan::OpId reader) {
  const plan::OpOrder& order = *c.order;
  const uint32_t home = order.stream(made);
  uint32_t last = order.position(made);
  for (const plan::OpId r : order.readers(made))
    if (order.stream(r) == home) last = std::max(last, order.position(r));
  for (size_t i = last + 1; i < order.ops().size(); ++i) {
    const plan::OpId next = order.ops()[i];
    if (order.stream(next) == home && order.is_task(next) && !order.before(reader, next)) return true;
  }
  return false;
}

bool is_kept(const Context& c, plan::OpId made, uint32_t stream) {
  const auto& readers = c.order->readers(made);
  return std::any_of(readers.begin(), readers.end(), [&](plan::OpId r) {
    return c.op(r).code == Opcode::RecordStream &&
           std::get<std::string>(c.op(r).attrs[0]) == c.order->streams()[stream];
  });
}

}  // namespace

void sk408_missing_record_stream(const Context& c, Report& report) {
  if (c.ge_graph() || !c.decode()) return;
  const plan::OpOrder& order = *c.order;
  for (const plan::OpId reader : order.ops()) {
    if (!order.is_task(reader)) continue;
    for (const plan::ValueId v : c.op(reader).operands) {
      const plan::OpId made = order.producer(v);
      if (made == plan::kNone || !order.is_task(made) || order.stream(made) == order.stream(reader)) continue;
      if (info(c.op(made).code).has(kInPlace)) continue;  // a state stays where it is
      if (!order.before(made, reader)) continue;          // a race, whoever keeps the memory
      if (is_kept(c, made, order.stream(reader)) || !may_be_reused(c, made, reader)) continue;
      const std::string& to = order.streams()[order.stream(reader)];
      const std::string_view name = c.written_name(made);
      auto finding = report.at(reader, name.empty() ? c.describe(made) : fmt::format("`{}`", name), to,
                               order.streams()[order.stream(made)]);
      finding.note(c.place(made), "it is made here");
      finding.help(
          fmt::format("write `record_stream({}, \"{}\")` behind the use", name.empty() ? "x" : name, to));
      const ast::NodeId statement = statement_at(c, c.place(reader));
      const bool written = !name.empty() && statement &&
                           c.sources.text(c.ast().span(statement)).find(name) != std::string_view::npos;
      if (written) insert_behind(c, statement, fmt::format("record_stream({}, \"{}\")", name, to), finding);
    }
  }
}

}  // namespace skdsl::lint::rules_impl
