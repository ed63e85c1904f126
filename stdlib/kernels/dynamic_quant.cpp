// dynamic_quant — each row of x * smooth_scales as int8 with its own scale, largest magnitude / 127. A tile
// is one row.
#include "stdlib/kernels/quant.h"

SK_KERNEL(dynamic_quant) {
  using namespace skdsl::kernels;
  const sk_tensor& x = call->in[0];
  const sk_tensor& smooth = call->in[1];
  const sk_tensor& y = call->out[0];
  const sk_tensor& scales = call->out[1];
  const int64_t width = last_dim(x);
  const auto smoothed = [&](int64_t row, int64_t begin, int64_t n, float* to) {
    load(to, at(x, row + begin * last_stride(x)), dtype_of(x), last_stride(x), n);
    if (!present(smooth)) return;
    float factor[kChunk];
    load(factor, at(smooth, begin * smooth.stride[0]), dtype_of(smooth), smooth.stride[0], n);
    for (int64_t i = 0; i < n; ++i) to[i] *= factor[i];
  };
  const Share rows = share_of(row_count(x), block, blocks);
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    const int64_t row = row_offset(x, r);
    float chunk[kChunk], largest = 0.0f;
    for (int64_t i = 0; i < width; i += kChunk) {
      const int64_t n = std::min(kChunk, width - i);
      smoothed(row, i, n, chunk);
      largest = std::max(largest, largest_magnitude(chunk, n));
    }
    const float scale = largest / 127.0f;
    for (int64_t i = 0; i < width; i += kChunk) {
      const int64_t n = std::min(kChunk, width - i);
      smoothed(row, i, n, chunk);
      auto* to = static_cast<int8_t*>(at(y, r * width + i));
      for (int64_t k = 0; k < n; ++k) to[k] = quantised(chunk[k], scale);
    }
    store(at(scales, r), dtype_of(scales), 1, &scale, 1);
  }
}
