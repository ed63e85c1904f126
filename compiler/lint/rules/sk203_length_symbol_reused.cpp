// A length that an attention takes from a host list and that host code reads too: it joins the key of the
// graph, and every value is another capture.
#include <set>

#include "compiler/lint/host_lists.h"

namespace skdsl::lint::rules_impl {

void sk203_length_symbol_reused(const Context& c, Report& report) {
  if (!c.npugraph_ex() || !c.decode()) return;
  const std::vector<ListUse> uses = list_uses(c);
  std::set<plan::OpId> told;
  for (const ListUse& other : uses) {
    if (other.updatable || (other.element < 0 && !other.computed)) continue;
    for (const ListUse& length : uses) {
      if (!length.updatable || length.list != other.list || !told.insert(other.op).second) continue;
      report.at(other.op, other.list, info(c.op(other.op).code).name)
          .note(c.place(length.op), "this attention takes the list, which alone a replay can change")
          .note(fmt::format("each value is a capture; after {} the graph stays eager",
                            config::npugraph_options(c.run->settings()).capture_limit))
          .help(fmt::format("use the tensor `{}` here: its values are read on the device",
                            other.list.substr(0, other.list.rfind("_list"))));
      break;
    }
  }
}

}  // namespace skdsl::lint::rules_impl
