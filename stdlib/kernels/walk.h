// walk — visits the elements of N equally shaped strided views in row-major order
//
// Axes that lie in memory as one are merged first, so that contiguous operands give one long run and a
// broadcast along the last axis gives one run a row. Position `flat` counts elements of the common shape.
#pragma once
#include "stdlib/kernels/kernel.h"

namespace skdsl::kernels {

template <int N>
struct Walk {
  uint32_t rank = 0;
  int64_t size = 1;
  int64_t dim[SK_MAX_RANK];
  int64_t stride[N][SK_MAX_RANK];

  /// Adds an axis inside the ones before it; strides are in elements, 0 repeats.
  void push(int64_t length, const int64_t (&strides)[N]) {
    size *= length;
    if (length == 1) return;
    bool merges = rank > 0;
    for (int k = 0; k < N && merges; ++k) merges = stride[k][rank - 1] == length * strides[k];
    if (!merges) dim[rank++] = 1;
    dim[rank - 1] *= length;
    for (int k = 0; k < N; ++k) stride[k][rank - 1] = strides[k];
  }

  int64_t inner_stride(int k) const { return rank == 0 ? 1 : stride[k][rank - 1]; }

  /// f(offsets, n): n elements that follow each other at inner_stride(k), for all of [begin, end).
  template <class F>
  void runs(int64_t begin, int64_t end, F&& f) const {
    if (begin >= end) return;
    int64_t position[SK_MAX_RANK] = {};
    int64_t offset[N] = {};
    int64_t rest = begin;
    for (uint32_t d = rank; d-- > 0; rest /= dim[d]) {
      position[d] = rest % dim[d];
      for (int k = 0; k < N; ++k) offset[k] += position[d] * stride[k][d];
    }
    const int64_t inner = rank == 0 ? 1 : dim[rank - 1];
    int64_t first = rank == 0 ? 0 : position[rank - 1];
    for (int64_t at = begin; at < end;) {
      const int64_t n = std::min(inner - first, end - at);
      f(static_cast<const int64_t*>(offset), n);
      at += n;
      if (at == end) return;
      for (int k = 0; k < N; ++k) offset[k] -= first * inner_stride(k);
      first = 0;
      for (uint32_t d = rank - 1; d-- > 0;) {
        ++position[d];
        for (int k = 0; k < N; ++k) offset[k] += stride[k][d];
        if (position[d] < dim[d]) break;
        for (int k = 0; k < N; ++k) offset[k] -= dim[d] * stride[k][d];
        position[d] = 0;
      }
    }
  }
};

/// The stride of `t` along axis `d` of a shape of `rank` axes that `t` broadcasts to.
inline int64_t broadcast_stride(const sk_tensor& t, uint32_t d, uint32_t rank) {
  const uint32_t missing = rank - t.rank;
  return d < missing || t.dim[d - missing] == 1 ? 0 : t.stride[d - missing];
}

/// Copies `from` over `to`, both given over the common shape of the walk (0: to, 1: from), one block's share.
inline void copy_share(const Walk<2>& walk, const sk_tensor& to, const sk_tensor& from, uint32_t block,
                       uint32_t blocks) {
  const Share share = elements_of(walk.size, block, blocks);
  walk.runs(share.begin, share.end, [&](const int64_t* offset, int64_t n) {
    convert(at(to, offset[0]), dtype_of(to), walk.inner_stride(0), at(from, offset[1]), dtype_of(from),
            walk.inner_stride(1), n);
  });
}

}  // namespace skdsl::kernels
