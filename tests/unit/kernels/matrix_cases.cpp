// matrix_cases — linear, matmul and their batched and grouped forms
#include "tests/unit/kernels/op_cases.h"

namespace skdsl::test {
namespace {

int64_t size(Random& random) { return random.chance(0.3) ? random.between(60, 150) : random.between(1, 40); }
sk_dtype any_float(Random& random) { return kFloatTypes[static_cast<size_t>(random.between(0, 2))]; }
/// Sums of up to 150 products of numbers below 4.
constexpr double kAbs = 2e-3;

OpCase linear(Random& random, const CaseOptions& o) {
  OpCase c;
  const int64_t rows = o.empty ? 0 : random.between(1, 6), k = size(random), n = size(random);
  // The weight is stored in whatever float; it need not be the activation's.
  c.operands = {
      random_tensor(random, o.dtype, {rows, k}), random_tensor(random, any_float(random), {n, k}), {}};
  if (random.chance(0.5)) c.operands[2] = random_tensor(random, any_float(random), {n});
  c.results = {{o.dtype, {rows, n}}};
  c.rows = rows;
  c.operand_rows = {{0, 1}, {}, {}};
  c.result_rows = {{0, 1}};
  c.reference = [in = c.operands, rows, k, n] {
    Values y;
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t j = 0; j < n; ++j) {
        double sum = in[2] ? element(in[2], j) : 0;
        for (int64_t i = 0; i < k; ++i) sum += element(in[0], r * k + i) * element(in[1], j * k + i);
        y.push_back(sum);
      }
    return std::vector<Values>{y};
  };
  c.abs = kAbs;
  return c;
}

OpCase matmul(Random& random, const CaseOptions& o) {
  OpCase c;
  const int64_t rows = o.empty ? 0 : random.between(1, 6), k = size(random),
                n = size(random) + (random.chance(0.3) ? 120 : 0);
  c.operands = {random_tensor(random, o.dtype, {rows, k}), random_tensor(random, any_float(random), {k, n})};
  c.results = {{o.dtype, {rows, n}}};
  c.rows = rows;
  c.operand_rows = {{0, 1}, {}};
  c.result_rows = {{0, 1}};
  c.reference = [in = c.operands, rows, k, n] {
    Values y;
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t i = 0; i < k; ++i) sum += element(in[0], r * k + i) * element(in[1], i * n + j);
        y.push_back(sum);
      }
    return std::vector<Values>{y};
  };
  c.abs = kAbs;
  return c;
}

OpCase transpose_batch_matmul(Random& random, const CaseOptions& o) {
  OpCase c;
  const int64_t rows = o.empty ? 0 : random.between(1, 4), heads = random.between(1, 5), k = size(random),
                n = size(random);
  c.operands = {random_tensor(random, o.dtype, {rows, heads, k}),
                random_tensor(random, any_float(random), {heads, k, n})};
  c.results = {{o.dtype, {rows, heads, n}}};
  c.rows = rows;
  c.operand_rows = {{0, 1}, {}};
  c.result_rows = {{0, 1}};
  c.reference = [in = c.operands, rows, heads, k, n] {
    Values y;
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t h = 0; h < heads; ++h)
        for (int64_t j = 0; j < n; ++j) {
          double sum = 0;
          for (int64_t i = 0; i < k; ++i)
            sum += element(in[0], (r * heads + h) * k + i) * element(in[1], (h * k + i) * n + j);
          y.push_back(sum);
        }
    return std::vector<Values>{y};
  };
  c.abs = kAbs;
  return c;
}

OpCase grouped_matmul(Random& random, const CaseOptions& o) {
  OpCase c;
  const int64_t groups = random.between(1, 6), k = size(random), n = size(random),
                type = random.between(0, 1);
  const bool transposed = random.chance(0.5);
  std::vector<int64_t> counts, list, group_of_row;
  for (int64_t g = 0; g < groups; ++g) {
    counts.push_back(o.empty || random.chance(0.3) ? 0 : random.between(1, 4));
    group_of_row.insert(group_of_row.end(), static_cast<size_t>(counts.back()), g);
    list.push_back(type == 1 ? counts.back() : static_cast<int64_t>(group_of_row.size()));
  }
  // Rows past the sum belong to no group and give zeros.
  const int64_t rows = static_cast<int64_t>(group_of_row.size()) + (o.empty ? 0 : random.between(0, 3));
  group_of_row.resize(static_cast<size_t>(rows), -1);
  c.attrs = {{"group_list_type", type}, {"transpose_weight", transposed}};
  c.operands = {
      random_tensor(random, o.dtype, {rows, k}),
      random_tensor(random, any_float(random), transposed ? Shape{groups, n, k} : Shape{groups, k, n}),
      int_tensor(random.chance(0.5) ? SK_I32 : SK_I64, {groups}, list)};
  c.results = {{o.dtype, {rows, n}}};
  c.reference = [in = c.operands, group_of_row, k, n, transposed] {
    Values y;
    for (size_t r = 0; r < group_of_row.size(); ++r)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        const int64_t g = group_of_row[r];
        for (int64_t i = 0; i < k && g >= 0; ++i)
          sum += element(in[0], static_cast<int64_t>(r) * k + i) *
                 element(in[1], g * k * n + (transposed ? j * k + i : i * n + j));
        y.push_back(sum);
      }
    return std::vector<Values>{y};
  };
  c.abs = kAbs;
  return c;
}

}  // namespace

std::vector<CaseRow> matrix_cases() {
  return {
      {Opcode::Linear, kFloatTypes, linear},
      {Opcode::Matmul, kFloatTypes, matmul},
      {Opcode::TransposeBatchMatmul, kFloatTypes, transpose_batch_matmul},
      {Opcode::GroupedMatmul, kFloatTypes, grouped_matmul},
  };
}

}  // namespace skdsl::test
