// random_normal — standard normal numbers from Philox4x32-10 keyed by `seed`
//
// Counter c gives elements 4c … 4c + 3: two Box-Muller pairs, computed in double. Element i depends on seed
// and i alone, so neither blocks nor shapes matter. A tile is a run of counters.
#include <array>

#include "stdlib/kernels/kernel.h"
#include "stdlib/kernels/math.h"

namespace skdsl::kernels {
namespace {

std::array<uint32_t, 4> philox(uint64_t key, uint64_t counter) {
  std::array<uint32_t, 4> c = {static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), 0, 0};
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53u} * c[0], p1 = uint64_t{0xCD9E8D57u} * c[2];
    c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(p1),
         static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(p0)};
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return c;
}

/// Two normal numbers from two words.
void box_muller(uint32_t a, uint32_t b, float* out) {
  constexpr double kUnit = 1.0 / 4294967296.0;
  constexpr double kLn2 = 0.6931471805599453094, kTwoPi = 6.283185307179586477;
  // (0, 1]: the logarithm of 0 cannot happen.
  const double u = (static_cast<double>(a) + 1.0) * kUnit;
  const double radius = __builtin_sqrt(-2.0 * kLn2 * math::log2(u));
  const math::SinCos angle = math::sin_cos(kTwoPi * (static_cast<double>(b) * kUnit));
  out[0] = static_cast<float>(radius * angle.cos);
  out[1] = static_cast<float>(radius * angle.sin);
}

}  // namespace
}  // namespace skdsl::kernels

SK_KERNEL(random_normal) {
  using namespace skdsl::kernels;
  const sk_tensor& y = call->out[0];
  const Share share = elements_of(element_count(y), block, blocks);
  static_assert(kTileElements % 4 == 0);
  for (int64_t i = share.begin; i < share.end; i += 4) {
    const auto words = philox(static_cast<uint64_t>(call->attr[1].i), static_cast<uint64_t>(i / 4));
    float four[4];
    box_muller(words[0], words[1], four);
    box_muller(words[2], words[3], four + 2);
    store(at(y, i), dtype_of(y), 1, four, std::min<int64_t>(4, share.end - i));
  }
}
