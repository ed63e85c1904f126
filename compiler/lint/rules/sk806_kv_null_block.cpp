// Slots written as numbers that lie in block 0, for a cache whose blocks the runtime gives out: block 0 is
// where rows go that count for nothing.
#include "compiler/lint/data_flow.h"

namespace skdsl::lint::rules_impl {

namespace {

std::string state_of(const Context& c, plan::ValueId v) {
  const plan::OpId made = v == plan::kNone ? plan::kNone : source(c, v);
  return made != plan::kNone && c.op(made).code == Opcode::State ? std::get<std::string>(c.op(made).attrs[0])
                                                                 : "";
}

}  // namespace

void sk806_kv_null_block(const Context& c, Report& report) {
  if (c.function->phase == plan::Phase::None) return;
  for (const plan::OpId id : c.order->ops()) {
    const plan::Op& op = c.op(id);
    if (op.code != Opcode::ScatterUpdate) continue;
    const auto slots = literal(c, op.operands[1]);
    const std::string cache = state_of(c, op.operands[0]);
    if (!slots || cache.empty()) continue;
    const plan::Type& type = c.function->values[op.operands[0]].type;
    if (type.rank() < 2 || !type.dims[1].is_constant()) continue;
    // Only a cache that is read through a table of the step has a null block.
    bool paged = false;
    for (const plan::OpId reader : c.order->ops()) {
      const plan::Op& r = c.op(reader);
      paged |= r.code == Opcode::FusedInferAttentionScore && r.operands[5] != plan::kNone &&
               (state_of(c, r.operands[1]) == cache || state_of(c, r.operands[2]) == cache) &&
               parameter(c, r.operands[5]) == "step.block_table";
    }
    if (!paged) continue;
    for (const int64_t slot : *slots)
      if (slot >= 0 && slot < type.dims[1].constant()) {
        report.at(id, slot).help("write through `step.slot_mapping`; -1 writes nothing");
        break;
      }
  }
}

}  // namespace skdsl::lint::rules_impl
