// A prefetch for operators that read their weight in passing: norms, rotary tables, gatings. They are what
// windows are made of.
#include <set>

#include "compiler/lint/data_flow.h"
#include "compiler/lint/edit.h"

namespace skdsl::lint::rules_impl {

void sk706_prefetch_useless_target(const Context& c, Report& report) {
  if (!c.graph()) return;
  for (const PrefetchUse& p : prefetches(c)) {
    if (p.use == plan::kNone || is_matrix(info(c.op(p.use).code))) continue;
    std::set<std::string_view> users;
    bool matrix = false;
    for (const plan::OpId id : c.order->ops()) {
      if (!c.order->is_task(id)) continue;
      for (const plan::ValueId v : c.op(id).operands) {
        if (v == plan::kNone) continue;
        const std::string_view path = c.weight_path(v);
        if (path.empty() || (path != p.target && !path.starts_with(p.target + "."))) continue;
        const OpInfo& row = info(c.op(id).code);
        // What only moves elements may move them for a product.
        matrix |= is_matrix(row) || row.has(kLayout);
        users.insert(row.name);
      }
    }
    if (matrix || users.empty()) continue;
    auto finding = report.at(p.prefetch, p.target, fmt::format("`{}`", fmt::join(users, "` and `")));
    finding.help("take it away");
    remove_statement(c, statement_at(c, c.span(c.op(p.prefetch).loc)), finding);
  }
}

}  // namespace skdsl::lint::rules_impl
