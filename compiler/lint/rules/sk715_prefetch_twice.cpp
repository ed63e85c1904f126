// One weight prefetched twice before its use: the second one finds it in L2 and takes bandwidth all the same.
#include "compiler/lint/data_flow.h"
#include "compiler/lint/edit.h"

namespace skdsl::lint::rules_impl {

void sk715_prefetch_twice(const Context& c, Report& report) {
  if (!c.graph()) return;
  const std::vector<PrefetchUse> all = prefetches(c);
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t k = i; k-- > 0;) {
      const bool covers = all[k].target == all[i].target || all[i].target.starts_with(all[k].target + ".");
      if (!covers || all[k].use != all[i].use || all[i].use == plan::kNone) continue;
      auto finding = report.at(all[i].prefetch, all[i].target);
      finding.note(c.place(all[k].prefetch), "the first one is here").help("keep one of them");
      remove_statement(c, statement_at(c, c.span(c.op(all[i].prefetch).loc)), finding);
      break;
    }
}

}  // namespace skdsl::lint::rules_impl
