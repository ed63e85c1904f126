// pieces — concat, split, slice and take: boxes of a tensor along one axis
#include "stdlib/kernels/walk.h"

namespace skdsl::kernels {
namespace {

/// `t` narrowed to [begin, begin + length) of an axis.
sk_tensor narrowed(sk_tensor t, uint32_t axis, int64_t begin, int64_t length) {
  t.data = at(t, begin * t.stride[axis]);
  t.dim[axis] = length;
  return t;
}

/// One block's share of copying between two views of one shape.
void copy(const sk_tensor& to, const sk_tensor& from, uint32_t block, uint32_t blocks) {
  Walk<2> walk;
  for (uint32_t d = 0; d < from.rank; ++d) walk.push(from.dim[d], {to.stride[d], from.stride[d]});
  copy_share(walk, to, from, block, blocks);
}

}  // namespace
}  // namespace skdsl::kernels

using namespace skdsl::kernels;

SK_KERNEL(concat) {
  const sk_tensor& y = call->out[0];
  const uint32_t axis = axis_of(call->attr[0].i, y.rank);
  int64_t begin = 0;
  for (uint32_t k = 0; k < call->n_in; ++k) {
    const sk_tensor& x = call->in[k];
    copy(narrowed(y, axis, begin, x.dim[axis]), x, block, blocks);
    begin += x.dim[axis];
  }
}

SK_KERNEL(split) {
  const sk_tensor& x = call->in[0];
  const uint32_t axis = axis_of(call->attr[1].i, x.rank);
  int64_t begin = 0;
  for (uint32_t k = 0; k < call->n_out; ++k) {
    const sk_tensor& y = call->out[k];
    copy(y, narrowed(x, axis, begin, y.dim[axis]), block, blocks);
    begin += y.dim[axis];
  }
}

SK_KERNEL(slice) {
  const sk_tensor& x = call->in[0];
  const sk_tensor& y = call->out[0];
  const uint32_t axis = axis_of(call->attr[0].i, x.rank);
  const int64_t begin = call->attr[1].i < 0 ? call->attr[1].i + x.dim[axis] : call->attr[1].i;
  copy(y, narrowed(x, axis, begin, y.dim[axis]), block, blocks);
}

SK_KERNEL(take) {
  const sk_tensor& x = call->in[0];
  const uint32_t axis = axis_of(call->attr[0].i, x.rank);
  const int64_t index = call->attr[1].i < 0 ? call->attr[1].i + x.dim[axis] : call->attr[1].i;
  // The result seen with the taken axis, of length 1, still in place.
  sk_tensor y = call->out[0];
  ++y.rank;
  for (uint32_t d = y.rank; d-- > axis + 1;) {
    y.dim[d] = y.dim[d - 1];
    y.stride[d] = y.stride[d - 1];
  }
  y.dim[axis] = 1;
  y.stride[axis] = 0;
  copy(y, narrowed(x, axis, index, 1), block, blocks);
}
