// nearest — "did you mean": the candidate at the smallest edit distance
#include <algorithm>
#include <vector>

#include "compiler/diag/diag.h"

namespace skdsl::diag {
namespace {

/// Damerau-Levenshtein distance (optimal string alignment), or `limit + 1` as soon as it must exceed `limit`.
size_t distance(std::string_view a, std::string_view b, size_t limit) {
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

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  // Nobody misspells by more than a few letters; the bound keeps long words cheap.
  size_t limit = std::min<size_t>(word.size() / 3, 8);
  if (limit == 0) return {};
  const std::string* best = nullptr;
  for (const std::string& candidate : candidates) {
    if (candidate == word) continue;
    const size_t d = distance(word, candidate, limit);
    if (d > limit || (best != nullptr && d == limit)) continue;
    best = &candidate;
    limit = d;
  }
  return best != nullptr ? *best : std::string();
}

}  // namespace skdsl::diag
