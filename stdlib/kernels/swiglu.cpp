// swiglu — x = [gate | up] along the last axis; y = silu(gate) * up. A tile is one row.
#include "stdlib/kernels/formulas.h"
#include "stdlib/kernels/reduce.h"

SK_KERNEL(swiglu) {
  using namespace skdsl::kernels;
  const sk_tensor& x = call->in[0];
  const sk_tensor& y = call->out[0];
  const int64_t width = last_dim(y);
  const Share rows = share_of(row_count(x), block, blocks);
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    const int64_t row = row_offset(x, r);
    for_chunks(at(x, row), dtype_of(x), last_stride(x), width, [&](float* gate, int64_t begin, int64_t n) {
      float up[kChunk];
      load(up, at(x, row + (width + begin) * last_stride(x)), dtype_of(x), last_stride(x), n);
      for (int64_t i = 0; i < n; ++i) gate[i] = formulas::Silu::of(gate[i]) * up[i];
      store(at(y, r * width + begin), dtype_of(y), 1, gate, n);
    });
  }
}
