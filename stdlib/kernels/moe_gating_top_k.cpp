// moe_gating_top_k — the k best experts of each row of logits, and their weights
//
// Scores s are the softmax or sigmoid of the logits; the choice looks at s + bias, the weights at s. With
// groups, only the k_group groups with the best sum of their two best choices take part. NaN is chosen last.
// A tile is one row.
#include "stdlib/kernels/math.h"
#include "stdlib/kernels/reduce.h"

namespace skdsl::kernels {
namespace {

enum NormType : int64_t { kSoftmax, kSigmoid };  // the choices of ops.def
constexpr float kNone = -std::numeric_limits<float>::infinity();

/// One row's numbers in the workspace; all have one entry an expert.
struct Row {
  float* score;
  float* choice;
  float* group;  // sums of groups
  float* open;   // 1: may still be chosen
};

void softmax_in_place(float* x, int64_t n) {
  float max = max_without_nan(x, SK_F32, 1, n);
  if (max == kNone) max = 0.0f;
  for (int64_t i = 0; i < n; ++i) x[i] = math::exp(x[i] - max);
  LaneSum sum;
  sum.add(x, n);
  const float total = sum.sum();
  for (int64_t i = 0; i < n; ++i) x[i] = total == 0.0f ? 0.0f : x[i] / total;
}

/// The largest open value, the lowest index among equals; -1 when none is open.
int64_t best_open(const float* value, const float* open, int64_t n) {
  int64_t best = -1;
  for (int64_t i = 0; i < n; ++i)
    if (open[i] != 0.0f && (best < 0 || value[i] > value[best])) best = i;
  return best;
}

/// Closes all experts but those of the k_group best groups.
void keep_best_groups(const Row& row, int64_t experts, int64_t groups, int64_t kept) {
  const int64_t size = experts / groups;
  for (int64_t g = 0; g < groups; ++g) {
    float first = kNone, second = kNone;
    for (int64_t i = g * size; i < (g + 1) * size; ++i) {
      const float c = row.choice[i];
      if (c > first) {
        second = first;
        first = c;
      } else if (c > second) {
        second = c;
      }
    }
    row.group[g] = size > 1 ? first + second : first;
  }
  for (int64_t i = 0; i < experts; ++i) row.open[i] = 0.0f;
  for (int64_t n = 0; n < std::min(kept, groups); ++n) {
    int64_t best = -1;
    for (int64_t g = 0; g < groups; ++g)
      if (row.open[g * size] == 0.0f && (best < 0 || row.group[g] > row.group[best])) best = g;
    for (int64_t i = best * size; i < (best + 1) * size; ++i) row.open[i] = 1.0f;
  }
}

}  // namespace
}  // namespace skdsl::kernels

using namespace skdsl::kernels;

SK_WORKSPACE(moe_gating_top_k) { return static_cast<uint64_t>(call->in[0].dim[1]) * 4 * sizeof(float); }

SK_KERNEL(moe_gating_top_k) {
  const sk_tensor& x = call->in[0];
  const sk_tensor& bias = call->in[1];
  const sk_tensor& weights = call->out[0];
  const sk_tensor& indices = call->out[1];
  const int64_t experts = x.dim[1], k = weights.dim[1];
  const int64_t norm_type = call->attr[1].i, groups = call->attr[4].i;
  const bool renorm = call->attr[2].i != 0;
  const float factor = static_cast<float>(call->attr[3].f), eps = static_cast<float>(call->attr[6].f);
  float* space = workspace_of(*call, block);
  const Row row{space, space + experts, space + 2 * experts, space + 3 * experts};
  const Share rows = share_of(x.dim[0], block, blocks);
  for (int64_t t = rows.begin; t < rows.end; ++t) {
    load(row.score, at(x, t * x.stride[0]), dtype_of(x), x.stride[1], experts);
    if (norm_type == kSoftmax)
      softmax_in_place(row.score, experts);
    else
      for (int64_t i = 0; i < experts; ++i) row.score[i] = math::sigmoid(row.score[i]);
    if (present(bias))
      load(row.choice, bias.data, dtype_of(bias), bias.stride[0], experts);
    else
      std::fill(row.choice, row.choice + experts, 0.0f);
    for (int64_t i = 0; i < experts; ++i) {
      const float c = row.score[i] + row.choice[i];
      row.choice[i] = c == c ? c : kNone;
      row.open[i] = 1.0f;
    }
    if (groups > 1) keep_best_groups(row, experts, groups, call->attr[5].i);

    float sum = 0.0f;
    for (int64_t slot = 0; slot < k; ++slot) {
      int64_t best = best_open(row.choice, row.open, experts);
      // Fewer than k experts in the kept groups: the last choice repeats with weight 0.
      const bool found = best >= 0;
      if (!found) best = slot > 0 ? index_at(indices, t * k + slot - 1) : 0;
      const float weight = found ? row.score[best] : 0.0f;
      if (found) row.open[best] = 0.0f;
      sum += weight;
      store(at(indices, t * k + slot), dtype_of(indices), 1, &best, 1);
      store(at(weights, t * k + slot), dtype_of(weights), 1, &weight, 1);
    }
    for (int64_t slot = 0; slot < k; ++slot) {
      float weight = 0.0f;
      load(&weight, at(weights, t * k + slot), dtype_of(weights), 1, 1);
      if (renorm) weight /= sum + eps;
      weight *= factor;
      store(at(weights, t * k + slot), dtype_of(weights), 1, &weight, 1);
    }
  }
}
