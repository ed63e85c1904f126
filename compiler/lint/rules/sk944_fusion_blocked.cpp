// A norm and the quantisation or cast that alone reads it, on two streams: the pattern that makes one kernel
// of them does not look across streams.
#include "compiler/lint/rule.h"

namespace skdsl::lint::rules_impl {

void sk944_fusion_blocked(const Context& c, Report& report) {
  if (!c.graph() || c.order->streams().size() < 2) return;
  for (const plan::OpId id : c.order->ops()) {
    const plan::Op& op = c.op(id);
    const bool cast = op.code == Opcode::Cast;
    if (op.code != Opcode::DynamicQuant && !cast) continue;
    const plan::OpId norm = c.order->producer(op.operands[0]);
    if (norm == plan::kNone) continue;
    const Opcode code = c.op(norm).code;
    if (code != Opcode::AddRmsNorm && (cast || code != Opcode::RmsNorm)) continue;
    const uint32_t there = c.order->stream(norm), here = c.order->stream(id);
    if (there == here) continue;
    size_t readers = 0;
    for (const plan::OpId reader : c.order->readers(norm))
      if (c.order->is_task(reader))
        for (const plan::ValueId v : c.op(reader).operands)
          readers += v != plan::kNone && v == op.operands[0];
    if (readers != 1) continue;
    report.at(id, info(code).name, info(op.code).name, c.order->streams()[there], c.order->streams()[here])
        .note(c.place(norm), "the norm is here")
        .help("move the norm into the block too");
  }
}

}  // namespace skdsl::lint::rules_impl
