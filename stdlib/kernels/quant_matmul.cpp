// quant_matmul — x1 x2 of int8 matrices: exact int32 sums, or these times the column's and the row's scale
//
// x1 [M, K]; x2 [K, N], or [N, K] with transpose_x2. A tile is a range of columns, for all rows.
#include "stdlib/kernels/quant.h"

SK_KERNEL(quant_matmul) {
  using namespace skdsl::kernels;
  const sk_tensor& x = call->in[0];
  const sk_tensor& weight = call->in[1];
  const sk_tensor& scale = call->in[2];
  const uint32_t k_axis = call->attr[1].i != 0 ? 1 : 0, n_axis = 1 - k_axis;
  const Int8Matrix w{static_cast<const int8_t*>(weight.data), weight.dim[k_axis], weight.dim[n_axis],
                     weight.stride[k_axis], weight.stride[n_axis]};
  const Share tiles = share_of(tile_count(w), block, blocks);
  for (int64_t tile = tiles.begin; tile < tiles.end; ++tile)
    multiply_int8_tile(x, w, scale, 0, scale.stride[0], call->in[3], 0, x.dim[0], tile, call->out[0]);
}
