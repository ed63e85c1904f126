#include "runtime/base/nearest.h"

#include <algorithm>
#include <vector>

namespace skdsl {

size_t edit_distance(std::string_view a, std::string_view b, size_t limit) {
  const size_t apart = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  if (apart > limit) return limit + 1;
  // Only the band |i - j| <= limit can lead to a distance within the limit.
  const size_t far = limit + 1;
  std::vector<size_t> row(b.size() + 1), above(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) above[j] = std::min(j, far);
  for (size_t i = 1; i <= a.size(); ++i) {
    const size_t low = i > limit ? i - limit : 1;
    const size_t high = std::min(b.size(), i + limit);
    row[low - 1] = low == 1 ? std::min(i, far) : far;
    size_t best = row[low - 1];
    for (size_t j = low; j <= high; ++j) {
      const size_t from_above = j == i + limit ? far : above[j];
      row[j] = std::min({above[j - 1] + (a[i - 1] != b[j - 1]), from_above + 1, row[j - 1] + 1, far});
      best = std::min(best, row[j]);
    }
    if (best > limit) return far;
    std::swap(row, above);
  }
  return above[b.size()];
}

size_t slip_limit(std::string_view name) {
  // Two, so that exchanged letters count, but not where two edits could turn any name into any other.
  return name.size() < 4 ? 1 : std::clamp<size_t>(name.size() / 4, 2, 8);
}

}  // namespace skdsl
