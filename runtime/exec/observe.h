// observe — watching kernels as they end, in every executor, fused or not
//
// For tensor dumps and the hunt for the first NaN. What is watched does not change one bit.
#pragma once
#include <functional>
#include <span>
#include <string>

#include "runtime/abi/abi.h"
#include "runtime/base/span.h"
#include "stdlib/op_info.h"

namespace skdsl::exec {

/// A kernel that has just ended, or a `dump` whose value is there (then code is Tap, `in` the value and
/// `name` its name).
struct Observed {
  Opcode code;
  const Loc& loc;
  const std::string& path;
  std::span<const sk_tensor> in, out;
  std::string_view name;
};
using Observer = std::function<void(const Observed&)>;

}  // namespace skdsl::exec
