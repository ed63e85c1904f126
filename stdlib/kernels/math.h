// math — exp, pow, log2, sin and cos without libm, the same bits on every machine
//
// Always called as math::f, so that no overload of the C library can step in.
// Only +, -, *, / and integer arithmetic on IEEE types; nothing is contracted to fma. Errors are asserted in
// tests/unit/kernels/math_test.cpp against the C library in double.
#pragma once
#include <bit>
#include <cstdint>

namespace skdsl::kernels::math {

/// e to the x in f32: within 2 ulp, subnormal results included; infinities and NaN as usual.
inline float exp(float x) {
  // Beyond these every result is 0 or infinity; comparisons keep NaN.
  x = x < -104.0f ? -104.0f : x;
  x = x > 89.0f ? 89.0f : x;
  // Adding 1.5 * 2^23 leaves the nearest integer in the low bits.
  constexpr float kShift = 12582912.0f;
  const float shifted = x * 1.44269504f + kShift;
  const float n = shifted - kShift;
  // ln 2 in two parts; n times the first is exact.
  const float r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  const float e = (p * (r * r) + r) + 1.0f;
  // Two halves of the power of two, so that results near the ends of the range neither overflow nor flush
  // early.
  const uint32_t k = std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(kShift);
  const uint32_t half = static_cast<uint32_t>(static_cast<int32_t>(k) >> 1);
  const float a = std::bit_cast<float>((half + 127u) << 23);
  const float b = std::bit_cast<float>((k - half + 127u) << 23);
  return e * a * b;
}

/// 1 / (1 + exp(-x)); keeps its relative accuracy for negative x.
inline float sigmoid(float x) {
  const float e = exp(x < 0.0f ? x : -x);
  return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}

/// 2 to the x for |x| < 1000, in double: within 2 ulp.
inline double exp2(double x) {
  constexpr double kShift = 6755399441055744.0;  // 1.5 * 2^52
  const double n = (x + kShift) - kShift;
  const double t = (x - n) * 0.6931471805599453094;
  // exp(t) for |t| <= ln 2 / 2: the terms of the series down to 2^-57.
  double sum = 1.0;
  for (int i = 15; i > 0; --i) sum = 1.0 + sum * t / i;
  return sum * std::bit_cast<double>(static_cast<uint64_t>(static_cast<int64_t>(n) + 1023) << 52);
}

/// A positive normal number as 2^exponent * m; gives log2(m), |log2(m)| <= 1/2.
inline double log2_parts(double x, int64_t& exponent) {
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  exponent = static_cast<int64_t>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0x000fffffffffffffull) | 0x3ff0000000000000ull);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++exponent;
  }
  // log(m) = 2 atanh(s); s² <= 0.0295, so the terms fall below 2^-54 after s^20.
  const double s = (m - 1.0) / (m + 1.0);
  const double s2 = s * s;
  double tail = 0.0;
  for (int i = 23; i >= 3; i -= 2) tail = (tail + 1.0 / i) * s2;
  return (s + s * tail) * 2.8853900817779268147;  // 2 / ln 2
}

/// log2 of a positive normal number, in double.
inline double log2(double x) {
  int64_t exponent = 0;
  const double part = log2_parts(x, exponent);
  return static_cast<double>(exponent) + part;
}

/// x to the y for a positive normal x and |y log2(x)| < 1000, in double: within 4 ulp.
inline double pow(double x, double y) {
  int64_t exponent = 0;
  const double part = log2_parts(x, exponent);
  // y in two halves of its digits: each times the small integer exponent is exact.
  const double high = std::bit_cast<double>(std::bit_cast<uint64_t>(y) & 0xfffffffff8000000ull);
  const double e = static_cast<double>(exponent);
  constexpr double kShift = 6755399441055744.0;
  const double n = (y * (e + part) + kShift) - kShift;
  const double rest = ((high * e - n) + (y - high) * e) + y * part;
  return exp2(rest) * std::bit_cast<double>(static_cast<uint64_t>(static_cast<int64_t>(n) + 1023) << 52);
}

struct SinCos {
  double sin, cos;
};
/// Sine and cosine in double for |x| <= 3e7: absolute error below 2^-51. Larger angles give NaN.
inline SinCos sin_cos(double x) {
  if (!(x <= 3e7 && x >= -3e7)) {
    const double nan = std::bit_cast<double>(0x7ff8000000000000ull);
    return {nan, nan};
  }
  constexpr double kShift = 6755399441055744.0;
  const double n = (x * 0.63661977236758134308 + kShift) - kShift;
  // pi / 2 in parts of 28, 28 and 53 bits: n times the first two is exact.
  const double r0 = x - n * 0x1.921fb54p+0;
  const double r1 = r0 - n * 0x1.10b461p-30;
  const double lost = ((r0 - r1) - n * 0x1.10b461p-30) - n * 0x1.a62633145c06ep-58;
  const double r = r1 + lost;
  const double r2 = r * r;
  double s = 1.0, c = 1.0;
  for (int i = 18; i >= 2; i -= 2) {
    s = 1.0 - s * r2 / (i * (i + 1));
    c = 1.0 - c * r2 / (i * (i - 1));
  }
  s *= r;
  const int64_t quadrant = static_cast<int64_t>(n) & 3;
  const double sine = quadrant & 1 ? c : s;
  const double cosine = quadrant & 1 ? s : c;
  return {quadrant & 2 ? -sine : sine, quadrant == 1 || quadrant == 2 ? -cosine : cosine};
}

}  // namespace skdsl::kernels::math
