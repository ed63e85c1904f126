// nearest — "did you mean": the candidate at the smallest edit distance
#include "runtime/base/nearest.h"

#include <algorithm>
#include <vector>

#include "compiler/diag/diag.h"

namespace skdsl::diag {

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  // Nobody misspells by more than a few letters; the bound keeps long words cheap. One letter is like any
  // other.
  if (word.size() < 2) return {};
  size_t limit = std::clamp<size_t>(word.size() / 3, 1, 8);
  const std::string* best = nullptr;
  for (const std::string& candidate : candidates) {
    if (candidate == word) continue;
    const size_t d = edit_distance(word, candidate, limit);
    if (d > limit || (best != nullptr && d == limit)) continue;
    best = &candidate;
    limit = d;
  }
  return best != nullptr ? *best : std::string();
}

}  // namespace skdsl::diag
