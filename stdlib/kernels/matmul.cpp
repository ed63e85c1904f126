// matmul — y = x1 x2; x1 [M, K], x2 [K, N]. A tile is a range of columns of y, for all rows.
#include "stdlib/kernels/products.h"

using namespace skdsl::kernels;

SK_WORKSPACE(matmul) { return static_cast<uint64_t>(call->in[0].dim[1]) * sizeof(float); }

SK_KERNEL(matmul) {
  const sk_tensor& x = call->in[0];
  const sk_tensor& x2 = call->in[1];
  const Matrix w{x2.data, dtype_of(x2), x2.dim[0], x2.dim[1], x2.stride[0], x2.stride[1]};
  const Share tiles = share_of(tile_count(w), block, blocks);
  for (int64_t tile = tiles.begin; tile < tiles.end; ++tile)
    multiply_tile(x, w, nullptr, 0, x.dim[0], tile, workspace_of(*call, block), call->out[0]);
}
