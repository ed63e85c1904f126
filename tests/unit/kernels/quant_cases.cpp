// quant_cases — int8 values, exact sums and scales
//
// References compute in float where a rounding boundary decides the integer, and in double elsewhere.
#include <algorithm>
#include <cmath>

#include "tests/unit/kernels/op_cases.h"

namespace skdsl::test {
namespace {

int64_t size(Random& random) { return random.chance(0.3) ? random.between(60, 150) : random.between(1, 40); }
Tensor random_int8(Random& random, const Shape& shape) {
  return random_indices(random, SK_I8, shape, -128, 127);
}
Tensor random_scales(Random& random, const Shape& shape) {
  Tensor t = Tensor::empty(SK_F32, shape);
  for (int64_t i = 0; i < t.elements(); ++i) set_element(t, i, random.real(0.001, 2));
  return t;
}

/// One row to int8: its values and its scale behind them.
void quantise(const std::vector<float>& row, Values& y, Values& scales) {
  float largest = 0;
  for (const float x : row) largest = std::max(largest, std::abs(x));
  const float scale = largest / 127.0f;
  for (const float x : row)
    y.push_back(scale == 0 ? 0 : std::clamp(std::nearbyint(static_cast<double>(x / scale)), -127.0, 127.0));
  scales.push_back(static_cast<double>(scale));
}

OpCase dynamic_quant(Random& random, const CaseOptions& o) {
  OpCase c;
  const int64_t rows = o.empty ? 0 : random.between(1, 6), width = size(random);
  c.operands = {random_tensor(random, o.dtype, {rows, width}), {}};
  if (random.chance(0.4)) c.operands[1] = random_tensor(random, o.dtype, {width});
  if (rows > 0 && random.chance(0.2))  // a row of zeros
    for (int64_t i = 0; i < width; ++i) set_element(c.operands[0], i, 0);
  c.results = {{SK_I8, {rows, width}}, {SK_F32, {rows}}};
  c.rows = rows;
  c.operand_rows = {{0, 1}, {}};
  c.result_rows = {{0, 1}, {0, 1}};
  c.reference = [in = c.operands, rows, width] {
    std::vector<Values> out(2);
    for (int64_t r = 0; r < rows; ++r) {
      std::vector<float> row;
      for (int64_t i = 0; i < width; ++i) {
        const auto x = static_cast<float>(element(in[0], r * width + i));
        row.push_back(in[1] ? x * static_cast<float>(element(in[1], i)) : x);
      }
      quantise(row, out[0], out[1]);
    }
    return out;
  };
  return c;
}

OpCase quant_matmul(Random& random, const CaseOptions& o) {
  OpCase c;
  const int64_t rows = o.empty ? 0 : random.between(1, 6), k = size(random), n = size(random);
  const bool transposed = random.chance(0.5), scaled = o.dtype != SK_I32,
             by_row = scaled && random.chance(0.7);
  c.attrs = {{"transpose_x2", transposed}};
  if (scaled) c.attrs["output_dtype"] = std::string(dtype_name(o.dtype));
  c.operands = {
      random_int8(random, {rows, k}), random_int8(random, transposed ? Shape{n, k} : Shape{k, n}), {}, {}};
  if (scaled) c.operands[2] = random_scales(random, {n});
  if (by_row) c.operands[3] = random_scales(random, {rows});
  c.results = {{o.dtype, {rows, n}}};
  c.rows = rows;
  c.operand_rows = {{0, 1}, {}, {}, {by_row ? 0 : -1, 1}};
  c.result_rows = {{0, 1}};
  c.reference = [in = c.operands, rows, k, n, transposed] {
    Values y;
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t i = 0; i < k; ++i)
          sum += element(in[0], r * k + i) * element(in[1], transposed ? j * k + i : i * n + j);
        y.push_back(sum * (in[2] ? element(in[2], j) : 1) * (in[3] ? element(in[3], r) : 1));
      }
    return std::vector<Values>{y};
  };
  c.rel = scaled ? 1e-6 : 0;
  return c;
}

