// assert — our own mistakes; never reachable from input
#pragma once

namespace skdsl {
/// Prints where and why, says how to report it, and exits with 70.
[[noreturn]] void assertion_failed(const char* file, int line, const char* condition, const char* why);
}  // namespace skdsl

#define SK_ASSERT(cond, why) \
  ((cond) ? static_cast<void>(0) : ::skdsl::assertion_failed(__FILE__, __LINE__, #cond, why))
