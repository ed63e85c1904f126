// GE's limit for the whole graph beside a block of the program with another one: the block counts.
#include <set>

#include "compiler/lint/rule.h"

namespace skdsl::lint::rules_impl {

void sk509_global_cores_shadowed(const Context& c, Report& report) {
  if (!c.ge_graph() || !c.decode()) return;
  const std::string all = c.run->text("ge.ge_config.aicore_num");
  const size_t bar = all.find('|');
  if (bar == all.npos) return;
  std::set<std::pair<const plan::Context*, std::string>> told;
  for (const plan::OpId id : c.order->ops()) {
    const plan::Context* block = c.around(id, plan::Context::Kind::Cores);
    if (!block) continue;
    for (const auto& [key, value] : block->options)
      if (value != (key == "aic" ? all.substr(0, bar) : all.substr(bar + 1)) &&
          told.emplace(block, key).second)
        report.at(block->loc, value, key == "aic" ? "cube" : "vector", all)
            .help("leave one of the two out where they are meant to say the same");
  }
}

}  // namespace skdsl::lint::rules_impl
