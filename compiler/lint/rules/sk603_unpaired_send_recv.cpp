// A send that nobody receives, a receive that nobody sends to, or one that stands first: every rank runs this
// program, so each waits for a message that comes later or never.
#include <map>

#include "compiler/lint/rule.h"

namespace skdsl::lint::rules_impl {

void sk603_unpaired_send_recv(const Context& c, Report& report) {
  if (c.function->name != "main" && c.function->phase == plan::Phase::None) return;
  std::map<int64_t, std::pair<std::vector<plan::OpId>, std::vector<plan::OpId>>> tags;
  for (const plan::OpId id : c.order->ops()) {
    const plan::Op& op = c.op(id);
    if (op.code != Opcode::Send && op.code != Opcode::Recv) continue;
    const auto& tag = std::get<plan::Dim>(op.attrs.back());
    if (!tag.is_constant()) return;
    auto& [sends, receives] = tags[tag.constant()];
    (op.code == Opcode::Send ? sends : receives).push_back(id);
  }
  for (const auto& [tag, both] : tags) {
    const auto& [sends, receives] = both;
    const size_t pairs = std::min(sends.size(), receives.size());
    for (size_t i = pairs; i < sends.size(); ++i)
      report.at(sends[i], fmt::format("`send` with tag {} has no `recv` in this phase", tag))
          .help(fmt::format("receive it: `recv(shape, dtype, tag = {})`", tag));
    for (size_t i = pairs; i < receives.size(); ++i)
      report.at(receives[i], fmt::format("`recv` with tag {} has no `send` in this phase", tag))
          .help(fmt::format("send it before: `send(x, tag = {})`", tag));
    for (size_t i = 0; i < pairs; ++i) {
      const plan::Op& send = c.op(sends[i]);
      const plan::Op& receive = c.op(receives[i]);
      if (c.order->position(receives[i]) < c.order->position(sends[i])) {
        report.at(receives[i], fmt::format("`recv` with tag {} stands before its `send`", tag))
            .note(c.span(send.loc), "the `send` is here; every rank waits before it comes there")
            .help("send first");
        continue;
      }
      const plan::Type& sent = c.function->values[send.operands[0]].type;
      const plan::Type& got = c.function->values[receive.results[0]].type;
      if (sent != got)
        report
            .at(receives[i], fmt::format("tag {} carries {}, and this `recv` takes {}", tag,
                                         c.program->text(sent), c.program->text(got)))
            .note(c.span(send.loc), "the `send` is here")
            .help("give both one shape and dtype");
    }
  }
}

}  // namespace skdsl::lint::rules_impl
