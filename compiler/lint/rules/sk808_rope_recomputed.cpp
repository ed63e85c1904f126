// The rotary tables computed in a phase: they depend on nothing that a step brings.
#include "compiler/lint/rule.h"

namespace skdsl::lint::rules_impl {

void sk808_rope_recomputed(const Context& c, Report& report) {
  if (!c.decode()) return;
  for (const plan::OpId id : c.order->ops()) {
    if (c.op(id).code != Opcode::RopeTable) continue;
    const plan::Type& table = c.function->values[c.op(id).results[0]].type;
    report.at(id, c.program->text(table.dims[0]))
        .help("write `const cos, sin = rope_table(…)` in the layer, and select rows by `step.position_ids`");
  }
}

}  // namespace skdsl::lint::rules_impl