OpCase grouped_quant_matmul(Random& random, const CaseOptions& o) {
  OpCase c;
  const int64_t groups = random.between(1, 6), k = size(random), n = size(random),
                type = random.between(0, 1);
  const bool transposed = random.chance(0.5), scaled = o.dtype != SK_I32,
             by_row = scaled && random.chance(0.7);
  std::vector<int64_t> list, group_of_row;
  for (int64_t g = 0; g < groups; ++g) {
    const int64_t count = o.empty || random.chance(0.3) ? 0 : random.between(1, 4);
    group_of_row.insert(group_of_row.end(), static_cast<size_t>(count), g);
    list.push_back(type == 1 ? count : static_cast<int64_t>(group_of_row.size()));
  }
  const int64_t rows = static_cast<int64_t>(group_of_row.size()) + (o.empty ? 0 : random.between(0, 3));
  group_of_row.resize(static_cast<size_t>(rows), -1);
  c.attrs = {{"group_list_type", type}, {"transpose_weight", transposed}};
  if (scaled) c.attrs["output_dtype"] = std::string(dtype_name(o.dtype));
  c.operands = {random_int8(random, {rows, k}),
                random_int8(random, transposed ? Shape{groups, n, k} : Shape{groups, k, n}),
                int_tensor(random.chance(0.5) ? SK_I32 : SK_I64, {groups}, list),
                {},
                {}};
  if (scaled) c.operands[3] = random_scales(random, {groups, n});
  if (by_row) c.operands[4] = random_scales(random, {rows});
  c.results = {{o.dtype, {rows, n}}};
  c.reference = [in = c.operands, group_of_row, k, n, transposed] {
    Values y;
    for (size_t r = 0; r < group_of_row.size(); ++r)
      for (int64_t j = 0; j < n; ++j) {
        const int64_t g = group_of_row[r], row = static_cast<int64_t>(r);
        double sum = 0;
        for (int64_t i = 0; i < k && g >= 0; ++i)
          sum +=
              element(in[0], row * k + i) * element(in[1], g * k * n + (transposed ? j * k + i : i * n + j));
        y.push_back(
            g < 0 ? 0 : sum * (in[3] ? element(in[3], g * n + j) : 1) * (in[4] ? element(in[4], row) : 1));
      }
    return std::vector<Values>{y};
  };
  c.rel = scaled ? 1e-6 : 0;
  return c;
}

OpCase dequant_swiglu_quant(Random& random, const CaseOptions& o) {
  OpCase c;
  const int64_t rows = o.empty ? 0 : random.between(1, 6), half = size(random), groups = random.between(1, 4);
  const bool grouped = random.chance(0.5), left = random.chance(0.5);
  std::vector<int64_t> counts, group_of_row(static_cast<size_t>(rows), grouped ? -1 : 0);
  for (int64_t g = 0, row = 0; g < groups; ++g) {
    counts.push_back(random.between(0, std::min<int64_t>(2, rows - row)));
    for (int64_t i = 0; grouped && i < counts.back(); ++i) group_of_row[static_cast<size_t>(row + i)] = g;
    row += counts.back();
  }
  c.attrs = {{"activate_left", left}};
  c.operands = {random_indices(random, SK_I32, {rows, 2 * half}, -100, 100),
                random_scales(random, grouped ? Shape{groups, 2 * half} : Shape{2 * half}),
                random_scales(random, {rows}),
                {},
                {}};
  // Large, so that the tolerance of 1 for int8 values says nothing against the scale.
  if (random.chance(0.7)) {
    c.operands[3] = random_scales(random, {half});
    for (int64_t i = 0; i < half; ++i) set_element(c.operands[3], i, element(c.operands[3], i) * 1e6);
  }
  if (grouped) c.operands[4] = int_tensor(random.chance(0.5) ? SK_I32 : SK_I64, {groups}, counts);
  c.results = {{SK_I8, {rows, half}}, {SK_F32, {rows}}};
  if (!grouped) {
    c.rows = rows;
    c.operand_rows = {{0, 1}, {}, {0, 1}, {}, {}};
    c.result_rows = {{0, 1}, {0, 1}};
  }
  c.reference = [in = c.operands, group_of_row, half, left] {
    std::vector<Values> out(2);
    for (size_t r = 0; r < group_of_row.size(); ++r) {
      const int64_t g = group_of_row[r], row = static_cast<int64_t>(r);
      const auto v = [&](int64_t column) {
        return element(in[0], row * 2 * half + column) *
               element(in[1], std::max<int64_t>(g, 0) * 2 * half + column) * element(in[2], row);
      };
      std::vector<float> a;
      for (int64_t i = 0; i < half; ++i) {
        const double gate = v(left ? i : half + i), up = v(left ? half + i : i);
        const double value = gate / (1 + std::exp(-gate)) * up * (in[3] ? element(in[3], i) : 1);
        a.push_back(g < 0 ? 0.0f : static_cast<float>(value));
      }
      quantise(a, out[0], out[1]);
    }
    return out;
  };
  c.abs = 1;
  c.rel = 1e-5;
  return c;
}

}  // namespace

std::vector<CaseRow> quant_cases() {
  const std::vector<sk_dtype> sums_and_floats = {SK_I32, SK_F32, SK_BF16, SK_F16};
  return {
      {Opcode::DynamicQuant, kFloatTypes, dynamic_quant},
      {Opcode::QuantMatmul, sums_and_floats, quant_matmul},
      {Opcode::GroupedQuantMatmul, sums_and_floats, grouped_quant_matmul},
      {Opcode::DequantSwigluQuant, {SK_I32}, dequant_swiglu_quant},
  };
}

}  // namespace skdsl::test
