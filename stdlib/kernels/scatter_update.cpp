// scatter_update — cache[slot / block_size, slot % block_size] = rows, in place
//
// A tile is a slot of the cache: the block that owns a slot writes it, in row order, so two rows for one slot
// never race and the last one stays. A negative slot writes nothing.
#include "stdlib/kernels/walk.h"

SK_KERNEL(scatter_update) {
  using namespace skdsl::kernels;
  const sk_tensor& cache = call->in[0];
  const sk_tensor& slots = call->in[1];
  const sk_tensor& rows = call->in[2];
  const int64_t block_size = cache.dim[1], limit = cache.dim[0] * block_size;
  // The axes of a row; the cache and the rows may cut them differently, both hold the same number of
  // elements.
  Walk<2> row;
  if (cache.rank == rows.rank + 1) {
    for (uint32_t d = 2; d < cache.rank; ++d) row.push(cache.dim[d], {cache.stride[d], rows.stride[d - 1]});
  } else {
    int64_t width = 1;
    for (uint32_t d = 2; d < cache.rank; ++d) width *= cache.dim[d];
    row.push(width, {1, 1});
  }
  for (int64_t t = 0; t < slots.dim[0]; ++t) {
    const int64_t slot = index_at(slots, t * slots.stride[0]);
    if (slot < 0 || slot % blocks != block) continue;
    if (slot >= limit) {
      report_index(*call, slot, limit, t);
      continue;
    }
    const int64_t to = slot / block_size * cache.stride[0] + slot % block_size * cache.stride[1];
    row.runs(0, row.size, [&](const int64_t* offset, int64_t n) {
      convert(at(cache, to + offset[0]), dtype_of(cache), row.inner_stride(0),
              at(rows, t * rows.stride[0] + offset[1]), dtype_of(rows), row.inner_stride(1), n);
    });
  }
}
