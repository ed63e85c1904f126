// A side stream with nothing but casts, copies and elementwise operators: GE may pull them back to the main
// stream, and the switch costs more than they take.
#include <set>

#include "compiler/lint/edit.h"

namespace skdsl::lint::rules_impl {

namespace {
bool is_cheap(const OpInfo& row) { return row.category == "elementwise" || row.category == "layout"; }
}  // namespace

void sk418_cheap_side_stream(const Context& c, Report& report) {
  if (!c.graph()) return;
  // Blocks of one name are one stream.
  for (uint32_t s = 1; s < c.order->streams().size(); ++s) {
    std::set<std::string_view> names;
    std::set<const plan::Context*> blocks;
    bool cheap = true;
    for (const plan::OpId id : c.order->ops()) {
      if (c.order->stream(id) != s || !c.order->is_task(id)) continue;
      const OpInfo& row = info(c.op(id).code);
      cheap &= is_cheap(row);
      names.insert(row.name);
      blocks.insert(c.around(id, plan::Context::Kind::Stream));
    }
    if (!cheap || names.empty()) continue;
    for (const plan::Context* block : blocks) {
      auto finding = report.at(block->loc, c.order->streams()[s], fmt::join(names, ", "));
      finding.help("leave them on the main stream");
      unwrap(c, node_at(c, c.span(block->loc), ast::Kind::Stream), finding);
    }
  }
}

}  // namespace skdsl::lint::rules_impl
