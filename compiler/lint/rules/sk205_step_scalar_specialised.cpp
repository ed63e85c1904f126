// A number that changes with the steps and that host code of a decode uses: each of its values is another
// graph.
#include <map>
#include <set>

#include "compiler/lint/host_lists.h"
#include "compiler/lint/script_calls.h"

namespace skdsl::lint::rules_impl {

namespace {

/// Numbers of host lists: lengths that no attention takes.
void in_decode(const Context& c, Report& report) {
  const std::vector<ListUse> uses = list_uses(c);
  std::set<std::string> updated;
  for (const ListUse& use : uses)
    if (use.updatable) updated.insert(use.list);
  std::set<std::pair<plan::OpId, std::string>> told;
  for (const ListUse& use : uses) {
    if (use.updatable || (use.element < 0 && !use.computed) || updated.contains(use.list)) continue;
    if (!told.emplace(use.op, use.list).second) continue;
    report
        .at(use.op, use.list, info(c.op(use.op).code).name,
            c.run->flag("npugraph_ex.dynamic") ? "captured" : "compiled")
        .help(fmt::format("use the tensor `{}`: its values are read on the device",
                          use.list.substr(0, use.list.rfind("_list"))));
  }
}

/// Numbers that a script gives: sema makes a variant of the phase for each.
void in_script(const Context& c, Report& report) {
  std::map<std::string, std::pair<std::string, plan::OpId>> first;  // phase and parameter -> value, call
  std::set<std::string> told;
  for (const DecodeCall& call : decode_calls(c))
    for (const auto& [name, value] : call.callee->fixed) {
      const std::string key = call.decode + " " + name;
      const auto [it, fresh] = first.emplace(key, std::pair(value, call.op));
      if (fresh || it->second.first == value || !told.insert(key).second) continue;
      report.at(call.op, name, call.decode, "compiled")
          .note(c.place(it->second.second),
                fmt::format("`{}` is {} here and was {}", name, value, it->second.first))
          .help(fmt::format("make `{}` a tensor of one element: its value is read on the device", name));
    }
}

}  // namespace

void sk205_step_scalar_specialised(const Context& c, Report& report) {
  if (c.npugraph_ex() && c.decode()) in_decode(c, report);
  if (!c.eager()) in_script(c, report);
}

}  // namespace skdsl::lint::rules_impl
