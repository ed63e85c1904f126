// A dynamic graph asked for where nothing is dynamic: without host lists the graph is the same for every
// step, and guards and symbols cost for nothing.
#include "compiler/lint/rule.h"

namespace skdsl::lint::rules_impl {

void sk823_fa_dynamic_mismatch(const Context& c, Report& report) {
  const config::Effective& dynamic = c.run->at("model_config.enable_dynamic_graph");
  if (!c.npugraph_ex() || !c.decode() || !dynamic.given || !c.run->flag("model_config.enable_dynamic_graph"))
    return;
  bool attention = false, list = false;
  for (const plan::OpId id : c.order->ops()) {
    attention |= c.op(id).code == Opcode::FusedInferAttentionScore;
    list |= c.op(id).code == Opcode::Gears;
    for (const plan::ValueId v : c.op(id).operands)
      list |= v != plan::kNone && c.function->values[v].type.kind == plan::Kind::HostList;
  }
  if (!attention || list) return;
  report.at(c.function->loc, c.function->name)
      .note(fmt::format("model_config.enable_dynamic_graph = true ({})", dynamic.origin))
      .help("set it to false");
}

}  // namespace skdsl::lint::rules_impl
