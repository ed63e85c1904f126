// Expert weights of a checkpoint, stored [out, in] as every torch Linear is, read as [in, out]. Where the two
// are equal no shape tells.
#include "compiler/lint/data_flow.h"

namespace skdsl::lint::rules_impl {

void sk831_grouped_weight_layout(const Context& c, Report& report) {
  for (const plan::OpId id : c.order->ops()) {
    const plan::Op& op = c.op(id);
    if (op.code != Opcode::GroupedMatmul && op.code != Opcode::GroupedQuantMatmul) continue;
    if (std::get<bool>(op.attrs.back())) continue;
    const std::string_view path = c.weight_path(op.operands[1]);
    for (const plan::WeightDecl& w : c.program->weights) {
      if (w.path != path || !w.stacked || w.type.rank() != 3 || w.type.dims[1] != w.type.dims[2]) continue;
      const auto& names = w.sources.empty() ? std::vector<std::string>() : w.sources.front();
      const bool linear = !names.empty() && names.front().ends_with(".weight");
      if (!linear) continue;
      const std::string groups = c.program->text(w.type.dims[0]);
      auto finding = report.at(id, path, groups, info(op.code).name, groups);
      finding.note(c.span(w.loc), fmt::format("the checkpoint has `{}`", names.front()));
      finding.help("write `transpose_weight = true`, or transpose it once in a `const`");
      if (const ast::NodeId call = call_of(c, id); call && !argument(c, call, "transpose_weight", -1)) {
        const Span s = c.ast().span(call);
        finding.fix({s.file, s.end - 1, s.end - 1}, ", transpose_weight = true");
      } else if (call) {
        finding.fix(c.ast().span(argument(c, call, "transpose_weight", -1)), "true");
      }
    }
  }
}

}  // namespace skdsl::lint::rules_impl
