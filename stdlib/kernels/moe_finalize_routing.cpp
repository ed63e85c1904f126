// moe_finalize_routing — the sum over the k slots of weight * y[row], in slot order
//
// A slot whose expert is >= expert_num adds weight * x. A tile is one token; a row outside leaves zeros.
#include "stdlib/kernels/kernel.h"

namespace skdsl::kernels {
namespace {

struct Term {
  const sk_tensor* from;
  int64_t row;
};

/// What slot (t, s) adds; a row outside y is reported and gives no tensor.
Term term_of(const sk_call& call, int64_t t, int64_t s) {
  const sk_tensor& y = call.in[0];
  const sk_tensor& row_idx = call.in[1];
  const sk_tensor& experts = call.in[3];
  const int64_t assignment = t * experts.dim[1] + s;
  if (index_at(experts, t * experts.stride[0] + s * experts.stride[1]) >= call.attr[0].i)
    return {&call.in[4], t};
  const int64_t row = index_at(row_idx, offset_of(row_idx, assignment, row_idx.rank));
  if (row >= 0 && row < y.dim[0]) return {&y, row};
  report_index(call, row, y.dim[0], assignment);
  return {nullptr, 0};
}

}  // namespace
}  // namespace skdsl::kernels

SK_KERNEL(moe_finalize_routing) {
  using namespace skdsl::kernels;
  const sk_tensor& weights = call->in[2];
  const sk_tensor& out = call->out[0];
  const int64_t width = out.dim[1], k = weights.dim[1];
  const Share tokens = share_of(out.dim[0], block, blocks);
  for (int64_t t = tokens.begin; t < tokens.end; ++t) {
    bool valid = true;
    for (int64_t s = 0; s < k; ++s) valid &= term_of(*call, t, s).from != nullptr;
    if (!valid) {
      zero(at(out, t * width), dtype_of(out), width);
      continue;
    }
    for (int64_t i = 0; i < width; i += kChunk) {
      const int64_t n = std::min(kChunk, width - i);
      float sum[kChunk] = {}, v[kChunk];
      for (int64_t s = 0; s < k; ++s) {
        const Term term = term_of(*call, t, s);
        float weight = 0.0f;
        load(&weight, at(weights, t * weights.stride[0] + s * weights.stride[1]), dtype_of(weights), 1, 1);
        load(v, at(*term.from, term.row * term.from->stride[0] + i * term.from->stride[1]),
             dtype_of(*term.from), term.from->stride[1], n);
        for (int64_t j = 0; j < n; ++j) sum[j] += weight * v[j];
      }
      store(at(out, t * width + i), dtype_of(out), 1, sum, n);
    }
  }
}
