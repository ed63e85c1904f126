#include "jit/emit/repeats.h"

#include <algorithm>

namespace skdsl::jit {

std::vector<Stretch> stretches(const std::vector<exec::NativeLaunch>& launches) {
  constexpr size_t kLongestPeriod = 128;
  const auto same = [&](size_t a, size_t b) {
    return launches[a].function == launches[b].function && launches[a].how == launches[b].how;
  };
  std::vector<Stretch> out;
  for (size_t at = 0; at < launches.size();) {
    Stretch best{at, 1, 1};
    for (size_t period = 1; period <= kLongestPeriod && at + period * kMinRepeats <= launches.size();
         ++period) {
      size_t equal = 0;
      while (at + period + equal < launches.size() && same(at + equal, at + period + equal)) ++equal;
      const size_t times = 1 + equal / period;
      // The shortest period wins among equal covers.
      if (times >= kMinRepeats && times * period > best.times * best.period) best = {at, period, times};
    }
    out.push_back(best);
    at += best.period * best.times;
  }
  return out;
}

}  // namespace skdsl::jit
