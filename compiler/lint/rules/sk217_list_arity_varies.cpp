// A decode that reads a host list and is called for different numbers of requests: the length of a list is
// guarded, and another length compiles again.
#include <algorithm>
#include <map>
#include <set>

#include "compiler/lint/script_calls.h"

namespace skdsl::lint::rules_impl {

void sk217_list_arity_varies(const Context& c, Report& report) {
  if (!c.npugraph_ex()) return;
  std::map<std::string, DecodeCall> first;
  std::set<std::string> told;
  for (const DecodeCall& call : decode_calls(c)) {
    const plan::Function& f = *call.callee;
    std::string list;
    const auto& params = f.regions[f.body].args;
    for (size_t i = 0; i < params.size(); ++i)
      if (f.values[params[i]].type.kind == plan::Kind::HostList &&
          std::any_of(f.ops.begin(), f.ops.end(), [&](const plan::Op& o) {
            return std::find(o.operands.begin(), o.operands.end(), params[i]) != o.operands.end();
          }))
        list = f.param_names[i];
    if (list.empty() || call.requests < 0 || call.gears) continue;
    const auto [it, fresh] = first.emplace(call.decode, call);
    if (fresh || it->second.requests == call.requests || !told.insert(call.decode).second) continue;
    report.at(call.op, list, call.requests, it->second.requests)
        .note(c.place(it->second.op), fmt::format("{} elements here", it->second.requests))
        .help("pad the requests to one number (`gears`, batch_size of a run config)");
  }
}

}  // namespace skdsl::lint::rules_impl
