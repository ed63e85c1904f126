// An input of a decode that is read again after a later decode, with clone_input off: the graph was captured
// on that very tensor, and each later call writes its own input there.
#include "compiler/lint/data_flow.h"

namespace skdsl::lint::rules_impl {

void sk941_clone_input_off_alias(const Context& c, Report& report) {
  if (!c.npugraph_ex() || c.function->name != "main") return;
  if (config::npugraph_options(c.run->settings()).clone_input) return;
  std::vector<plan::OpId> calls;
  std::string first;
  for (const plan::OpId id : c.order->ops()) {
    if (c.op(id).code != Opcode::Call) continue;
    const auto& name = std::get<std::string>(c.op(id).attrs[0]);
    const plan::Function* f = c.program->find(name);
    if (!f || !plan::is_decode(f->phase) || (!first.empty() && name != first)) continue;
    first = name;
    calls.push_back(id);
  }
  if (calls.size() < 2) return;
  for (const plan::ValueId v : c.op(calls[0]).operands) {
    const plan::OpId made = v == plan::kNone ? plan::kNone : c.order->producer(v);
    if (made == plan::kNone || !c.function->values[v].type.is_tensor()) continue;
    // The same tensor again writes the same numbers.
    const auto& later = c.op(calls[1]).operands;
    if (std::find(later.begin(), later.end(), v) != later.end()) continue;
    for (const plan::OpId reader : c.order->readers(made)) {
      if (c.order->position(reader) <= c.order->position(calls[1])) continue;
      report.at(reader)
          .note(c.span(c.op(calls[0]).loc), "the graph is captured on it here")
          .note(c.span(c.op(calls[1]).loc), "this decode writes its own input there")
          .help("use it before, copy it (`x + 0.0`), or set npugraph_ex.clone_input=true");
      break;
    }
  }
}

}  // namespace skdsl::lint::rules_impl
