// grouped_matmul — rows of x fall to the groups in order; y = x w[g]
//
// x [R, K]; w [G, K, N], or [G, N, K] with transpose_weight; group_list [G] holds running ends (type 0) or
// counts (type 1). A tile is a range of columns of one group, for its rows. Groups are dealt out tile by tile
// because many are empty; one more group stands for the rows past the sum, which are zero.
#include "stdlib/kernels/groups.h"
#include "stdlib/kernels/products.h"

using namespace skdsl::kernels;

SK_WORKSPACE(grouped_matmul) { return static_cast<uint64_t>(call->in[0].dim[1]) * sizeof(float); }

SK_KERNEL(grouped_matmul) {
  const sk_tensor& x = call->in[0];
  const sk_tensor& weight = call->in[1];
  const sk_tensor& groups = call->in[2];
  const sk_tensor& y = call->out[0];
  const bool counts = call->attr[0].i == 1;
  const uint32_t k_axis = call->attr[1].i != 0 ? 2 : 1, n_axis = 3 - k_axis;
  Matrix w{weight.data,        dtype_of(weight),      weight.dim[k_axis],
           weight.dim[n_axis], weight.stride[k_axis], weight.stride[n_axis]};
  const int64_t tiles = tile_count(w);
  for_groups(*call, groups, counts, x.dim[0], block, [&](int64_t g, int64_t begin, int64_t end) {
    const bool rest = g == weight.dim[0];
    if (!rest) w.data = at(weight, g * weight.stride[0]);
    for (int64_t tile = 0; tile < tiles; ++tile) {
      if ((g + tile) % blocks != block) continue;
      if (!rest) {
        multiply_tile(x, w, nullptr, begin, end, tile, workspace_of(*call, block), y);
        continue;
      }
      const int64_t from = tile * tile_columns(w), to = std::min(w.n, from + tile_columns(w));
      for (int64_t r = begin; r < end; ++r) zero(at(y, r * y.stride[0] + from), dtype_of(y), to - from);
    }
  });
}
