// memory — pages for linked code: written first, then code that is not writable, constants that are neither,
// and data
#pragma once
#include <cstddef>
#include <cstdint>

#include "runtime/base/error.h"

namespace skdsl::jit {

enum Segment : size_t { kCode, kConstants, kData, kSegments };

/// One mapping of three segments, each of whole pages.
class Memory {
 public:
  Memory() = default;
  Memory(Memory&& other) noexcept { *this = static_cast<Memory&&>(other); }
  Memory& operator=(Memory&& other) noexcept;
  ~Memory();

  /// All writable. `near`: an address that code calls; within 2 GiB of it calls need no stub, so a place
  /// below is tried.
  static Expected<Memory> reserve(const uint64_t (&sizes)[kSegments], uint64_t near);
  /// Gives the segments their final rights.
  Expected<void> protect();

  uint64_t address(Segment s) const { return start_ + begin_[s]; }

 private:
  uint64_t start_ = 0, bytes_ = 0;
  uint64_t begin_[kSegments + 1] = {};
};

}  // namespace skdsl::jit
