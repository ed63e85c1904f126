// A decode that is called under different core limits: the limit is part of what was captured, another one
// captures again.
#include <map>
#include <set>

#include "compiler/lint/script_calls.h"

namespace skdsl::lint::rules_impl {

void sk216_core_limit_varies(const Context& c, Report& report) {
  if (!c.npugraph_ex()) return;
  std::map<std::string, plan::OpId> first;
  std::set<std::string> told;
  for (const DecodeCall& call : decode_calls(c)) {
    const auto [it, fresh] = first.emplace(call.decode, call.op);
    const Context::Cores here = c.cores(call.op), there = c.cores(it->second);
    if (fresh || (here.aic == there.aic && here.aiv == there.aiv) || !told.insert(call.decode).second)
      continue;
    report.at(call.op, call.decode, here.aic, here.aiv)
        .note(c.place(it->second), fmt::format("with {} cube and {} vector cores here", there.aic, there.aiv))
        .help("call it under one limit, or write the limit inside of the phase, around what needs it");
  }
}

}  // namespace skdsl::lint::rules_impl
