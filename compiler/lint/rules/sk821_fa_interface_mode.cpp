// The attention of torchair outside ge_graph, where it has no kernel and raises NotImplementedError.
#include "compiler/lint/data_flow.h"

namespace skdsl::lint::rules_impl {

void sk821_fa_interface_mode(const Context& c, Report& report) {
  if (c.function->phase == plan::Phase::None) return;
  const bool ge = c.ge_graph() && c.decode();
  for (const plan::OpId id : c.order->ops()) {
    const plan::Op& op = c.op(id);
    if (op.code != Opcode::FusedInferAttentionScore || std::get<std::string>(op.attrs.back()) != "torchair" ||
        ge)
      continue;
    auto finding =
        report.at(id, c.decode() ? "decode" : "prefill", c.decode() ? c.mode : std::string_view("eager"));
    finding.help("write `interface = \"auto\"`: each mode takes its own");
    if (const ast::NodeId value = argument(c, call_of(c, id), "interface", -1))
      if (c.ast().kind(value) == ast::Kind::Str) finding.fix(c.ast().span(value), "\"auto\"");
  }
}

}  // namespace skdsl::lint::rules_impl
