// add_rms_norm — sum = x1 + x2 rounded to its dtype, y = rms_norm of that rounded sum. A tile is one row.
#include "stdlib/kernels/rms_norm.h"

SK_KERNEL(add_rms_norm) {
  using namespace skdsl::kernels;
  const sk_tensor& x1 = call->in[0];
  const sk_tensor& x2 = call->in[1];
  const sk_tensor& y = call->out[0];
  const sk_tensor& sum = call->out[1];
  const int64_t width = last_dim(x1);
  const Share rows = share_of(row_count(x1), block, blocks);
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    const int64_t other = row_offset(x2, r);
    SquareSum squares;
    for_chunks(at(x1, row_offset(x1, r)), dtype_of(x1), last_stride(x1), width,
               [&](float* a, int64_t begin, int64_t n) {
                 float b[kChunk];
                 load(b, at(x2, other + begin * last_stride(x2)), dtype_of(x2), last_stride(x2), n);
                 for (int64_t i = 0; i < n; ++i) a[i] += b[i];
                 void* to = at(sum, r * width + begin);
                 store(to, dtype_of(sum), 1, a, n);
                 load(a, to, dtype_of(sum), 1, n);
                 squares.add(a, n);
               });
    scale_row(at(sum, r * width), dtype_of(sum), 1, width,
              squares.inverse_rms(width, static_cast<float>(call->attr[0].f)), call->in[2], at(y, r * width),
              dtype_of(y));
  }
}
