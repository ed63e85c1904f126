// index_put — x with `value` where mask is true
//
// The mask covers the leading axes of x; the n matches take, in row-major order, the slices of `value`
// broadcast to [n, remaining axes]. A tile is one mask element.
#include "stdlib/kernels/walk.h"

SK_KERNEL(index_put) {
  using namespace skdsl::kernels;
  const sk_tensor& x = call->in[0];
  const sk_tensor& mask = call->in[1];
  const sk_tensor& value = call->in[2];
  const sk_tensor& y = call->out[0];
  Walk<3> slice;  // 0: y, 1: x, 2: value
  const uint32_t slice_rank = x.rank - mask.rank;
  for (uint32_t d = 0; d < slice_rank; ++d)
    slice.push(x.dim[mask.rank + d], {y.stride[mask.rank + d], x.stride[mask.rank + d],
                                      broadcast_stride(value, d + 1, slice_rank + 1)});
  // `value` with an axis for the matches; otherwise one slice serves all.
  const bool has_axis = value.rank == slice_rank + 1 && value.dim[0] != 1;
  const auto is_set = [&](int64_t i) { return index_at(mask, offset_of(mask, i, mask.rank)) != 0; };
  const Share share = share_of(element_count(mask), block, blocks);
  int64_t matches = 0;
  if (has_axis)
    for (int64_t i = 0; i < share.begin; ++i) matches += is_set(i);
  for (int64_t i = share.begin; i < share.end; ++i) {
    const int64_t from = offset_of(x, i, mask.rank), to = i * slice.size;
    const bool set = is_set(i);
    const int64_t match = matches;
    matches += set;
    if (set && has_axis && match >= value.dim[0]) {
      report_index(*call, match, value.dim[0], i);
      zero(at(y, to), dtype_of(y), slice.size);
      continue;
    }
    const int64_t value_from = has_axis ? match * value.stride[0] : 0;
    slice.runs(0, slice.size, [&](const int64_t* offset, int64_t n) {
      if (set)
        convert(at(y, to + offset[0]), dtype_of(y), slice.inner_stride(0), at(value, value_from + offset[2]),
                dtype_of(value), slice.inner_stride(2), n);
      else
        convert(at(y, to + offset[0]), dtype_of(y), slice.inner_stride(0), at(x, from + offset[1]),
                dtype_of(x), slice.inner_stride(1), n);
    });
  }
}
