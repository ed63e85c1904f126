// chips — the device profiles of chips.def
#pragma once
#include <cstdint>
#include <string_view>

namespace skdsl {

struct Chip {
  std::string_view name;  // as `chip` of a run config has it
  int64_t aic = 0;        // cube cores
  int64_t aiv = 0;        // vector cores
  int64_t l2_bytes = 0;
  int64_t hbm_bytes = 0;
  int64_t hbm_gb_per_s = 0;
  int64_t streams = 0;  // that a process may hold
  std::string_view source;
};

inline constexpr Chip kChips[] = {
#define SK_CHIP(...) {__VA_ARGS__},
#include "stdlib/chips.def"
#undef SK_CHIP
};

/// Null when there is none of that name.
constexpr const Chip* find_chip(std::string_view name) {
  for (const Chip& chip : kChips)
    if (chip.name == name) return &chip;
  return nullptr;
}

}  // namespace skdsl
