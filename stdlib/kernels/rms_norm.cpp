// rms_norm — y = x / sqrt(mean(x²) + eps) * gamma over the last axis. A tile is one row.
#include "stdlib/kernels/rms_norm.h"

SK_KERNEL(rms_norm) {
  using namespace skdsl::kernels;
  const sk_tensor& x = call->in[0];
  const sk_tensor& y = call->out[0];
  const int64_t width = last_dim(x);
  const Share rows = share_of(row_count(x), block, blocks);
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    const void* row = at(x, row_offset(x, r));
    SquareSum squares;
    for_chunks(row, dtype_of(x), last_stride(x), width,
               [&](float* v, int64_t, int64_t n) { squares.add(v, n); });
    scale_row(row, dtype_of(x), last_stride(x), width,
              squares.inverse_rms(width, static_cast<float>(call->attr[0].f)), call->in[1], at(y, r * width),
              dtype_of(y));
  }
}
