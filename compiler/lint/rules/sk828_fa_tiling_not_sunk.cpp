// GE's tiling of attention left on the host, said so by the run config itself.
#include "compiler/config/run_edit.h"
#include "compiler/lint/rule.h"

namespace skdsl::lint::rules_impl {

void sk828_fa_tiling_not_sunk(const Context& c, Report& report) {
  constexpr std::string_view kTiling = "ge.experimental_config.tiling_schedule_optimize";
  if (!c.ge_graph() || !c.run->given(kTiling) || c.run->flag(kTiling)) return;
  auto finding = report.at(c.run->at(kTiling).span);
  finding.help("set it to true");
  config::set_key(c.sources, *c.run, kTiling, "true", finding);
}

}  // namespace skdsl::lint::rules_impl
