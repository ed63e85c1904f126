// Attention of several rows of a request without a causal mask.
#include "compiler/lint/data_flow.h"

namespace skdsl::lint::rules_impl {

void sk826_fa_sparse_mode(const Context& c, Report& report) {
  if (c.function->phase != plan::Phase::Prefill && c.function->phase != plan::Phase::DraftPrefill) return;
  for (const plan::OpId id : c.order->ops()) {
    const plan::Op& op = c.op(id);
    if (op.code != Opcode::FusedInferAttentionScore) continue;
    // sparse_mode stands before interface, the last one.
    const auto* mode = std::get_if<plan::Dim>(&op.attrs[op.attrs.size() - 2]);
    if (!mode || !mode->is_constant() || mode->constant() != 0) continue;
    auto finding = report.at(id, mode->constant());
    finding.help("write `sparse_mode = 3`, the causal mask");
    const ast::NodeId call = call_of(c, id);
    if (!call) continue;
    if (const ast::NodeId value = argument(c, call, "sparse_mode", -1)) {
      if (c.ast().kind(value) == ast::Kind::Int) finding.fix(c.ast().span(value), "3");
    } else {
      const Span s = c.ast().span(call);
      finding.fix({s.file, s.end - 1, s.end - 1}, ", sparse_mode = 3");
    }
  }
}

}  // namespace skdsl::lint::rules_impl
