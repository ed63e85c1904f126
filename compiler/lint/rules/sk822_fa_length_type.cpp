// The attention of torch_npu in a graph takes its lengths as host lists; tensors belong to the one of
// torchair.
#include "compiler/lint/data_flow.h"

namespace skdsl::lint::rules_impl {

void sk822_fa_length_type(const Context& c, Report& report) {
  if (!c.graph()) return;
  for (const plan::OpId id : c.order->ops()) {
    const plan::Op& op = c.op(id);
    if (op.code != Opcode::FusedInferAttentionScore || std::get<std::string>(op.attrs.back()) != "torch_npu")
      continue;
    for (const auto& [operand, name] :
         {std::pair(6, "actual_seq_lengths"), std::pair(7, "actual_seq_lengths_kv")}) {
      const plan::OpId made = c.order->definer(op.operands[operand]);
      const plan::ValueId from = made != plan::kNone && c.op(made).code == Opcode::ToTensor
                                     ? c.op(made).operands[0]
                                     : op.operands[operand];
      if (c.function->values[from].type.kind == plan::Kind::HostList) continue;
      auto finding = report.at(id, c.mode, name);
      finding.help("write `interface = \"auto\"`, or in npugraph_ex take the `…_list` of the step");
      if (const ast::NodeId value = argument(c, call_of(c, id), "interface", -1))
        if (c.ast().kind(value) == ast::Kind::Str) finding.fix(c.ast().span(value), "\"auto\"");
      break;
    }
  }
}

}  // namespace skdsl::lint::rules_impl
