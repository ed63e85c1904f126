// A prefetch that runs beside nothing but matrix products of few rows and collectives: they read weights
// themselves, so bandwidth is taken from the one to give it to the other.
#include <set>

#include "compiler/lint/data_flow.h"

namespace skdsl::lint::rules_impl {

void sk707_prefetch_poor_window(const Context& c, Report& report) {
  if (!c.graph()) return;
  for (const PrefetchUse& p : prefetches(c)) {
    if (p.start == plan::kNone || p.use == plan::kNone) continue;
    std::set<std::string_view> window;
    bool good = false;
    for (uint32_t i = c.order->position(p.start) + 1; i < c.order->position(p.use); ++i) {
      const plan::OpId id = c.order->ops()[i];
      if (!c.order->is_task(id) || c.order->stream(id) != c.order->stream(p.use)) continue;
      const OpInfo& row = info(c.op(id).code);
      // Attention with a short cache computes more than it reads.
      const bool hungry = row.core == Core::Aic || row.has(kCollective);
      good |= !hungry;
      window.insert(row.name);
    }
    if (good || window.empty()) continue;
    report.at(p.prefetch, p.target, fmt::format("`{}`", fmt::join(window, "` and `")))
        .help("start it where vector operators or attention follow");
  }
}

}  // namespace skdsl::lint::rules_impl
