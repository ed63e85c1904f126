// Lengths where attention takes running sums, or the other way round. Shapes and types are the same, so the
// numbers are wrong in silence.
#include "compiler/lint/data_flow.h"

namespace skdsl::lint::rules_impl {

void sk824_fa_cumulative_lengths(const Context& c, Report& report) {
  if (c.function->phase == plan::Phase::None) return;
  for (const plan::OpId id : c.order->ops()) {
    const plan::Op& op = c.op(id);
    if (op.code != Opcode::FusedInferAttentionScore) continue;
    const bool paged = op.operands[5] != plan::kNone;
    struct Rule {
      int operand;
      std::string_view name;
      bool sums;
      std::string_view why;
    };
    for (const Rule& r : {Rule{6, "actual_seq_lengths", true, "rows of queries are told by running sums"},
                          Rule{7, "actual_seq_lengths_kv", !paged,
                               paged ? "a paged cache takes the length of each request"
                                     : "rows of keys are told by running sums"}}) {
      const std::string_view given = parameter(c, op.operands[r.operand]);
      const bool length = given.starts_with("step.actual_seq_lengths_") || given.starts_with("step.kv_len");
      const bool sums = given.find("_cu_") != given.npos;
      if (!length || sums == r.sums) continue;
      std::string right(given);
      if (sums) {
        right.replace(right.find("_cu_"), 4, "_");
      } else if (given.starts_with("step.kv_len")) {
        right = "step.actual_seq_lengths_cu_kv" + std::string(given.substr(11));
      } else {
        right.insert(std::string_view("step.actual_seq_lengths_").size(), "cu_");
      }
      auto finding = report.at(id, r.name, given, r.why);
      finding.help(fmt::format("write `{}`", right));
      const ast::NodeId value = argument(c, call_of(c, id), r.name, r.operand);
      if (value && c.sources.text(c.ast().span(value)) == given) finding.fix(c.ast().span(value), right);
    }
  }
}

}  // namespace skdsl::lint::rules_impl
