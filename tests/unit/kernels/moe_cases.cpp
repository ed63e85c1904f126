// moe_cases — gating, routing, and the way back
#include <algorithm>
#include <cmath>

#include "tests/unit/kernels/op_cases.h"

namespace skdsl::test {
namespace {

/// Orders indices by falling value, equal values by rising index.
auto before(const Values& value) {
  return [&value](int64_t a, int64_t b) {
    const double x = value[static_cast<size_t>(a)], y = value[static_cast<size_t>(b)];
    return x != y ? x > y : a < b;
  };
}

OpCase gating(Random& random, const CaseOptions& o) {
  OpCase c;
  const int64_t rows = o.empty ? 0 : random.between(1, 6),
                groups = random.chance(0.5) ? 1 : random.between(2, 4);
  const int64_t size = random.between(2, 20), experts = groups * size, k_group = random.between(1, groups);
  const int64_t k = random.between(1, std::min<int64_t>(8, k_group * size));
  const bool sigmoid = random.chance(0.5), renorm = random.chance(0.5);
  const double factor = random.real(0.5, 3);
  c.attrs = {{"k", k},
             {"norm_type", std::string(sigmoid ? "sigmoid" : "softmax")},
             {"renorm", renorm},
             {"routed_scaling_factor", factor},
             {"group_count", groups},
             {"k_group", k_group}};
  c.operands = {random_tensor(random, o.dtype, {rows, experts}), {}};
  if (random.chance(0.5)) c.operands[1] = random_tensor(random, SK_F32, {experts});
  c.results = {{SK_F32, {rows, k}}, {SK_I32, {rows, k}}};
  c.rows = rows;
  c.operand_rows = {{0, 1}, {}};
  c.result_rows = {{0, 1}, {0, 1}};
  c.reference = [=, in = c.operands] {
    std::vector<Values> out(2);
    for (int64_t t = 0; t < rows; ++t) {
      Values score, choice;
      double total = 0;
      for (int64_t e = 0; e < experts; ++e) {
        const double x = element(in[0], t * experts + e);
        score.push_back(sigmoid ? 1 / (1 + std::exp(-x)) : std::exp(x));
        total += score.back();
      }
      for (int64_t e = 0; e < experts; ++e) {
        if (!sigmoid) score[static_cast<size_t>(e)] /= total;
        choice.push_back(score[static_cast<size_t>(e)] + (in[1] ? element(in[1], e) : 0));
      }
      // Groups by the sum of their two best, then experts by choice; the lower index first among equals.
      std::vector<int64_t> order, kept;
      Values best(static_cast<size_t>(groups));
      for (int64_t g = 0; g < groups; ++g) {
        Values v(choice.begin() + g * size, choice.begin() + (g + 1) * size);
        std::sort(v.rbegin(), v.rend());
        best[static_cast<size_t>(g)] = v[0] + v[1];
        kept.push_back(g);
      }
      std::sort(kept.begin(), kept.end(), before(best));
      kept.resize(static_cast<size_t>(groups > 1 ? k_group : groups));
      std::sort(kept.begin(), kept.end());
      for (const int64_t g : kept)
        for (int64_t i = 0; i < size; ++i) order.push_back(g * size + i);
      std::sort(order.begin(), order.end(), before(choice));
      double chosen = 0;
      for (int64_t s = 0; s < k; ++s) chosen += score[static_cast<size_t>(order[static_cast<size_t>(s)])];
      for (int64_t s = 0; s < k; ++s) {
        const int64_t e = order[static_cast<size_t>(s)];
        out[0].push_back(score[static_cast<size_t>(e)] / (renorm ? chosen : 1) * factor);
        out[1].push_back(static_cast<double>(e));
      }
    }
    return out;
  };
  c.rel = 1e-5;
  return c;
}

OpCase init_routing(Random& random, const CaseOptions& o) {
  OpCase c;
  const int64_t rows = o.empty ? 0 : random.between(1, 8), k = random.between(1, 5),
                dim = random.between(1, 80);
  const int64_t experts = random.between(1, 6), zero_experts = random.between(0, 3);
  c.attrs = {{"expert_num", experts}};
  c.operands = {random_tensor(random, o.dtype, {rows, dim}),
                random_indices(random, SK_I32, {rows, k}, 0, experts + zero_experts - 1)};
  c.results = {{o.dtype, {rows * k, dim}}, {SK_I32, {rows * k}}, {SK_I32, {experts}}};
  c.reference = [=, in = c.operands] {
    std::vector<Values> out = {
        Values(static_cast<size_t>(rows * k * dim), 0.0), Values(static_cast<size_t>(rows * k), -1.0), {}};
    int64_t row = 0;
    for (int64_t e = 0; e < experts; ++e) {
      const int64_t begin = row;
      for (int64_t a = 0; a < rows * k; ++a) {
        if (static_cast<int64_t>(element(in[1], a)) != e) continue;
        for (int64_t i = 0; i < dim; ++i)
          out[0][static_cast<size_t>(row * dim + i)] = element(in[0], a / k * dim + i);
        out[1][static_cast<size_t>(a)] = static_cast<double>(row++);
      }
      out[2].push_back(static_cast<double>(row - begin));
    }
    return out;
  };
  return c;
}

OpCase finalize_routing(Random& random, const CaseOptions& o) {
  OpCase c;
  const int64_t rows = o.empty ? 0 : random.between(1, 8), k = random.between(1, 5),
                dim = random.between(1, 150);
  const int64_t experts = random.between(1, 6), zero_experts = random.between(0, 3),
                expert_rows = rows * k + 1;
  const Tensor expert = random_indices(random, SK_I32, {rows, k}, 0, experts + zero_experts - 1);
  const Tensor row = random_indices(random, SK_I32, {rows * k}, 0, expert_rows - 1);
  for (int64_t a = 0; a < rows * k; ++a)
    if (element(expert, a) >= static_cast<double>(experts)) set_element(row, a, -1);
  c.attrs = {{"expert_num", experts}};
  c.operands = {random_tensor(random, o.dtype, {expert_rows, dim}), row,
                random_tensor(random, SK_F32, {rows, k}), expert,
                random_tensor(random, o.dtype, {rows, dim})};
  c.results = {{o.dtype, {rows, dim}}};
  c.rows = rows;
  c.operand_rows = {{}, {0, k}, {0, 1}, {0, 1}, {0, 1}};
  c.result_rows = {{0, 1}};
  c.reference = [=, in = c.operands] {
    Values y;
    for (int64_t t = 0; t < rows; ++t)
      for (int64_t i = 0; i < dim; ++i) {
        double sum = 0;
        for (int64_t a = t * k; a < (t + 1) * k; ++a) {
          const auto r = static_cast<int64_t>(element(in[1], a));
          sum += element(in[2], a) * (r < 0 ? element(in[4], t * dim + i) : element(in[0], r * dim + i));
        }
        y.push_back(sum);
      }
    return std::vector<Values>{y};
  };
  c.abs = 1e-4;
  return c;
}

}  // namespace

std::vector<CaseRow> moe_cases() {
  return {
      {Opcode::MoeGatingTopK, kFloatTypes, gating},
      {Opcode::MoeInitRouting, kFloatTypes, init_routing},
      {Opcode::MoeFinalizeRouting, kFloatTypes, finalize_routing},
  };
}

}  // namespace skdsl::test
