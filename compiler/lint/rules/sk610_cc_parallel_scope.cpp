// GE's option that runs all-reduces beside computation, for a decode without one.
#include "compiler/lint/rule.h"

namespace skdsl::lint::rules_impl {

void sk610_cc_parallel_scope(const Context& c, Report& report) {
  if (!c.ge_graph() || !c.decode() || !c.run->flag("ge.experimental_config.cc_parallel_enable")) return;
  for (const plan::OpId id : c.order->ops())
    if (c.op(id).code == Opcode::AllReduce) return;
  report.at(c.function->loc, c.function->name).help("leave ge.experimental_config.cc_parallel_enable out");
}

}  // namespace skdsl::lint::rules_impl
