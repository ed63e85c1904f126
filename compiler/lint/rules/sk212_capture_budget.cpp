// More batch sizes than graphs are kept: at the limit the function stays eager for good, the sizes that had a
// graph included.
#include <algorithm>
#include <map>
#include <set>

#include "compiler/lint/gear_list.h"
#include "compiler/lint/script_calls.h"

namespace skdsl::lint::rules_impl {

namespace {

struct Limit {
  size_t most;
  std::string_view option, what;
};
Limit limit_of(const Context& c) {
  const config::NpuGraphOptions options = config::npugraph_options(c.run->settings());
  if (c.run->flag("npugraph_ex.dynamic"))
    return {static_cast<size_t>(options.capture_limit), "npugraph_ex.capture_limit", "captures of a graph"};
  return {static_cast<size_t>(options.recompile_limit), "npugraph_ex.recompile_limit",
          "graphs of a function"};
}

/// `most` of the sizes, evenly, the largest included.
std::vector<int64_t> thinned(const std::vector<int64_t>& sizes, size_t most) {
  std::vector<int64_t> out;
  for (size_t i = 1; i <= most; ++i) out.push_back(sizes[i * sizes.size() / most - 1]);
  return out;
}

void of_gears(const Context& c, const Limit& limit, Report& report) {
  for (const GearList& gears : gear_lists(c)) {
    std::set<int64_t> sizes(gears.sizes.begin(), gears.sizes.end());
    // A graph for 1 is compiled by itself.
    if (c.run->flag("npugraph_ex.dynamic")) sizes.erase(1);
    if (sizes.size() <= limit.most) continue;
    auto finding = report.at(gears.op, fmt::format("{} gears", sizes.size()), limit.what, limit.most);
    finding.note(fmt::format("{} = {}", limit.option, limit.most))
        .help(fmt::format("keep {} gears, or set {} to {}", limit.most, limit.option, sizes.size()));
    write_gears(c, gears, thinned({sizes.begin(), sizes.end()}, limit.most), finding);
  }
}

void of_script(const Context& c, const Limit& limit, Report& report) {
  std::map<std::string, std::set<std::vector<int64_t>>> seen;
  for (const DecodeCall& call : decode_calls(c)) {
    if (call.gears || std::find(call.sizes.begin(), call.sizes.end(), -1) != call.sizes.end()) continue;
    // 0 and 1 are compiled by themselves, beside the graph that the others share.
    const bool small = std::any_of(call.sizes.begin(), call.sizes.end(), [](int64_t n) { return n < 2; });
    auto& sizes = seen[call.decode + (small && c.run->flag("npugraph_ex.dynamic") ? " small" : "")];
    if (!sizes.insert(call.sizes).second || sizes.size() != limit.most + 1) continue;
    report
        .at(call.op, fmt::format("the {}th set of sizes of `{}`", sizes.size(), call.decode), limit.what,
            limit.most)
        .note(fmt::format("{} = {}", limit.option, limit.most))
        .help(fmt::format("pad batches to a few sizes: `gears [2, 4, 8]` in the decode, or raise {}",
                          limit.option));
  }
}

}  // namespace

void sk212_capture_budget(const Context& c, Report& report) {
  if (!c.npugraph_ex()) return;
  const Limit limit = limit_of(c);
  if (c.decode()) of_gears(c, limit, report);
  of_script(c, limit, report);
}

}  // namespace skdsl::lint::rules_impl
