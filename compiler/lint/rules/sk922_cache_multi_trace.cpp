// A compile cache for a decode that is traced for several batches: the second trace drops what the first one
// stored.
#include "compiler/lint/rule.h"

namespace skdsl::lint::rules_impl {

void sk922_cache_multi_trace(const Context& c, Report& report) {
  if (!c.npugraph_ex() || !c.decode() || !c.run->flag("model_config.enable_cache_compile")) return;
  // A symbolic batch is one trace, but for 1, which is a number of its own.
  const bool dynamic = c.run->flag("npugraph_ex.dynamic");
  for (const plan::OpId id : c.order->ops()) {
    if (c.op(id).code != Opcode::Gears) continue;
    std::vector<int64_t> sizes;
    size_t ones = 0;
    for (const plan::Dim& d : std::get<std::vector<plan::Dim>>(c.op(id).attrs[0])) {
      if (!d.is_constant()) continue;
      sizes.push_back(d.constant());
      ones += d.constant() == 1;
    }
    const size_t traces = dynamic ? (sizes.size() > ones ? 1 : 0) + ones : sizes.size();
    if (traces < 2) continue;
    report.at(id, fmt::format("{}", fmt::join(sizes, ", ")), fmt::format("{} of them", traces))
        .note(dynamic ? "a batch of 1 is never symbolic" : "enable_dynamic_graph is off")
        .help("keep one batch under a cache, or leave enable_cache_compile out");
  }
}

}  // namespace skdsl::lint::rules_impl
