#include "compiler/lint/gear_list.h"

#include "compiler/lint/edit.h"

namespace skdsl::lint {

std::vector<GearList> gear_lists(const Context& c) {
  std::vector<GearList> out;
  for (const plan::OpId id : c.order->ops()) {
    const plan::Op& op = c.op(id);
    if (op.code != Opcode::Gears) continue;
    GearList gears{id, {}, 0};
    for (const plan::Dim& d : std::get<std::vector<plan::Dim>>(op.attrs[0]))
      gears.sizes.push_back(d.constant());
    if (const ast::NodeId statement = node_at(c, c.span(op.loc), ast::Kind::Gears))
      gears.written = c.ast().child(statement, 0);
    out.push_back(std::move(gears));
  }
  return out;
}

void write_gears(const Context& c, const GearList& gears, const std::vector<int64_t>& sizes,
                 diag::Engine::Builder& report) {
  if (gears.written && !sizes.empty())
    report.fix(c.ast().span(gears.written), fmt::format("[{}]", fmt::join(sizes, ", ")));
}

}  // namespace skdsl::lint
