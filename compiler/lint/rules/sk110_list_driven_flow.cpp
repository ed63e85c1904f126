// A loop or branch that runs over a host list: the graph holds the rounds of the list that it was recorded
// with, and a list of another length is another graph.
#include <set>

#include "compiler/lint/rule.h"

namespace skdsl::lint::rules_impl {

void sk110_list_driven_flow(const Context& c, Report& report) {
  if (!c.graph()) return;
  // Host values that tell how many elements a list has.
  std::set<plan::ValueId> lengths;
  std::set<plan::SymbolId> symbols;
  const auto told = [&](const plan::Dim& d) {
    if (d.is_constant()) return false;
    for (const plan::SymbolId s : d.symbols())
      if (symbols.contains(s)) return true;
    return false;
  };
  for (const plan::OpId id : c.order->ops()) {
    const plan::Op& op = c.op(id);
    bool of_length = op.code == Opcode::HostElement && std::get<bool>(op.attrs[1]);
    for (const plan::ValueId v : op.operands) of_length |= v != plan::kNone && lengths.contains(v);
    if (op.code == Opcode::While) {
      // The condition stands inside, behind the loop in order.
      for (const plan::OpId inner : c.function->regions[op.regions[0]].ops) {
        bool by_length = false;
        for (const plan::ValueId v : c.op(inner).operands)
          by_length |= v != plan::kNone && lengths.contains(v);
        for (const plan::Attr& a : c.op(inner).attrs)
          if (const plan::Dim* d = std::get_if<plan::Dim>(&a)) by_length |= told(*d);
        if (!by_length) continue;
        lengths.insert(c.op(inner).results.begin(), c.op(inner).results.end());
        of_length |= inner == c.function->regions[op.regions[0]].ops.back();
      }
    }
    for (const plan::Attr& a : op.attrs)
      if (const plan::Dim* d = std::get_if<plan::Dim>(&a)) of_length |= told(*d);
    if (!of_length) continue;
    if (op.code == Opcode::If || op.code == Opcode::While) {
      report.at(id, op.code == Opcode::If ? "branch" : "loop", c.mode)
          .help("let a configuration value or a size of a tensor decide, and pad the list to it");
      continue;
    }
    if (!info(op.code).has(kHostFn)) continue;
    for (const plan::ValueId v : op.results) {
      lengths.insert(v);
      for (const plan::Dim& d : c.function->values[v].type.dims)
        if (const auto s = d.as_symbol()) symbols.insert(*s);
    }
  }
}

}  // namespace skdsl::lint::rules_impl
