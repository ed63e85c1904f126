// rope — rotary embedding of x [T, H, D] with cos and sin [T, D/2]
//
//   half           pairs (i, i + D/2), stored where they were
//   pairs          pairs (2i, 2i + 1), stored where they were
//   pairs_to_half  pairs (2i, 2i + 1), all first members stored first
//
// A tile is one row of one head.
#include "stdlib/kernels/kernel.h"

namespace {
enum Style : int64_t { kHalf, kPairs, kPairsToHalf };  // the choices of ops.def
}

SK_KERNEL(rope) {
  using namespace skdsl::kernels;
  const sk_tensor& x = call->in[0];
  const sk_tensor& cos = call->in[1];
  const sk_tensor& sin = call->in[2];
  const sk_tensor& y = call->out[0];
  const int64_t style = call->attr[0].i;
  const int64_t width = last_dim(x), pairs = width / 2;
  const int64_t heads = x.rank == 3 ? x.dim[1] : 1;
  // Where pair i lies: member 0 at i * step, member 1 `apart` further.
  const int64_t in_step = style == kHalf ? 1 : 2, in_apart = style == kHalf ? pairs : 1;
  const int64_t out_step = style == kPairs ? 2 : 1, out_apart = style == kPairs ? 1 : pairs;
  const Share rows = share_of(row_count(x), block, blocks);
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    const int64_t from = row_offset(x, r), to = r * width, t = r / heads;
    for (int64_t i = 0; i < pairs; i += kChunk) {
      const int64_t n = std::min(kChunk, pairs - i);
      float a[kChunk], b[kChunk], c[kChunk], s[kChunk], first[kChunk], second[kChunk];
      load(a, at(x, from + i * in_step * last_stride(x)), dtype_of(x), in_step * last_stride(x), n);
      load(b, at(x, from + (i * in_step + in_apart) * last_stride(x)), dtype_of(x), in_step * last_stride(x),
           n);
      load(c, at(cos, t * cos.stride[0] + i * cos.stride[1]), dtype_of(cos), cos.stride[1], n);
      load(s, at(sin, t * sin.stride[0] + i * sin.stride[1]), dtype_of(sin), sin.stride[1], n);
      for (int64_t k = 0; k < n; ++k) {
        first[k] = a[k] * c[k] - b[k] * s[k];
        second[k] = b[k] * c[k] + a[k] * s[k];
      }
      store(at(y, to + i * out_step), dtype_of(y), out_step, first, n);
      store(at(y, to + i * out_step + out_apart), dtype_of(y), out_step, second, n);
    }
  }
}
