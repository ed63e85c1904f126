// A stream without a core limit beside one that has one: it takes whatever cores come free, and the limit of
// the other one keeps nothing for anybody.
#include <algorithm>
#include <set>

#include "compiler/lint/edit.h"

namespace skdsl::lint::rules_impl {

namespace {

/// The tasks of one limited block, in the order of their stream.
struct Block {
  const plan::Context* limit = nullptr;
  uint32_t stream = 0;
  std::vector<plan::OpId> tasks;
};

bool beside(const Context& c, const Block& b, plan::OpId id) {
  if (c.order->before(id, b.tasks.front()) || c.order->before(b.tasks.back(), id)) return false;
  return std::any_of(b.tasks.begin(), b.tasks.end(),
                     [&](plan::OpId task) { return c.order->concurrent(id, task); });
}

}  // namespace

void sk504_parallel_stream_unlimited(const Context& c, Report& report) {
  if (!c.graph() || c.order->streams().size() < 2) return;
  std::vector<Block> limited;
  std::vector<plan::OpId> free;
  for (const plan::OpId id : c.order->ops()) {
    if (!c.order->is_task(id)) continue;
    const plan::Context* limit = c.around(id, plan::Context::Kind::Cores);
    // Of the others only what fills cores by itself; a small vector kernel passes by.
    if (!limit) {
      const OpInfo& row = info(c.op(id).code);
      if (row.core != Core::Aiv || row.phases > 1) free.push_back(id);
      continue;
    }
    if (limited.empty() || limited.back().limit != limit || limited.back().stream != c.order->stream(id))
      limited.push_back({limit, c.order->stream(id), {}});
    limited.back().tasks.push_back(id);
  }
  std::set<std::pair<const plan::Context*, uint32_t>> told;
  for (const plan::OpId id : free)
    for (const Block& other : limited) {
      if (c.order->stream(id) == other.stream || !beside(c, other, id)) continue;
      const plan::Context* block = c.around(id, plan::Context::Kind::Stream);
      if (!told.emplace(block, other.stream).second) break;
      const auto cores = c.cores(other.tasks.front());
      const int64_t aic = c.chip.aic - cores.aic, aiv = c.chip.aiv - cores.aiv;
      auto finding = report.at(id, c.order->streams()[c.order->stream(id)], c.order->streams()[other.stream]);
      finding.note(c.span(other.limit->loc), "the other stream's limit is here");
      if (aic < 1 || aiv < 1) break;
      finding.help(fmt::format("give it the rest: `cores(aic = {}, aiv = {}) {{ … }}`", aic, aiv));
      if (const ast::NodeId statement = statement_at(c, c.span(c.op(id).loc)); statement) {
        const Span s = c.ast().span(statement);
        finding.fix({s.file, s.begin, s.begin}, fmt::format("cores(aic = {}, aiv = {}) {{ ", aic, aiv))
            .fix({s.file, s.end, s.end}, " }");
      }
      break;
    }
}

}  // namespace skdsl::lint::rules_impl
