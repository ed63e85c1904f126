// transpose_batch_matmul — y[t, h] = x[t, h] w[h]; x [T, H, K], w [H, K, N]
//
// A tile is a range of columns of one head, for all rows.
#include "stdlib/kernels/products.h"

using namespace skdsl::kernels;

namespace {
/// Head h of a tensor [T, H, D] as a matrix [T, D].
sk_tensor head(sk_tensor t, int64_t h) {
  t.data = at(t, h * t.stride[1]);
  t.rank = 2;
  t.dim[1] = t.dim[2];
  t.stride[1] = t.stride[2];
  return t;
}
}  // namespace

SK_WORKSPACE(transpose_batch_matmul) { return static_cast<uint64_t>(call->in[0].dim[2]) * sizeof(float); }

SK_KERNEL(transpose_batch_matmul) {
  const sk_tensor& x = call->in[0];
  const sk_tensor& weight = call->in[1];
  Matrix w{weight.data, dtype_of(weight), weight.dim[1], weight.dim[2], weight.stride[1], weight.stride[2]};
  const int64_t tiles = tile_count(w);
  const Share share = share_of(weight.dim[0] * tiles, block, blocks);
  for (int64_t i = share.begin; i < share.end; ++i) {
    const int64_t h = i / tiles;
    w.data = at(weight, h * weight.stride[0]);
    multiply_tile(head(x, h), w, nullptr, 0, x.dim[0], i % tiles, workspace_of(*call, block),
                  head(call->out[0], h));
  }
}
