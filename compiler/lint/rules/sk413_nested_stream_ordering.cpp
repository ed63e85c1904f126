// wait_tensor in a stream block inside of another one: the operator gets the inner stream, and the order is
// kept for the outer one.
#include "compiler/lint/edit.h"

namespace skdsl::lint::rules_impl {

void sk413_nested_stream_ordering(const Context& c, Report& report) {
  if (!c.ge_graph() || !c.decode()) return;
  for (const plan::OpId id : c.order->ops()) {
    if (c.op(id).code != Opcode::WaitTensor) continue;
    std::vector<const plan::Context*> streams;
    for (plan::ContextId s = c.op(id).context; s != plan::kNone; s = c.program->contexts[s].parent)
      if (c.program->contexts[s].kind == plan::Context::Kind::Stream)
        streams.push_back(&c.program->contexts[s]);
    if (streams.size() < 2 || streams[0]->name == streams[1]->name) continue;
    auto finding = report.at(id, streams[0]->name, streams[1]->name);
    finding.note(c.span(streams[1]->loc), "the outer stream begins here")
        .help("end the outer block before the inner one begins");
    // An outer block that holds nothing else can go.
    const ast::NodeId outer = node_at(c, c.span(streams[1]->loc), ast::Kind::Stream);
    if (!outer) continue;
    const auto inside = c.ast().children(c.ast().children(outer).back());
    if (inside.size() == 1 && c.ast().kind(inside[0]) == ast::Kind::Stream) unwrap(c, outer, finding);
  }
}

}  // namespace skdsl::lint::rules_impl
