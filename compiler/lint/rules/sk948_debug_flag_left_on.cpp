// Options that help to find a mistake and make every step slow.
#include "compiler/config/run_edit.h"
#include "compiler/lint/rule.h"

namespace skdsl::lint::rules_impl {

void sk948_debug_flag_left_on(const Context& c, Report& report) {
  if (c.modules) return;
  struct Flag {
    std::string_view path, mode, what;
  };
  constexpr Flag kFlags[] = {
      {"npugraph_ex.force_eager", "npugraph_ex", "nothing is captured"},
      {"npugraph_ex.force_recapture", "npugraph_ex", "every step captures"},
      {"npugraph_ex.deadlock_check", "npugraph_ex", "every launch is looked at"},
      {"npugraph_ex.dump_tensor_data", "npugraph_ex", "every tensor is written to a file"},
      {"ge.debug.run_eagerly", "ge_graph", "no graph runs"},
      {"ge.debug.deadlock_check", "ge_graph", "every launch is looked at"},
      {"ge.dump_config.enable_dump", "ge_graph", "every tensor is written to a file"},
  };
  for (const Flag& flag : kFlags) {
    if (c.mode != flag.mode || !c.run->given(flag.path) || !c.run->flag(flag.path)) continue;
    auto finding = report.at(c.run->at(flag.path).span, flag.path, flag.what);
    finding.help("take it away for real runs, or give it on the command line: --set");
    config::drop_key(c.sources, *c.run, flag.path, finding);
  }
}

}  // namespace skdsl::lint::rules_impl
