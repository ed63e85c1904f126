// linear — y = x wᵀ + bias; x [T, K], w [N, K]. A tile is a range of columns of y, for all rows.
#include "stdlib/kernels/products.h"

using namespace skdsl::kernels;

SK_WORKSPACE(linear) { return static_cast<uint64_t>(call->in[0].dim[1]) * sizeof(float); }

SK_KERNEL(linear) {
  const sk_tensor& x = call->in[0];
  const sk_tensor& weight = call->in[1];
  const sk_tensor* bias = present(call->in[2]) ? &call->in[2] : nullptr;
  const Matrix w{weight.data,   dtype_of(weight), weight.dim[1],
                 weight.dim[0], weight.stride[1], weight.stride[0]};
  const Share tiles = share_of(tile_count(w), block, blocks);
  for (int64_t tile = tiles.begin; tile < tiles.end; ++tile)
    multiply_tile(x, w, bias, 0, x.dim[0], tile, workspace_of(*call, block), call->out[0]);
}
