// Sends and receives in a captured decode before CANN 8.6: the capture logs an error and goes on without
// them.
#include "compiler/lint/release.h"
#include "compiler/lint/rule.h"

namespace skdsl::lint::rules_impl {

void sk604_send_recv_cann(const Context& c, Report& report) {
  if (!c.npugraph_ex() || !c.decode()) return;
  const std::string cann = c.run->text("target.cann");
  if (!older(cann, 8, 6)) return;
  for (const plan::OpId id : c.order->ops())
    if (c.op(id).code == Opcode::Send || c.op(id).code == Opcode::Recv)
      report.at(id, info(c.op(id).code).name, cann)
          .help("set target.cann to 8.6 or later, or move the transfer out of the decode");
}

}  // namespace skdsl::lint::rules_impl
