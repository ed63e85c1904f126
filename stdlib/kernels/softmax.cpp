// softmax — along the last axis; a row that is -infinity everywhere gives zeros. A tile is one row.
#include "stdlib/kernels/math.h"
#include "stdlib/kernels/reduce.h"

SK_KERNEL(softmax) {
  using namespace skdsl::kernels;
  const sk_tensor& x = call->in[0];
  const sk_tensor& y = call->out[0];
  const int64_t width = last_dim(x);
  const Share rows = share_of(row_count(x), block, blocks);
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    const void* row = at(x, row_offset(x, r));
    // The maximum is subtracted first so that exp cannot overflow; 0 for a masked row keeps math::exp(-inf) =
    // 0.
    float max = max_without_nan(row, dtype_of(x), last_stride(x), width);
    if (max == -std::numeric_limits<float>::infinity()) max = 0.0f;
    LaneSum sum;
    for_chunks(row, dtype_of(x), last_stride(x), width, [&](float* v, int64_t, int64_t n) {
      for (int64_t i = 0; i < n; ++i) v[i] = math::exp(v[i] - max);
      sum.add(v, n);
    });
    const float total = sum.sum();
    for_chunks(row, dtype_of(x), last_stride(x), width, [&](float* v, int64_t begin, int64_t n) {
      for (int64_t i = 0; i < n; ++i) v[i] = total == 0.0f ? 0.0f : math::exp(v[i] - max) / total;
      store(at(y, r * width + begin), dtype_of(y), 1, v, n);
    });
  }
}
