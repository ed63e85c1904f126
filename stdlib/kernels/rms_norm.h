// rms_norm — the two halves that rms_norm and add_rms_norm share
#pragma once
#include "stdlib/kernels/reduce.h"

namespace skdsl::kernels {

/// The sum of squares of a row that comes in chunks, in the order of `dot`.
class SquareSum {
 public:
  void add(const float* x, int64_t n) {
    float squares[kChunk];
    for (int64_t i = 0; i < n; ++i) squares[i] = x[i] * x[i];
    sum_.add(squares, n);
  }
  /// 1 / sqrt(mean + eps)
  float inverse_rms(int64_t n, float eps) const {
    return 1.0f / __builtin_sqrtf(sum_.sum() / static_cast<float>(n) + eps);
  }

 private:
  LaneSum sum_;
};

/// to[i] = (row[i] * scale) * gamma[i], rounded once.
inline void scale_row(const void* row, sk_dtype dtype, int64_t stride, int64_t n, float scale,
                      const sk_tensor& gamma, void* to, sk_dtype to_dtype) {
  for_chunks(row, dtype, stride, n, [&](float* x, int64_t begin, int64_t m) {
    float g[kChunk];
    load(g, at(gamma, begin * gamma.stride[0]), dtype_of(gamma), gamma.stride[0], m);
    for (int64_t i = 0; i < m; ++i) x[i] = (x[i] * scale) * g[i];
    store(static_cast<char*>(to) + begin * dtype_bytes(to_dtype), to_dtype, 1, x, m);
  });
}

}  // namespace skdsl::kernels
