// A list of gears with more sizes than a function may have, or with one twice.
#include <algorithm>

#include "compiler/lint/gear_list.h"

namespace skdsl::lint::rules_impl {

namespace {
constexpr size_t kMostGears = 100;  // _gear_utils.py of TorchAir
}

void sk209_gear_list_invalid(const Context& c, Report& report) {
  if (!c.graph()) return;
  for (const GearList& gears : gear_lists(c)) {
    std::vector<int64_t> once = gears.sizes;
    std::sort(once.begin(), once.end());
    const auto twice = std::adjacent_find(once.begin(), once.end());
    const std::string repeated = twice == once.end() ? "" : fmt::format("{} stands there twice", *twice);
    once.erase(std::unique(once.begin(), once.end()), once.end());
    if (once.size() > kMostGears) {
      // Every n-th one, the largest included.
      const size_t step = (once.size() + kMostGears - 1) / kMostGears;
      std::vector<int64_t> fewer;
      for (size_t i = once.size(); i > 0; i -= std::min(i, step)) fewer.push_back(once[i - 1]);
      std::reverse(fewer.begin(), fewer.end());
      auto finding =
          report.at(gears.op, fmt::format("{} sizes, at most {} are possible", once.size(), kMostGears));
      finding.help(fmt::format("keep every {}th size, or leave out what no batch comes near", step));
      write_gears(c, gears, fewer, finding);
    } else if (!repeated.empty()) {
      auto finding = report.at(gears.op, repeated);
      finding.help("write each batch size once");
      write_gears(c, gears, once, finding);
    }
  }
}

}  // namespace skdsl::lint::rules_impl
