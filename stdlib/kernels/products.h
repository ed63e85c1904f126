// products — rows times a matrix, the core of every matrix kernel
//
// y[n] = sum over k of x[k] w[k, n] in the order of `dot`, whatever the layout of w: rows along k are dotted,
// rows along n keep the 16 lanes of `dot` as 16 rows of sums. So all matrix kernels agree to the bit, for one
// row and for many. A tile is a range of columns and all rows of one matrix: its weights come from memory
// once.
#pragma once
#include "stdlib/kernels/reduce.h"

namespace skdsl::kernels {

/// w[k, n], in elements of a float storage.
struct Matrix {
  const void* data;
  sk_dtype dtype;
  int64_t k, n;
  int64_t stride_k, stride_n;
};

/// Columns of a tile: it follows from the layout, which a launch cannot change.
inline int64_t tile_columns(const Matrix& w) { return w.stride_k == 1 ? 32 : 128; }
inline constexpr int64_t kMaxTileColumns = 128;
inline int64_t tile_count(const Matrix& w) { return (w.n + tile_columns(w) - 1) / tile_columns(w); }

/// Columns [begin, end) when w's rows along k are contiguous.
template <class S>
inline void products_along_k(const float* x, const Matrix& w, int64_t begin, int64_t end, float* y) {
  const S* columns = static_cast<const S*>(w.data);
  int64_t n = begin;
  for (; n + 4 <= end; n += 4) {
    float four[4];
    dot4(x, columns + n * w.stride_n, w.stride_n, w.k, four);
    std::copy(four, four + 4, y + (n - begin));
  }
  for (; n < end; ++n) y[n - begin] = dot(x, columns + n * w.stride_n, w.k);
}

/// The same for any strides; meant for contiguous rows along n.
template <class S>
inline void products_along_n(const float* x, const Matrix& w, int64_t begin, int64_t end, float* y) {
  float lane[kLanes][kMaxTileColumns] = {};
  const int64_t width = end - begin;
  const S* tile = static_cast<const S*>(w.data) + begin * w.stride_n;
  for (int64_t k = 0; k < w.k; ++k) {
    const S* row = tile + k * w.stride_k;
    float* sums = lane[k % kLanes];
    int64_t n = 0;
    if (w.stride_n == 1)
      for (; n + kLanes <= width; n += kLanes) store16(sums + n, load16(sums + n) + load16(row + n) * x[k]);
    for (; n < width; ++n) sums[n] += to_f32(row[n * w.stride_n]) * x[k];
  }
  for (int64_t half = kLanes / 2; half > 0; half /= 2)
    for (int64_t l = 0; l < half; ++l)
      for (int64_t n = 0; n < width; ++n) lane[l][n] += lane[l + half][n];
  std::copy(lane[0], lane[0] + width, y);
}

inline void products(const float* x, const Matrix& w, int64_t begin, int64_t end, float* y) {
  with_float(w.dtype, [&](auto tag) {
    using S = decltype(tag);
    if (w.stride_k == 1)
      products_along_k<S>(x, w, begin, end, y);
    else
      products_along_n<S>(x, w, begin, end, y);
  });
}

/// A row of x as contiguous f32: itself, or converted into `space` (k floats).
inline const float* as_f32(const void* row, sk_dtype dtype, int64_t stride, int64_t k, float* space) {
  if (dtype == SK_F32 && stride == 1) return static_cast<const float*>(row);
  load(space, row, dtype, stride, k);
  return space;
}

/// Rows [row_begin, row_end) of x [R, K] times tile `tile` of w, into y [R, N].
/// `bias` (N f32-readable values) may be null; `space` holds K floats.
inline void multiply_tile(const sk_tensor& x, const Matrix& w, const sk_tensor* bias, int64_t row_begin,
                          int64_t row_end, int64_t tile, float* space, const sk_tensor& y) {
  const int64_t begin = tile * tile_columns(w);
  const int64_t end = std::min(w.n, begin + tile_columns(w));
  float sums[kMaxTileColumns], add[kMaxTileColumns];
  if (bias != nullptr)
    load(add, at(*bias, begin * bias->stride[0]), dtype_of(*bias), bias->stride[0], end - begin);
  for (int64_t r = row_begin; r < row_end; ++r) {
    const float* row = as_f32(at(x, r * x.stride[0]), dtype_of(x), x.stride[1], w.k, space);
    products(row, w, begin, end, sums);
    if (bias != nullptr)
      for (int64_t n = 0; n < end - begin; ++n) sums[n] += add[n];
    store(at(y, r * y.stride[0] + begin * y.stride[1]), dtype_of(y), y.stride[1], sums, end - begin);
  }
}

}  // namespace skdsl::kernels
