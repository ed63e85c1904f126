#include "runtime/model/finite.h"

#include <fmt/format.h>

#include <cstring>

namespace skdsl::model {

namespace {

/// A float is finite unless its exponent is all ones; then it is infinite when the rest is zero.
template <class Word, Word kExponent, Word kFraction>
std::optional<NonFinite> look(std::span<const std::byte> bytes) {
  const auto count = static_cast<int64_t>(bytes.size() / sizeof(Word));
  constexpr int64_t kBlock = 4096;
  std::optional<NonFinite> found;
  Word block[kBlock];
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const int64_t n = count - begin < kBlock ? count - begin : kBlock;
    std::memcpy(block, bytes.data() + begin * static_cast<int64_t>(sizeof(Word)),
                static_cast<size_t>(n) * sizeof(Word));
    // Nearly every block is clean; this loop has no branches.
    unsigned any = 0;
    for (int64_t i = 0; i < n; ++i) any |= (block[i] & kExponent) == kExponent;
    if (!any) continue;
    for (int64_t i = 0; i < n; ++i) {
      if ((block[i] & kExponent) != kExponent) continue;
      if (!found) found = NonFinite{0, 0, begin + i};
      ++((block[i] & kFraction) != 0 ? found->nans : found->infinities);
    }
  }
  return found;
}

}  // namespace

std::optional<NonFinite> non_finite(sk_dtype dtype, std::span<const std::byte> bytes) {
  if (dtype == SK_F32) return look<uint32_t, 0x7f800000, 0x007fffff>(bytes);
  if (dtype == SK_BF16) return look<uint16_t, 0x7f80, 0x007f>(bytes);
  if (dtype == SK_F16) return look<uint16_t, 0x7c00, 0x03ff>(bytes);
  return {};
}

std::string describe(const NonFinite& found) {
  std::string out;
  if (found.nans > 0) out = fmt::format("{} NaN", found.nans);
  if (found.infinities > 0) out += fmt::format("{}{} infinite", out.empty() ? "" : " and ", found.infinities);
  return fmt::format("{} value{}, the first is element {}", out,
                     found.nans + found.infinities == 1 ? "" : "s", found.first);
}

}  // namespace skdsl::model
