// reduction_cases — reductions along one axis, argmax and softmax
#include <cmath>

#include "tests/unit/kernels/op_cases.h"

namespace skdsl::test {
namespace {

/// Values of x along `axis` for every position of the other axes.
std::vector<Values> fibres(const Tensor& x, size_t axis) {
  const Shape shape = x.shape();
  Shape outer = shape;
  outer.erase(outer.begin() + static_cast<int64_t>(axis));
  std::vector<Values> out;
  for_each_index(outer, [&](const Shape& index) {
    Shape full = index;
    full.insert(full.begin() + static_cast<int64_t>(axis), 0);
    Values v;
    for (int64_t i = 0; i < shape[axis]; ++i) {
      full[axis] = i;
      v.push_back(element(x, flat_index(shape, full)));
    }
    out.push_back(v);
  });
  return out;
}

CaseRow reduction(Opcode op, const std::vector<sk_dtype>& dtypes, double (*f)(const Values&, bool integers)) {
  return {op, dtypes, [f](Random& random, const CaseOptions& o) {
            OpCase c;
            const Shape shape = random_shape(random, o, 1, 4);
            const auto rank = static_cast<int64_t>(shape.size());
            const int64_t axis = random.between(0, rank - 1);
            const bool keepdim = random.chance(0.5);
            Shape out = shape;
            if (keepdim)
              out[static_cast<size_t>(axis)] = 1;
            else
              out.erase(out.begin() + axis);
            c.attrs = {{"axis", random.chance(0.5) ? axis : axis - rank}, {"keepdim", keepdim}};
            c.operands = {random_tensor(random, o.dtype, shape)};
            c.results = {{o.dtype, out}};
            if (axis > 0) c.rows = shape[0];
            c.operand_rows = {{0, 1}};
            c.result_rows = {{0, 1}};
            c.reference = [x = c.operands[0], axis, f, integers = !is_float(o.dtype)] {
              Values y;
              for (const Values& v : fibres(x, static_cast<size_t>(axis))) y.push_back(f(v, integers));
              return std::vector<Values>{y};
            };
            c.rel = 1e-5;
            c.abs = 1e-4;
            if (o.dtype == SK_I8) c.reference = nullptr;  // wraps
            return c;
          }};
}

double sum(const Values& v, bool = false) {
  double s = 0;
  for (const double x : v) s += x;
  return s;
}

OpCase argmax(Random& random, const CaseOptions& o) {
  OpCase c;
  Shape shape = random_shape(random, {}, 1, 3);
  if (o.empty && shape.size() > 1) shape[0] = 0;
  c.operands = {random_tensor(random, o.dtype, shape)};
  for (int64_t i = 0; i < c.operands[0].elements(); ++i)  // ties, NaN, -inf
    if (random.chance(0.5))
      set_element(c.operands[0], i, random.chance(0.2) ? NAN : random.chance(0.3) ? -INFINITY : 3.5);
  c.results = {{SK_I32, {shape.begin(), shape.end() - 1}}};
  c.rows = shape.size() > 1 ? shape[0] : 0;
  c.operand_rows = c.result_rows = {{0, 1}};
  c.reference = [x = c.operands[0], axis = shape.size() - 1] {
    Values y;
    for (const Values& v : fibres(x, axis)) {
      size_t best = 0;
      double value = -INFINITY;
      for (size_t i = 0; i < v.size(); ++i)
        if (v[i] > value) value = v[best = i];
      y.push_back(static_cast<double>(best));
    }
    return std::vector<Values>{y};
  };
  return c;
}

OpCase softmax(Random& random, const CaseOptions& o) {
  OpCase c;
  const Shape shape = random_shape(random, o, 1, 3);
  c.operands = {random_tensor(random, o.dtype, shape)};
  for (int64_t i = 0; i < c.operands[0].elements(); ++i)
    if (random.chance(0.3)) set_element(c.operands[0], i, -INFINITY);
  c.results = {{o.dtype, shape}};
  c.rows = shape.size() > 1 ? shape[0] : 0;
  c.operand_rows = c.result_rows = {{0, 1}};
  c.reference = [x = c.operands[0], axis = shape.size() - 1] {
    Values y;
    for (const Values& v : fibres(x, axis)) {
      double total = 0;
      for (const double e : v) total += std::exp(e);
      for (const double e : v) y.push_back(total == 0 ? 0 : std::exp(e) / total);
    }
    return std::vector<Values>{y};
  };
  c.rel = 1e-5;
  c.abs = 1e-8;
  return c;
}

}  // namespace

std::vector<CaseRow> reduction_cases() {
  return {
      reduction(Opcode::ReduceSum, kNumberTypes, sum),
      reduction(Opcode::ReduceMean, kNumberTypes,
                [](const Values& v, bool integers) {
                  const double n = static_cast<double>(v.size());
                  if (integers) return v.empty() ? 0 : std::trunc(sum(v) / n);
                  return sum(v) / n;
                }),
      reduction(Opcode::ReduceMax, kFloatTypes,
                [](const Values& v, bool) {
                  double m = -INFINITY;
                  for (const double x : v) m = std::isnan(x) || x > m ? x : m;
                  return m;
                }),
      reduction(Opcode::ReduceAny, {SK_BOOL}, [](const Values& v, bool) -> double { return sum(v) > 0; }),
      reduction(Opcode::ReduceAll, {SK_BOOL},
                [](const Values& v, bool) -> double { return sum(v) == static_cast<double>(v.size()); }),
      {Opcode::Argmax, kFloatTypes, argmax},
      {Opcode::Softmax, kFloatTypes, softmax},
  };
}

}  // namespace skdsl::test
