// Limits of streams that run beside each other and ask for more cores together than the chip has: no overlap,
// or two launches that each hold what the other waits for.
#include <map>
#include <set>

#include "compiler/lint/edit.h"

namespace skdsl::lint::rules_impl {

namespace {

struct Block {
  plan::ContextId cores = plan::kNone;
  std::vector<plan::OpId> tasks;
};

bool overlap(const Context& c, const Block& a, const Block& b) {
  for (const plan::OpId x : a.tasks)
    for (const plan::OpId y : b.tasks)
      if (c.order->concurrent(x, y)) return true;
  return false;
}

int64_t limit(const Context& c, plan::ContextId id, std::string_view kind) {
  for (const auto& [key, value] : c.program->contexts[id].options)
    if (key == kind) return std::stoll(value);
  return 0;
}

}  // namespace

void sk502_core_sum_exceeds_device(const Context& c, Report& report) {
  if (!c.graph() || c.order->streams().size() < 2) return;
  // The tasks of each innermost `cores` on each stream; the first and last few decide as well as all.
  std::map<std::pair<uint32_t, plan::ContextId>, Block> blocks;
  for (const plan::OpId id : c.order->ops()) {
    if (!c.order->is_task(id)) continue;
    for (plan::ContextId k = c.op(id).context; k != plan::kNone; k = c.program->contexts[k].parent)
      if (c.program->contexts[k].kind == plan::Context::Kind::Cores) {
        Block& b = blocks[{c.order->stream(id), k}];
        b.cores = k;
        b.tasks.push_back(id);
        break;
      }
  }
  for (auto i = blocks.begin(); i != blocks.end(); ++i)
    for (auto k = std::next(i); k != blocks.end(); ++k) {
      const bool swapped =
          c.order->position(k->second.tasks.front()) < c.order->position(i->second.tasks.front());
      const auto& [stream, a] = swapped ? *k : *i;
      const auto& [other, b] = swapped ? *i : *k;
      if (stream.first == other.first) continue;
      for (const auto& [kind, most] : {std::pair("aic", c.chip.aic), std::pair("aiv", c.chip.aiv)}) {
        const int64_t x = limit(c, a.cores, kind), y = limit(c, b.cores, kind);
        if (x == 0 || y == 0 || x > most || y > most || x + y <= most || !overlap(c, a, b)) continue;
        const plan::Context& later = c.program->contexts[b.cores];
        auto finding = report.at(later.loc, fmt::format("stream `{}`", c.order->streams()[stream.first]),
                                 fmt::format("stream `{}`", c.order->streams()[other.first]), x, y, kind,
                                 c.chip.name, most);
        finding.note(c.span(c.program->contexts[a.cores].loc), "the other limit is here");
        finding.help(fmt::format("let the two limits add up to {} at most", most));
        const ast::NodeId node = node_at(c, c.span(later.loc), ast::Kind::Cores);
        for (const ast::NodeId option :
             node ? c.ast().children(c.ast().child(node, 0)) : std::span<const ast::NodeId>())
          if (c.ast().text(option) == kind && c.ast().kind(c.ast().child(option, 0)) == ast::Kind::Int &&
              most > x)
            finding.fix(c.ast().span(c.ast().child(option, 0)), std::to_string(most - x));
      }
    }
}

}  // namespace skdsl::lint::rules_impl
