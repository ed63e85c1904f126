// A graph of one stream, and a program that asks for more: streams and prefetches need streams of their own.
#include <set>

#include "compiler/lint/edit.h"

namespace skdsl::lint::rules_impl {

void sk412_single_stream_conflict(const Context& c, Report& report) {
  constexpr std::string_view kOne = "ge.ge_config.enable_single_stream";
  if (!c.ge_graph() || !c.decode() || !c.run->flag(kOne)) return;
  std::set<std::pair<uint32_t, uint32_t>> told;
  const auto tell = [&](const Loc& loc, const std::string& what, ast::Kind kind) {
    if (!told.emplace(c.span(loc).file, c.span(loc).begin).second) return;
    auto finding = report.at(loc, fmt::format("one stream, and {} needs more", what));
    finding.note(fmt::format("{} = true ({})", kOne, c.run->at(kOne).origin))
        .help(fmt::format("set {} to false, or leave this out", kOne));
    if (const ast::NodeId node = node_at(c, c.span(loc), kind)) {
      if (kind == ast::Kind::Stream)
        unwrap(c, node, finding);
      else
        remove_statement(c, node, finding);
    }
  };
  for (const plan::OpId id : c.order->ops()) {
    if (const plan::Context* stream = c.around(id, plan::Context::Kind::Stream))
      tell(stream->loc, fmt::format("stream `{}`", stream->name), ast::Kind::Stream);
    else if (c.op(id).code == Opcode::Prefetch)
      tell(c.op(id).loc, "a prefetch", ast::Kind::Prefetch);
  }
}

}  // namespace skdsl::lint::rules_impl
