// A phase that gives a state back as a result. It is written in place; as a result of a graph it is copied or
// keeps its memory from being reused.
#include "compiler/lint/data_flow.h"

namespace skdsl::lint::rules_impl {

void sk802_kv_returned(const Context& c, Report& report) {
  if (c.function->name == "main" || c.eager()) return;
  for (const plan::OpId id : c.order->ops()) {
    if (c.op(id).code != Opcode::Return) continue;
    for (const plan::ValueId v : c.op(id).operands) {
      const plan::OpId made = source(c, v);
      if (made == plan::kNone || c.op(made).code != Opcode::State) continue;
      report.at(id, std::get<std::string>(c.op(made).attrs[0]))
          .help("leave it out of `return`; the next step finds it where it is");
    }
  }
}

}  // namespace skdsl::lint::rules_impl
