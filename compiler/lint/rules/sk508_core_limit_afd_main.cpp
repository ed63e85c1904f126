// A core limit on the main stream of a model that runs with AFD: the experts that the limit makes room for
// are on other ranks, and the cores stay idle.
#include <set>

#include "compiler/lint/edit.h"

namespace skdsl::lint::rules_impl {

void sk508_core_limit_afd_main(const Context& c, Report& report) {
  if (!c.graph()) return;
  bool afd = false;
  for (const auto& value : c.elaborated->config) afd |= value.key == "enable_afd" && value.value == "true";
  if (!afd) return;
  std::set<const plan::Context*> told;
  for (const plan::OpId id : c.order->ops()) {
    const plan::Context* block = c.around(id, plan::Context::Kind::Cores);
    if (!block || c.order->stream(id) != 0 || !c.order->is_task(id) || !told.insert(block).second) continue;
    auto finding = report.at(block->loc);
    finding.help("write `when not enable_afd` behind it");
    const ast::NodeId node = node_at(c, c.span(block->loc), ast::Kind::Cores);
    if (!node) continue;
    if (const ast::NodeId when = c.ast().child(node, 1)) {
      const Span s = c.ast().span(when);
      finding.fix({s.file, s.begin, s.begin}, "not enable_afd and (").fix({s.file, s.end, s.end}, ")");
      continue;
    }
    const auto inner = c.ast().children(c.ast().children(node).back());
    if (inner.empty()) continue;
    const Span whole = c.ast().span(node);
    const std::string_view head =
        c.text().substr(whole.begin, c.ast().span(inner.front()).begin - whole.begin);
    if (const size_t brace = head.find('{'); brace != head.npos) {
      const auto at = whole.begin + static_cast<uint32_t>(brace);
      finding.fix({whole.file, at, at}, "when not enable_afd ");
    }
  }
}

}  // namespace skdsl::lint::rules_impl
