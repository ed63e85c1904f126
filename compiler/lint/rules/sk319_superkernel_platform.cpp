// Super kernels on a chip that not every source names: the A3 is the one that all of them do.
#include "compiler/lint/rule.h"

namespace skdsl::lint::rules_impl {

void sk319_superkernel_platform(const Context& c, Report& report) {
  if (c.eager()) return;
  constexpr std::string_view kSwitch = "model_config.custom_params.enable_superkernel";
  const config::Effective& platform = c.run->at("model_config.platform_version");
  const config::Effective& target = c.run->at("target.chip");
  const std::string named = c.run->text("model_config.platform_version");
  std::string chip(c.chip.name);
  Span where = target.span;
  if (named != "auto" && !c.modules) {
    chip = named;
    where = platform.span;
  }
  if (chip == "a3" || chip == "A3") return;
  bool scope = c.run->flag(kSwitch) || c.run->flag("npugraph_ex.super_kernel_optimize");
  if (!scope && c.modules) {
    const ast::Ast& a = c.ast();
    for (ast::NodeId id = 1; id < a.size() && !scope; ++id)
      if (a.kind(id) == ast::Kind::SuperKernel && a.text(id) != "none") {
        scope = true;
        const Span s = a.span(id);
        where = {s.file, s.begin, s.begin + static_cast<uint32_t>(std::string_view("superkernel").size())};
      }
  }
  if (!scope) return;
  report.at(where, chip).help("try it on the device first, or turn super kernels off for this chip");
}

}  // namespace skdsl::lint::rules_impl
