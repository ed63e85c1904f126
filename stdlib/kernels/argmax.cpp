// argmax — along the last axis; the lowest index among equals; NaN is never chosen. A tile is one row.
#include "stdlib/kernels/reduce.h"

SK_KERNEL(argmax) {
  using namespace skdsl::kernels;
  const sk_tensor& x = call->in[0];
  const sk_tensor& y = call->out[0];
  const Share rows = share_of(row_count(x), block, blocks);
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    float best = -std::numeric_limits<float>::infinity();
    int64_t index = 0;
    for_chunks(at(x, row_offset(x, r)), dtype_of(x), last_stride(x), last_dim(x),
               [&](const float* v, int64_t begin, int64_t n) {
                 for (int64_t i = 0; i < n; ++i)
                   if (v[i] > best) {
                     best = v[i];
                     index = begin + i;
                   }
               });
    store(at(y, r), dtype_of(y), 1, &index, 1);
  }
}
