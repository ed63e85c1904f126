// Super kernels in a graph that is asked to be dynamic: they are made from kernels of known sizes.
#include "compiler/lint/rule.h"

namespace skdsl::lint::rules_impl {

namespace {
bool has_scope(const ast::Ast& a) {
  for (ast::NodeId id = 1; id < a.size(); ++id)
    if (a.kind(id) == ast::Kind::ScopeBegin || (a.kind(id) == ast::Kind::SuperKernel && a.text(id) != "none"))
      return true;
  return false;
}
}  // namespace

void sk303_superkernel_dynamic_graph(const Context& c, Report& report) {
  if (!c.ge_graph() || !c.run->flag("ge.dynamic")) return;
  constexpr std::string_view kSwitch = "model_config.custom_params.enable_superkernel";
  if (!c.run->flag(kSwitch) && !(c.modules && has_scope(c.ast()))) return;
  const config::Effective& dynamic = c.run->at("ge.dynamic");
  auto finding = report.at(dynamic.span);
  finding.note(fmt::format("ge.dynamic = true ({})", dynamic.origin))
      .help("set ge.dynamic to false and pass lengths as tensors");
  if (c.run->flag(kSwitch) && c.run->at(kSwitch).span)
    finding.note(c.run->at(kSwitch).span, "super kernels are asked for here");
  if (dynamic.span) finding.fix(dynamic.span, "false");
}

}  // namespace skdsl::lint::rules_impl
