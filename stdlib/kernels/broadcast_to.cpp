// broadcast_to — x repeated to a shape
#include "stdlib/kernels/walk.h"

SK_KERNEL(broadcast_to) {
  using namespace skdsl::kernels;
  const sk_tensor& x = call->in[0];
  const sk_tensor& y = call->out[0];
  Walk<2> walk;
  for (uint32_t d = 0; d < y.rank; ++d) walk.push(y.dim[d], {y.stride[d], broadcast_stride(x, d, y.rank)});
  copy_share(walk, y, x, block, blocks);
}
