// A collective that gives each rank a part of axis 0, which the ranks do not divide.
#include "compiler/lint/rule.h"

namespace skdsl::lint::rules_impl {

void sk608_collective_group_size(const Context& c, Report& report) {
  const int64_t ranks = std::max(c.builtins->world_size, c.run->integer("parallel_config.world_size"));
  if (ranks < 2) return;
  for (const plan::OpId id : c.order->ops()) {
    const plan::Op& op = c.op(id);
    if (op.code != Opcode::ReduceScatter && op.code != Opcode::AllToAll) continue;
    if (std::get<std::string>(op.attrs[0]) != "world") continue;
    const plan::Type& x = c.function->values[op.operands[0]].type;
    if (x.rank() == 0 || !x.dims[0].is_constant() || x.dims[0].constant() % ranks == 0) continue;
    report.at(id, info(op.code).name, x.dims[0].constant(), ranks)
        .note(fmt::format("parallel_config.world_size = {}", ranks))
        .help(fmt::format("pad axis 0 to {}", (x.dims[0].constant() / ranks + 1) * ranks));
  }
}

}  // namespace skdsl::lint::rules_impl
