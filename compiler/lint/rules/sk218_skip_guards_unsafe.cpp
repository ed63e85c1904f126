// Guards that are never evaluated although graphs are not fixed: a call with another shape runs the graph of
// the first one.
#include "compiler/lint/rule.h"

namespace skdsl::lint::rules_impl {

void sk218_skip_guards_unsafe(const Context& c, Report& report) {
  constexpr std::string_view kSkip = "npugraph_ex.skip_guard_eval_unsafe";
  if (!c.npugraph_ex() || !c.run->flag(kSkip)) return;
  const config::Effective& skip = c.run->at(kSkip);
  if (c.run->flag("model_config.enable_cache_compile") &&
      (c.modules || c.run->given("scheduler_config.batch_size")))
    return;
  auto finding = report.at(skip.span, c.run->flag("model_config.enable_cache_compile")
                                          ? "the number of prompts decides the batch"
                                          : "enable_cache_compile is off");
  finding.note(fmt::format("{} = true ({})", kSkip, skip.origin))
      .help("leave it false; the engine sets it behind the warm-up of a cached graph of a fixed batch");
  if (skip.span) finding.fix(skip.span, "false");
}

}  // namespace skdsl::lint::rules_impl
