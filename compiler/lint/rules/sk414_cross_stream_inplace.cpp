// Two streams of a captured decode that use one state, one of them writing it, and no event between: which
// comes first is left to the device. The capture itself refuses it with the same words.
#include <map>

#include "compiler/lint/streams.h"

namespace skdsl::lint::rules_impl {

void sk414_cross_stream_inplace(const Context& c, Report& report) {
  if (!c.npugraph_ex() || !c.decode()) return;
  struct Use {
    plan::OpId writer = plan::kNone;
    std::vector<plan::OpId> readers;  // since it was written
  };
  std::map<std::string, Use, std::less<>> uses;
  MissingEvents missing(*c.order);
  const auto stream = [&](plan::OpId id) { return c.order->streams()[c.order->stream(id)]; };
  for (const plan::OpId id : c.order->ops()) {
    if (!c.order->is_task(id)) continue;
    const plan::Op& op = c.op(id);
    const bool writes = info(op.code).has(kInPlace);
    for (size_t i = 0; i < op.operands.size(); ++i) {
      const std::string path(state_path(c, op.operands[i]));
      if (path.empty()) continue;
      Use& use = uses[path];
      std::vector<plan::OpId> earlier;
      if (use.writer != plan::kNone) earlier.push_back(use.writer);
      if (writes && i == 0) earlier.insert(earlier.end(), use.readers.begin(), use.readers.end());
      for (const plan::OpId before : earlier) {
        if (!missing.add({before, id})) continue;
        auto finding =
            report.at(id, info(op.code).name, stream(id), info(c.op(before).code).name, stream(before));
        finding.note(c.place(before), "the other use of the state")
            .help(fmt::format(
                "declare `event e`, write `record e` behind the op on stream `{}` and `wait e` before the "
                "one on stream `{}`; only ge_graph makes events by itself",
                stream(before), stream(id)));
        insert_event(c, {before, id}, finding);
      }
      if (writes && i == 0)
        use = {id, {}};
      else
        use.readers.push_back(id);
    }
  }
}

}  // namespace skdsl::lint::rules_impl
