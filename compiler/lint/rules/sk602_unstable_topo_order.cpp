// Collectives of one group that no data orders, in a GE graph whose sorting is not stable: each rank compiles
// its own order, and ranks that start different ones wait for each other for ever.
#include "compiler/lint/data_flow.h"

namespace skdsl::lint::rules_impl {

namespace {

std::string group(const plan::Op& op) {
  // Sends and receives have no group argument; all of them are one.
  const auto* text = op.attrs.empty() ? nullptr : std::get_if<std::string>(&op.attrs[0]);
  return text ? *text : "world";
}

}  // namespace

void sk602_unstable_topo_order(const Context& c, Report& report) {
  if (!c.ge_graph() || !c.decode()) return;
  const std::string order = c.run->text("ge.experimental_config.topology_sorting_strategy");
  if (order == "StableRDFS" || c.run->text("ge.ge_config.oo_level") == "O1") return;
  std::vector<plan::OpId> all;
  for (const plan::OpId id : c.order->ops())
    if (info(c.op(id).code).has(kCollective)) all.push_back(id);
  const auto ordered = [&](plan::OpId a, plan::OpId b) {
    if (depends(c, b, a)) return true;
    // wait_tensor(x, y): what makes x runs behind what makes y.
    for (const plan::OpId w : c.order->ops())
      if (c.op(w).code == Opcode::WaitTensor) {
        const plan::OpId x = c.order->producer(c.op(w).operands[0]),
                         y = c.order->producer(c.op(w).operands[1]);
        if (x != plan::kNone && y != plan::kNone && (x == b || depends(c, b, x)) &&
            (y == a || depends(c, y, a)))
          return true;
      }
    return false;
  };
  for (size_t i = 0; i + 1 < all.size(); ++i) {
    const plan::OpId a = all[i];
    const auto next = std::find_if(all.begin() + static_cast<std::ptrdiff_t>(i) + 1, all.end(),
                                   [&](plan::OpId b) { return group(c.op(b)) == group(c.op(a)); });
    if (next == all.end() || ordered(a, *next)) continue;
    report.at(*next, c.describe(a), c.describe(*next), group(c.op(a)), order)
        .note(c.span(c.op(a).loc), "the other one is here")
        .help(
            "set ge.experimental_config.topology_sorting_strategy to StableRDFS, or let one read the other");
  }
}

}  // namespace skdsl::lint::rules_impl
