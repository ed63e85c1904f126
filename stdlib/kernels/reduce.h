// reduce — the one order in which this project adds many numbers
//
// Element i goes to lane i mod 16; each lane adds in rising i; the lanes are then added in halves:
// 16 -> 8 -> 4 -> 2 -> 1. The order depends on the length alone: not on strides, dtypes, tiles or the vector
// width of the machine, so a product computed from a row-major and from a column-major matrix has the same
// bits.
#pragma once
#include "stdlib/kernels/kernel.h"

namespace skdsl::kernels {

inline constexpr int64_t kLanes = 16;
using f32x16 = float __attribute__((ext_vector_type(16)));

// Vectors travel in registers only: a function that takes or gives one is always inlined.
#define SK_INLINE inline __attribute__((always_inline))

/// 16 elements of contiguous float storage.
SK_INLINE f32x16 load16(const float* p) {
  f32x16 v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
SK_INLINE f32x16 load16(const bf16* p) {
  using u16x16 = uint16_t __attribute__((ext_vector_type(16)));
  using u32x16 = uint32_t __attribute__((ext_vector_type(16)));
  u16x16 h;
  std::memcpy(&h, p, sizeof h);
  return __builtin_bit_cast(f32x16, __builtin_convertvector(h, u32x16) << 16);
}
SK_INLINE f32x16 load16(const f16* p) {
  using f16x16 = _Float16 __attribute__((ext_vector_type(16)));
  f16x16 h;
  std::memcpy(&h, p, sizeof h);
  return __builtin_convertvector(h, f32x16);
}
SK_INLINE void store16(float* p, f32x16 v) { std::memcpy(p, &v, sizeof v); }
/// The first n elements, zeros behind them.
template <class S>
SK_INLINE f32x16 load_first(const S* p, int64_t n) {
  S padded[kLanes] = {};
  std::memcpy(padded, p, static_cast<size_t>(n) * sizeof(S));
  return load16(padded);
}

/// The fixed tree over the lanes.
SK_INLINE float sum_lanes(f32x16 v) {
  const auto v8 = v.lo + v.hi;
  const auto v4 = v8.lo + v8.hi;
  const auto v2 = v4.lo + v4.hi;
  return v2.x + v2.y;
}

/// Sum of a[i] * b[i]; lanes start at +0, so zero padding changes no bit.
template <class A, class B>
inline float dot(const A* a, const B* b, int64_t n) {
  f32x16 acc = 0.0f;
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) acc += load16(a + i) * load16(b + i);
  if (i < n) acc += load_first(a + i, n - i) * load_first(b + i, n - i);
  return sum_lanes(acc);
}

/// Four dots of one vector with rows that lie `stride` elements apart, each in the order of `dot`.
template <class A, class B>
inline void dot4(const A* a, const B* b, int64_t stride, int64_t n, float (&out)[4]) {
  const B *b0 = b, *b1 = b + stride, *b2 = b + 2 * stride, *b3 = b + 3 * stride;
  f32x16 acc0 = 0.0f, acc1 = 0.0f, acc2 = 0.0f, acc3 = 0.0f;
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const f32x16 x = load16(a + i);
    acc0 += x * load16(b0 + i);
    acc1 += x * load16(b1 + i);
    acc2 += x * load16(b2 + i);
    acc3 += x * load16(b3 + i);
  }
  if (i < n) {
    const f32x16 x = load_first(a + i, n - i);
    acc0 += x * load_first(b0 + i, n - i);
    acc1 += x * load_first(b1 + i, n - i);
    acc2 += x * load_first(b2 + i, n - i);
    acc3 += x * load_first(b3 + i, n - i);
  }
  out[0] = sum_lanes(acc0);
  out[1] = sum_lanes(acc1);
  out[2] = sum_lanes(acc2);
  out[3] = sum_lanes(acc3);
}

/// The same order for numbers that come in chunks; every chunk but the last is a multiple of 16 long.
class LaneSum {
 public:
  void add(const float* chunk, int64_t n) {
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) lanes_ += load16(chunk + i);
    if (i < n) lanes_ += load_first(chunk + i, n - i);
  }
  float sum() const { return sum_lanes(lanes_); }

 private:
  f32x16 lanes_ = 0.0f;
};
static_assert(kChunk % kLanes == 0);

/// f(chunk, begin, n) for a strided row read into f32 registers.
template <class F>
inline void for_chunks(const void* row, sk_dtype dtype, int64_t stride, int64_t n, F&& f) {
  float chunk[kChunk];
  for (int64_t i = 0; i < n; i += kChunk) {
    const int64_t m = std::min(kChunk, n - i);
    load(chunk, static_cast<const char*>(row) + i * stride * dtype_bytes(dtype), dtype, stride, m);
    f(static_cast<float*>(chunk), i, m);
  }
}

/// Largest element, NaN left out; -infinity when there is none.
inline float max_without_nan(const void* row, sk_dtype dtype, int64_t stride, int64_t n) {
  float m = -std::numeric_limits<float>::infinity();
  for_chunks(row, dtype, stride, n, [&](const float* x, int64_t, int64_t count) {
    for (int64_t i = 0; i < count; ++i) m = x[i] > m ? x[i] : m;
  });
  return m;
}

#undef SK_INLINE

}  // namespace skdsl::kernels
