// repeats — the launches of a step as runs of equal stretches
//
// A model's layers launch the same distinct functions again and again. Written out, a hundred layers would be
// hundreds of calls to compile; a stretch that comes often becomes a loop over the launches.
#pragma once
#include <cstddef>
#include <vector>

#include "runtime/exec/native.h"

namespace skdsl::jit {

/// Launches [first, first + period * times).
struct Stretch {
  size_t first = 0;
  size_t period = 1;
  size_t times = 1;
};

/// Stretches that come fewer times than this are written out.
inline constexpr size_t kMinRepeats = 4;

/// All launches in order; `times` is 1 or at least kMinRepeats.
std::vector<Stretch> stretches(const std::vector<exec::NativeLaunch>& launches);

}  // namespace skdsl::jit
