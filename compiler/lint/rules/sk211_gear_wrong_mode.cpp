// Gears in ge_graph: its graph has the one batch that it was compiled for, nothing is padded to a gear.
#include "compiler/lint/edit.h"
#include "compiler/lint/gear_list.h"

namespace skdsl::lint::rules_impl {

void sk211_gear_wrong_mode(const Context& c, Report& report) {
  if (!c.ge_graph() || !c.decode()) return;
  for (const GearList& gears : gear_lists(c)) {
    auto finding = report.at(gears.op);
    finding.help(
        "let them stand in npugraph_ex only; a run config pads ge_graph with `scheduler_config.batch_size`");
    put_under(c, statement_at(c, c.span(c.op(gears.op).loc)), "exe_mode == \"npugraph_ex\"", finding);
  }
}

}  // namespace skdsl::lint::rules_impl
