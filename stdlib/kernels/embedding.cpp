// embedding — row ids[t] of the table in the dtype of the result. A tile is one row; an id outside leaves
// zeros.
#include "stdlib/kernels/kernel.h"

SK_KERNEL(embedding) {
  using namespace skdsl::kernels;
  const sk_tensor& ids = call->in[0];
  const sk_tensor& table = call->in[1];
  const sk_tensor& y = call->out[0];
  const int64_t width = table.dim[1];
  const Share rows = share_of(element_count(ids), block, blocks);
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    const int64_t id = index_at(ids, offset_of(ids, r, ids.rank));
    if (id < 0 || id >= table.dim[0]) {
      report_index(*call, id, table.dim[0], r);
      zero(at(y, r * width), dtype_of(y), width);
      continue;
    }
    convert(at(y, r * width), dtype_of(y), 1, at(table, id * table.stride[0]), dtype_of(table),
            table.stride[1], width);
  }
}
