// A prefetch that asks for more than its weights have. The weights are the limit, so the number says
// something that does not happen.
#include "compiler/lint/data_flow.h"
#include "compiler/lint/edit.h"

namespace skdsl::lint::rules_impl {

namespace {

std::string bytes_text(int64_t n) {
  return n % (1 << 20) == 0   ? fmt::format("{}MiB", n >> 20)
         : n % (1 << 10) == 0 ? fmt::format("{}KiB", n >> 10)
                              : fmt::format("{}B", n);
}

}  // namespace

void sk703_prefetch_oversize(const Context& c, Report& report) {
  if (!c.graph()) return;
  for (const PrefetchUse& p : prefetches(c)) {
    const auto& max = std::get<plan::Dim>(c.op(p.prefetch).attrs[2]);
    // Limits are rounded, and a small model keeps the numbers of the large one.
    constexpr int64_t kSmall = 1 << 20;
    if (!max.is_constant() || p.bytes < kSmall || max.constant() <= p.bytes + p.bytes / 4) continue;
    auto finding = report.at(p.prefetch, max.constant(), p.target, p.bytes);
    finding.help("name what else is needed next, or write the size of the weights");
    const ast::NodeId node = node_at(c, c.span(c.op(p.prefetch).loc), ast::Kind::Prefetch);
    if (!node) continue;
    const ast::NodeId limit = c.ast().child(node, 2);
    if (limit && (c.ast().kind(limit) == ast::Kind::Bytes || c.ast().kind(limit) == ast::Kind::Int))
      finding.fix(c.ast().span(limit), bytes_text(p.bytes));
  }
}

}  // namespace skdsl::lint::rules_impl
