// A collective under a condition or in a loop that values decide: a rank with other values does not come, and
// the others wait for it.
#include "compiler/lint/rule.h"

namespace skdsl::lint::rules_impl {

void sk607_rank_dependent_collective(const Context& c, Report& report) {
  for (const plan::OpId outer : c.order->ops()) {
    const plan::Op& op = c.op(outer);
    if (op.regions.empty()) continue;
    // Both ways may hold the same collectives in the same order; then every rank comes.
    const auto collectives = [&](plan::RegionId region) {
      std::vector<plan::OpId> out;
      for (const plan::OpId id : c.function->regions[region].ops)
        if (info(c.op(id).code).has(kCollective)) out.push_back(id);
      return out;
    };
    const auto first = collectives(op.regions.front()), last = collectives(op.regions.back());
    const auto same = [&](plan::OpId a, plan::OpId b) { return c.op(a).code == c.op(b).code; };
    if (op.code == Opcode::If && op.regions.size() == 2 &&
        std::equal(first.begin(), first.end(), last.begin(), last.end(), same))
      continue;
    for (const auto& list : {first, last})
      for (const plan::OpId id : list)
        report.at(id, info(c.op(id).code).name)
            .note(c.span(op.loc), "the condition is here")
            .help("call it on every rank, and choose its result with `where`");
  }
}

}  // namespace skdsl::lint::rules_impl
