// quant — int8 values: floats over a scale, and exact products
#pragma once
#include "stdlib/kernels/kernel.h"

namespace skdsl::kernels {

/// x / scale to the nearest integer, halves to even, within -127 … 127; 0 for a scale of 0 and for NaN.
inline int8_t quantised(float x, float scale) {
  float v = scale == 0.0f ? 0.0f : x / scale;
  v = v < -127.0f ? -127.0f : v;
  v = v > 127.0f ? 127.0f : v;
  // Adding 1.5 * 2^23 leaves no room behind the point: the addition rounds halves to even.
  constexpr float kShift = 12582912.0f;
  return v == v ? static_cast<int8_t>((v + kShift) - kShift) : int8_t{0};
}

/// The largest |x|, NaN left out.
inline float largest_magnitude(const float* x, int64_t n) {
  float largest = 0.0f;
  for (int64_t i = 0; i < n; ++i) {
    const float magnitude = x[i] < 0.0f ? -x[i] : x[i];
    largest = magnitude > largest ? magnitude : largest;
  }
  return largest;
}

/// w[k, n] of int8, strides in elements.
struct Int8Matrix {
  const int8_t* data;
  int64_t k, n;
  int64_t stride_k, stride_n;
};

inline constexpr int64_t kInt8Columns = 32;
inline int64_t tile_count(const Int8Matrix& w) { return (w.n + kInt8Columns - 1) / kInt8Columns; }

/// The sum of products of one row and one column. The order does not matter: nothing is rounded, and the
/// shape rule keeps k so small that int32 holds the sum.
inline int32_t exact_dot(const int8_t* x, int64_t stride, const Int8Matrix& w, int64_t column) {
  const int8_t* p = w.data + column * w.stride_n;
  int32_t sum = 0;
  if (stride == 1 && w.stride_k == 1)
    for (int64_t k = 0; k < w.k; ++k) sum += int32_t{x[k]} * int32_t{p[k]};
  else
    for (int64_t k = 0; k < w.k; ++k) sum += int32_t{x[k * stride]} * int32_t{p[k * w.stride_k]};
  return sum;
}

/// The float at `offset` elements.
inline float scale_at(const sk_tensor& scales, int64_t offset) {
  float value = 0.0f;
  load(&value, at(scales, offset), dtype_of(scales), 1, 1);
  return value;
}

/// Rows [begin, end) of x times tile `tile` of w, into y: sums as they are, or (sum * scale[column]) *
/// row_scale[row]. `scale` begins at `scale_offset`; without it y holds i32.
inline void multiply_int8_tile(const sk_tensor& x, const Int8Matrix& w, const sk_tensor& scale,
                               int64_t scale_offset, int64_t scale_stride, const sk_tensor& row_scale,
                               int64_t begin, int64_t end, int64_t tile, const sk_tensor& y) {
  const int64_t from = tile * kInt8Columns, n = std::min(w.n, from + kInt8Columns) - from;
  for (int64_t r = begin; r < end; ++r) {
    const auto* row = static_cast<const int8_t*>(at(x, r * x.stride[0]));
    void* to = at(y, r * y.stride[0] + from * y.stride[1]);
    int64_t sums[kInt8Columns];
    for (int64_t i = 0; i < n; ++i) sums[i] = exact_dot(row, x.stride[1], w, from + i);
    if (!present(scale)) {
      store(to, dtype_of(y), y.stride[1], sums, n);
      continue;
    }
    const float of_row = present(row_scale) ? scale_at(row_scale, r * row_scale.stride[0]) : 1.0f;
    float values[kInt8Columns];
    for (int64_t i = 0; i < n; ++i)
      values[i] =
          (static_cast<float>(sums[i]) * scale_at(scale, scale_offset + (from + i) * scale_stride)) * of_row;
    store(to, dtype_of(y), y.stride[1], values, n);
  }
}

}  // namespace skdsl::kernels
