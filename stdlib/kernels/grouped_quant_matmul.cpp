// grouped_quant_matmul — rows of x fall to the groups in order; each group has its int8 weight and column
// scales
//
// x [R, K]; w [G, K, N], or [G, N, K] with transpose_weight; group_list [G] holds running ends (type 0) or
// counts (type 1). A tile is a range of columns of one group, for its rows; one more group stands for the
// rows past the sum, which are zero.
#include "stdlib/kernels/groups.h"
#include "stdlib/kernels/quant.h"

SK_KERNEL(grouped_quant_matmul) {
  using namespace skdsl::kernels;
  const sk_tensor& x = call->in[0];
  const sk_tensor& weight = call->in[1];
  const sk_tensor& scale = call->in[3];
  const sk_tensor& y = call->out[0];
  const uint32_t k_axis = call->attr[2].i != 0 ? 2 : 1, n_axis = 3 - k_axis;
  Int8Matrix w{nullptr, weight.dim[k_axis], weight.dim[n_axis], weight.stride[k_axis], weight.stride[n_axis]};
  const int64_t tiles = tile_count(w);
  for_groups(*call, call->in[2], call->attr[0].i == 1, x.dim[0], block,
             [&](int64_t g, int64_t begin, int64_t end) {
               const bool rest = g == weight.dim[0];
               if (!rest) w.data = static_cast<const int8_t*>(at(weight, g * weight.stride[0]));
               for (int64_t tile = 0; tile < tiles; ++tile) {
                 if ((g + tile) % blocks != block) continue;
                 if (!rest) {
                   multiply_int8_tile(x, w, scale, g * scale.stride[0], scale.stride[1], call->in[4], begin,
                                      end, tile, y);
                   continue;
                 }
                 const int64_t from = tile * kInt8Columns, to = std::min(w.n, from + kInt8Columns);
                 for (int64_t r = begin; r < end; ++r)
                   zero(at(y, r * y.stride[0] + from), dtype_of(y), to - from);
               }
             });
}
