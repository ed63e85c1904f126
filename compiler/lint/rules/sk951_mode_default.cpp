// A run config that does not say how decode runs. The code's default is eager, the guides recommend
// npugraph_ex.
#include "compiler/config/run_edit.h"
#include "compiler/lint/rule.h"

namespace skdsl::lint::rules_impl {

void sk951_mode_default(const Context& c, Report& report) {
  if (c.modules || c.run->given("model_config.exe_mode")) return;
  // At the first key of model_config, else at the first one.
  const config::Setting* first = nullptr;
  for (const config::Setting& s : c.run->settings().items)
    if (s.key_span && (!first || (first->section != "model_config" && s.section == "model_config")))
      first = &s;
  auto finding = report.at(first ? first->key_span : Span{});
  finding.help("write `exe_mode: npugraph_ex` in model_config, or `exe_mode: eager` when that is meant");
  config::set_key(c.sources, *c.run, "model_config.exe_mode", "npugraph_ex", finding);
}

}  // namespace skdsl::lint::rules_impl
