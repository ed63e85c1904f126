// A result of one decode that is read after the next one: in npugraph_ex the replay writes its outputs into
// the same memory each time.
#include <algorithm>

#include "compiler/lint/rule.h"

namespace skdsl::lint::rules_impl {

void sk940_output_retained(const Context& c, Report& report) {
  if (!c.npugraph_ex() || c.function->name != "main") return;
  if (config::npugraph_options(c.run->settings()).clone_output) return;
  const auto decode_of = [&](plan::OpId id) -> const plan::Function* {
    if (c.op(id).code != Opcode::Call) return nullptr;
    const plan::Function* f = c.program->find(std::get<std::string>(c.op(id).attrs[0]));
    return f && plan::is_decode(f->phase) ? f : nullptr;
  };
  for (const plan::OpId call : c.order->ops()) {
    const plan::Function* decode = decode_of(call);
    if (!decode) continue;
    const uint32_t at = c.order->position(call);
    const auto next = std::find_if(c.order->ops().begin() + at + 1, c.order->ops().end(),
                                   [&](plan::OpId id) { return decode_of(id) == decode; });
    if (next == c.order->ops().end()) continue;
    for (const plan::OpId reader : c.order->readers(call)) {
      // The next decode itself copies its inputs before it writes.
      if (c.order->position(reader) <= c.order->position(*next)) continue;
      report.at(reader)
          .note(c.span(c.op(call).loc), "the result comes from here")
          .note(c.span(c.op(*next).loc), "this decode writes its result into the same memory")
          .help(
              "use the result before the next decode, copy it (`x + 0.0`), or set "
              "npugraph_ex.clone_output=true");
      break;
    }
  }
}

}  // namespace skdsl::lint::rules_impl
