// moe_init_routing — assignments (token * k + slot) sorted stably by expert, and their rows of x
//
// Phase 0, block 0: counts and the row of each assignment (a counting sort; there are few assignments). Phase
// 1: the rows; a tile is one assignment, and one row past the end to clear. Experts >= expert_num get no row:
// -1.
#include <utility>

#include "stdlib/kernels/kernel.h"

namespace skdsl::kernels {
namespace {

int64_t expert_of(const sk_tensor& experts, int64_t assignment) {
  return index_at(experts, offset_of(experts, assignment, experts.rank));
}

void sort_by_expert(const sk_call& call) {
  const sk_tensor& experts = call.in[1];
  const int64_t expert_num = call.attr[0].i, assignments = element_count(experts);
  int32_t* row = static_cast<int32_t*>(call.out[1].data);
  int32_t* count = static_cast<int32_t*>(call.out[2].data);
  std::fill(count, count + expert_num, 0);
  for (int64_t a = 0; a < assignments; ++a) {
    const int64_t e = expert_of(experts, a);
    if (e < 0) report_index(call, e, std::numeric_limits<int32_t>::max(), a);
    if (e >= 0 && e < expert_num) ++count[e];
  }
  // For a while `count` holds the next free row of each expert …
  int32_t begin = 0;
  for (int64_t e = 0; e < expert_num; ++e) begin += std::exchange(count[e], begin);
  for (int64_t a = 0; a < assignments; ++a) {
    const int64_t e = expert_of(experts, a);
    row[a] = e >= 0 && e < expert_num ? count[e]++ : -1;
  }
  // … and now each expert's end: differences give the counts back.
  for (int64_t e = expert_num; e-- > 1;) count[e] -= count[e - 1];
}

}  // namespace
}  // namespace skdsl::kernels

SK_KERNEL(moe_init_routing) {
  using namespace skdsl::kernels;
  if (phase == 0) {
    if (block == 0) sort_by_expert(*call);
    return;
  }
  const sk_tensor& x = call->in[0];
  const sk_tensor& rows = call->out[0];
  const int32_t* row = static_cast<const int32_t*>(call->out[1].data);
  const int32_t* count = static_cast<const int32_t*>(call->out[2].data);
  const int64_t width = x.dim[1], k = last_dim(call->in[1]);
  int64_t used = 0;
  for (int64_t e = 0; e < call->attr[0].i; ++e) used += count[e];
  const Share share = share_of(rows.dim[0], block, blocks);
  for (int64_t a = share.begin; a < share.end; ++a) {
    if (row[a] >= 0)
      convert(at(rows, row[a] * width), dtype_of(rows), 1, at(x, a / k * x.stride[0]), dtype_of(x),
              x.stride[1], width);
    if (a >= used) zero(at(rows, a * width), dtype_of(rows), width);
  }
}
