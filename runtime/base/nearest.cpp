#include "runtime/base/nearest.h"

#include <algorithm>
#include <vector>

namespace skdsl {

size_t edit_distance(std::string_view a, std::string_view b, size_t limit) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() > limit) return limit + 1;
  std::vector<size_t> two_back(a.size() + 1), back(a.size() + 1), row(a.size() + 1);
  for (size_t i = 0; i <= a.size(); ++i) back[i] = i;
  for (size_t j = 1; j <= b.size(); ++j) {
    row[0] = j;
    size_t smallest = row[0];
    for (size_t i = 1; i <= a.size(); ++i) {
      row[i] = std::min({row[i - 1] + 1, back[i] + 1, back[i - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[i] = std::min(row[i], two_back[i - 2] + 1);
      smallest = std::min(smallest, row[i]);
    }
    if (smallest > limit) return limit + 1;
    std::swap(two_back, back);
    std::swap(back, row);
  }
  return back[a.size()];
}

size_t slip_limit(std::string_view name) {
  // Two, so that exchanged letters count, but not where two edits could turn any name into any other.
  return name.size() < 4 ? 1 : std::clamp<size_t>(name.size() / 4, 2, 8);
}

}  // namespace skdsl
