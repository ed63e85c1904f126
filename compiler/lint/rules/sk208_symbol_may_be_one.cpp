// A size that is 1 in one call and more in another: symbols begin at 2, so that the call with 1 is compiled
// by itself.
#include <set>

#include "compiler/lint/script_calls.h"

namespace skdsl::lint::rules_impl {

void sk208_symbol_may_be_one(const Context& c, Report& report) {
  if (!c.npugraph_ex() || !c.run->flag("npugraph_ex.dynamic")) return;
  const std::vector<DecodeCall> calls = decode_calls(c);
  std::set<std::string> told;
  for (const DecodeCall& small : calls)
    for (const DecodeCall& large : calls) {
      // Gears pad the rows before the graph sees them.
      if (!comparable(small, large) || small.gears || told.contains(small.decode)) continue;
      for (size_t i = 0; i < small.sizes.size(); ++i) {
        if (small.sizes[i] != 0 && small.sizes[i] != 1) continue;
        if (large.sizes[i] < 2) continue;
        told.insert(small.decode);
        report.at(small.op, small.names[i], small.sizes[i])
            .note(c.place(large.op), fmt::format("`{}` is {} here", large.names[i], large.sizes[i]))
            .help("pad it to 2 (`gears [2, …]`), or count with one graph more");
        break;
      }
    }
}

}  // namespace skdsl::lint::rules_impl
