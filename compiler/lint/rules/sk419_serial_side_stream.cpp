// A side stream that needs what is before it and is awaited at once: nothing runs beside it, and the switch
// costs time.
#include <algorithm>
#include <set>

#include "compiler/lint/edit.h"

namespace skdsl::lint::rules_impl {

void sk419_serial_side_stream(const Context& c, Report& report) {
  if (!c.graph()) return;
  const auto& ops = c.order->ops();
  const auto works = [&](plan::OpId id) { return c.order->is_task(id) || c.op(id).code == Opcode::Prefetch; };
  for (uint32_t s = 1; s < c.order->streams().size(); ++s) {
    std::set<const plan::Context*> blocks;
    bool overlaps = false, cheap = true, others = false;
    for (const plan::OpId id : ops) {
      if (!works(id)) continue;
      if (c.order->stream(id) != s) {
        others = true;
        continue;
      }
      blocks.insert(c.around(id, plan::Context::Kind::Stream));
      const OpInfo& row = info(c.op(id).code);
      cheap &= row.category == "elementwise" || row.category == "layout";
      overlaps |= row.category == "schedule" || std::any_of(ops.begin(), ops.end(), [&](plan::OpId other) {
                    return c.order->stream(other) != s && works(other) && c.order->concurrent(id, other);
                  });
      if (overlaps) break;
    }
    // Cheap ones have a rule of their own, and a race is no order.
    if (overlaps || blocks.empty() || cheap || !others) continue;
    for (const plan::Context* block : blocks) {
      auto finding = report.at(block->loc, c.order->streams()[s]);
      finding.help("put independent work between its begin and the wait, or leave it on the main stream");
      unwrap(c, node_at(c, c.span(block->loc), ast::Kind::Stream), finding);
    }
  }
}

}  // namespace skdsl::lint::rules_impl
