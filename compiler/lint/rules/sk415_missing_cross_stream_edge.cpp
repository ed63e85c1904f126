// An operator of a captured decode that reads what another stream makes, and no event between: it may read
// before the value is there. The capture itself refuses it with the same words.
#include "compiler/lint/streams.h"

namespace skdsl::lint::rules_impl {

void sk415_missing_cross_stream_edge(const Context& c, Report& report) {
  if (!c.npugraph_ex() || !c.decode()) return;
  MissingEvents missing(*c.order);
  const auto stream = [&](plan::OpId id) { return c.order->streams()[c.order->stream(id)]; };
  for (const plan::OpId id : c.order->ops()) {
    if (!c.order->is_task(id) && c.op(id).code != Opcode::Tap) continue;
    for (const plan::ValueId v : c.op(id).operands) {
      const plan::OpId made = c.order->producer(v);
      if (made == plan::kNone || !c.order->is_task(made) || info(c.op(made).code).has(kInPlace)) continue;
      if (is_folded(c, made) || !missing.add({made, id})) continue;
      auto finding =
          report.at(id, info(c.op(id).code).name, stream(id), info(c.op(made).code).name, stream(made));
      finding.note(c.place(made), "what it needs is made here")
          .help(fmt::format(
              "declare `event e`, write `record e` behind the op on stream `{}` and `wait e` before the one "
              "on stream `{}`; only ge_graph makes events by itself",
              stream(made), stream(id)));
      insert_event(c, {made, id}, finding);
    }
  }
}

}  // namespace skdsl::lint::rules_impl
