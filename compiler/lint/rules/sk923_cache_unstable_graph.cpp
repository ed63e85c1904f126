// A compile cache beside an option that captures anew, or never: what is stored is never read.
#include "compiler/config/run_edit.h"
#include "compiler/lint/rule.h"

namespace skdsl::lint::rules_impl {

void sk923_cache_unstable_graph(const Context& c, Report& report) {
  constexpr std::string_view kCache = "model_config.enable_cache_compile";
  if (c.modules || !c.npugraph_ex() || !c.run->flag(kCache)) return;
  for (const std::string_view key : {"npugraph_ex.force_eager", "npugraph_ex.force_recapture"}) {
    if (!c.run->flag(key)) continue;
    auto finding = report.at(c.run->at(kCache).span, key);
    finding.note(c.run->at(key).span, "it is set here")
        .help("turn the cache on last, when the graph is right");
    config::drop_key(c.sources, *c.run, key, finding);
  }
}

}  // namespace skdsl::lint::rules_impl
