// A gear of one row: symbols begin at 2, so that the graph for it is compiled by itself.
#include <algorithm>

#include "compiler/lint/gear_list.h"

namespace skdsl::lint::rules_impl {

void sk210_gear_contains_one(const Context& c, Report& report) {
  if (!c.npugraph_ex() || !c.decode() || !c.run->flag("npugraph_ex.dynamic")) return;
  for (const GearList& gears : gear_lists(c)) {
    if (gears.sizes.size() < 2 || std::find(gears.sizes.begin(), gears.sizes.end(), 1) == gears.sizes.end())
      continue;
    std::vector<int64_t> others;
    for (const int64_t size : gears.sizes)
      if (size != 1) others.push_back(size);
    auto finding = report.at(gears.op);
    finding.help(fmt::format("leave it out: one row is padded to {}",
                             others.empty() ? 2 : *std::min_element(others.begin(), others.end())));
    write_gears(c, gears, others, finding);
  }
}

}  // namespace skdsl::lint::rules_impl
