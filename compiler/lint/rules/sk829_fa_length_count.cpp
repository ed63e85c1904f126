// Running sums written as numbers that do not end where the rows do: rows that were padded have no request,
// or a request has rows that are not there.
#include "compiler/lint/data_flow.h"

namespace skdsl::lint::rules_impl {

void sk829_fa_length_count(const Context& c, Report& report) {
  for (const plan::OpId id : c.order->ops()) {
    const plan::Op& op = c.op(id);
    if (op.code != Opcode::FusedInferAttentionScore) continue;
    const bool paged = op.operands[5] != plan::kNone;
    struct Sum {
      int operand, rows;
      std::string_view name, of;
    };
    for (const Sum& s :
         {Sum{6, 0, "actual_seq_lengths", "query"}, Sum{7, 1, "actual_seq_lengths_kv", "key"}}) {
      if (paged && s.rows == 1) continue;
      const auto sums = literal(c, op.operands[s.operand]);
      const plan::Type& rows = c.function->values[op.operands[s.rows]].type;
      if (!sums || sums->empty() || rows.rank() == 0 || !rows.dims[0].is_constant()) continue;
      const int64_t n = rows.dims[0].constant();
      if (sums->back() == n) continue;
      report.at(id, s.name, sums->back(), s.of, n)
          .help(sums->back() < n
                    ? fmt::format("cut `{}` to {} rows, or count the padded ones too", s.of, sums->back())
                    : fmt::format("the last number is the number of rows, {}", n));
    }
  }
}

}  // namespace skdsl::lint::rules_impl
