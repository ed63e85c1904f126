// transpose — two axes change places
#include <utility>

#include "stdlib/kernels/walk.h"

SK_KERNEL(transpose) {
  using namespace skdsl::kernels;
  sk_tensor x = call->in[0];
  const sk_tensor& y = call->out[0];
  std::swap(x.stride[axis_of(call->attr[0].i, x.rank)], x.stride[axis_of(call->attr[1].i, x.rank)]);
  Walk<2> walk;
  for (uint32_t d = 0; d < y.rank; ++d) walk.push(y.dim[d], {y.stride[d], x.stride[d]});
  copy_share(walk, y, x, block, blocks);
}
