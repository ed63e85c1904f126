// More prefetched bytes than L2 keeps until they are used: the later ones push out the earlier ones.
#include <set>

#include "compiler/lint/data_flow.h"
#include "compiler/lint/edit.h"

namespace skdsl::lint::rules_impl {

void sk712_prefetch_l2_pressure(const Context& c, Report& report) {
  if (!c.graph()) return;
  const int64_t share = c.chip.l2_bytes / 2;  // the running kernels have the other half
  const std::vector<PrefetchUse> all = prefetches(c);
  const auto at = [&](plan::OpId id) { return id == plan::kNone ? 0 : c.order->position(id); };
  for (size_t i = 0; i < all.size(); ++i) {
    const PrefetchUse& p = all[i];
    if (p.pulled < 0 || p.use == plan::kNone) continue;
    int64_t waiting = 0;
    std::set<std::string> seen;
    for (size_t k = 0; k <= i; ++k)
      if (all[k].pulled > 0 && all[k].use != plan::kNone && at(all[k].use) > at(p.start) &&
          seen.insert(all[k].target).second)
        waiting += all[k].pulled;
    if (waiting <= share) continue;
    const int64_t left = share - (waiting - p.pulled);
    auto finding = report.at(p.prefetch, p.target, waiting >> 20, c.chip.name, share >> 20);
    for (size_t k = 0; k < i; ++k)
      if (all[k].use != plan::kNone && at(all[k].use) > at(p.start))
        finding.note(c.place(all[k].prefetch), fmt::format("`{}` waits too", all[k].target));
    finding.help("start later, or pull less of each");
    const ast::NodeId node = node_at(c, c.span(c.op(p.prefetch).loc), ast::Kind::Prefetch);
    if (!node || left < (1 << 20)) continue;
    const std::string most = fmt::format("{}MiB", left >> 20);
    if (const ast::NodeId limit = c.ast().child(node, 2)) {
      finding.fix(c.ast().span(limit), most);
    } else {
      const Span after = c.ast().span(c.ast().child(node, 1));
      finding.fix({after.file, after.end, after.end}, " max " + most);
    }
  }
}

}  // namespace skdsl::lint::rules_impl
