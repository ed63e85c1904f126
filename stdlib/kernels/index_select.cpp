// index_select — slices of x along an axis picked by a vector of indices
//
// A tile is one slice of the axis inside one position of the axes before it. An index outside leaves zeros.
#include "stdlib/kernels/walk.h"

SK_KERNEL(index_select) {
  using namespace skdsl::kernels;
  const sk_tensor& x = call->in[0];
  const sk_tensor& index = call->in[1];
  const sk_tensor& y = call->out[0];
  const uint32_t axis = axis_of(call->attr[0].i, x.rank);
  Walk<2> slice;
  for (uint32_t d = axis + 1; d < x.rank; ++d) slice.push(x.dim[d], {y.stride[d], x.stride[d]});
  const int64_t picked = element_count(index);
  int64_t before = 1;
  for (uint32_t d = 0; d < axis; ++d) before *= x.dim[d];
  const Share share = share_of(before * picked, block, blocks);
  for (int64_t tile = share.begin; tile < share.end; ++tile) {
    const int64_t outer = tile / picked, i = tile % picked;
    const int64_t from = index_at(index, offset_of(index, i, index.rank));
    const int64_t to_offset = tile * slice.size;
    if (from < 0 || from >= x.dim[axis]) {
      report_index(*call, from, x.dim[axis], i);
      zero(at(y, to_offset), dtype_of(y), slice.size);
      continue;
    }
    const int64_t from_offset = offset_of(x, outer, axis) + from * x.stride[axis];
    slice.runs(0, slice.size, [&](const int64_t* offset, int64_t n) {
      convert(at(y, to_offset + offset[0]), dtype_of(y), slice.inner_stride(0),
              at(x, from_offset + offset[1]), dtype_of(x), slice.inner_stride(1), n);
    });
  }
}
