// elementwise_cases — arithmetic, comparisons, logic, where and cast with broadcasting
#include <cmath>

#include "tests/unit/kernels/op_cases.h"

namespace skdsl::test {
namespace {

using Binary = double (*)(double, double);
using Unary = double (*)(double);

/// `shape` with leading axes dropped and some axes made 1.
Shape narrowed(Random& random, const Shape& shape) {
  Shape out = shape;
  if (random.chance(0.3))
    out.erase(out.begin(), out.begin() + random.between(0, static_cast<int64_t>(out.size())));
  for (int64_t& d : out)
    if (d != 0 && random.chance(0.3)) d = 1;
  return out;
}

RowAxis rows_of(const Shape& operand, const Shape& result) {
  const bool own = !result.empty() && operand.size() == result.size() && operand[0] == result[0];
  return {own ? 0 : -1, 1};
}

/// Floats with some infinities, NaN, zeros and large numbers between.
Tensor with_specials(Random& random, Tensor t) {
  constexpr double kSpecial[] = {INFINITY, -INFINITY, NAN, 0.0, -0.0, 300.0, -300.0, 1e-30, 90.0, -90.0};
  if (is_float(t.dtype()))
    for (int64_t i = 0; i < t.elements(); ++i)
      if (random.chance(0.1)) set_element(t, i, kSpecial[random.between(0, 9)]);
  return t;
}

/// Wraps a double that holds an exact integer to the range of a dtype.
double wrapped(double x, sk_dtype dtype) {
  // 2^63, a saturated i64, does not fit the conversion below.
  if (is_float(dtype) || dtype == SK_I64) return x;
  const auto i = static_cast<int64_t>(x);
  switch (dtype) {
    case SK_I8:
      return static_cast<int8_t>(i);
    case SK_I32:
      return static_cast<int32_t>(i);
    case SK_BOOL:
      return i != 0;
    default:
      return x;
  }
}

OpCase broadcast_case(Random& random, const CaseOptions& o, std::vector<sk_dtype> dtypes, sk_dtype result,
                      std::function<double(const Values&)> f) {
  OpCase c;
  const Shape out = random_shape(random, o, o.empty ? 1 : 0, 4);
  std::vector<Shape> shapes;
  const bool plain = random.chance(0.4);
  // One operand keeps the whole shape.
  const auto whole = static_cast<size_t>(random.between(0, static_cast<int64_t>(dtypes.size()) - 1));
  for (size_t k = 0; k < dtypes.size(); ++k) {
    shapes.push_back(plain || k == whole ? out : narrowed(random, out));
    sk_dtype dtype = dtypes[k];
    // A rank-0 f32 may meet any float.
    if (k != whole && shapes[k].empty() && is_float(dtype)) dtype = SK_F32;
    c.operands.push_back(with_specials(random, random_tensor(random, dtype, shapes[k])));
    c.operand_rows.push_back(rows_of(shapes[k], out));
  }
  c.results = {{result, out}};
  c.result_rows = {{out.empty() ? -1 : 0, 1}};
  c.rows = out.empty() ? 0 : out[0];
  c.reference = [operands = c.operands, shapes, out, result, f] {
    std::vector<Values> in;
    for (const Tensor& t : operands) in.push_back(values_of(t));
    Values y;
    for_each_index(out, [&](const Shape& index) {
      Values x;
      for (size_t k = 0; k < in.size(); ++k) x.push_back(broadcast_element(in[k], shapes[k], index));
      y.push_back(wrapped(f(x), result));
    });
    return std::vector<Values>{y};
  };
  return c;
}

CaseRow binary(Opcode op, Binary f, Binary integers = nullptr) {
  return {op, kNumberTypes, [f, integers](Random& random, const CaseOptions& o) {
            const Binary g = integers != nullptr && !is_float(o.dtype) ? integers : f;
            OpCase c = broadcast_case(random, o, {o.dtype, o.dtype}, o.dtype,
                                      [g](const Values& x) { return g(x[0], x[1]); });
            c.rel = 1e-7;
            c.abs = 1e-37;
            return c;
          }};
}
CaseRow comparison(Opcode op, Binary f) {
  return {op, kAllTypes, [f](Random& random, const CaseOptions& o) {
            return broadcast_case(random, o, {o.dtype, o.dtype}, SK_BOOL,
                                  [f](const Values& x) { return f(x[0], x[1]); });
          }};
}
CaseRow unary(Opcode op, const std::vector<sk_dtype>& dtypes, Unary f, double rel = 1e-7,
              double abs = 1e-37) {
  return {op, dtypes, [=](Random& random, const CaseOptions& o) {
            OpCase c =
                broadcast_case(random, o, {o.dtype}, o.dtype, [f](const Values& x) { return f(x[0]); });
            c.rel = rel;
            c.abs = abs;
            return c;
          }};
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double larger(double x, double y) { return std::isnan(x) || std::isnan(y) ? NAN : std::max(x, y); }
double smaller(double x, double y) { return std::isnan(x) || std::isnan(y) ? NAN : std::min(x, y); }
double gelu(double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }

/// What a float becomes in an integer dtype: towards zero, saturating, NaN to 0.
double saturated(double x, sk_dtype to) {
  if (std::isnan(x)) return 0;
  const double bits = to == SK_I8 ? 7 : to == SK_I32 ? 31 : 63;
  const double end = std::ldexp(1.0, static_cast<int>(bits));
  return std::min(std::max(std::trunc(x), -end), to == SK_I64 ? end : end - 1);
}

OpCase cast(Random& random, const CaseOptions& o) {
  const sk_dtype to = kAllTypes[static_cast<size_t>(random.between(0, 6))];
  OpCase c = broadcast_case(random, o, {o.dtype}, to, [from = o.dtype, to](const Values& x) {
    if (to == SK_BOOL) return static_cast<double>(x[0] != 0);
    return is_float(from) && !is_float(to) ? saturated(x[0], to) : x[0];
  });
  c.attrs = {{"dtype", std::string(dtype_name(to))}};
  // To bf16 and f16 the suite compares with the f32 result; the reference knows f32 only.
  c.rel = to == SK_BF16 ? 0x1p-8 : to == SK_F16 ? 0x1p-11 : 0x1p-24;
  c.abs = to == SK_F16 ? 0x1p-25 : 0;
  return c;
}

}  // namespace

std::vector<CaseRow> elementwise_cases() {
  return {
      binary(Opcode::Add, [](double x, double y) { return x + y; }),
      binary(Opcode::Sub, [](double x, double y) { return x - y; }),
      binary(Opcode::Mul, [](double x, double y) { return x * y; }),
      binary(
          Opcode::Div, [](double x, double y) { return x / y; },
          [](double x, double y) { return y == 0 ? 0 : std::trunc(x / y); }),
      binary(Opcode::Maximum, larger),
      binary(Opcode::Minimum, smaller),
      comparison(Opcode::Eq, [](double x, double y) -> double { return x == y; }),
      comparison(Opcode::Ne, [](double x, double y) -> double { return x != y; }),
      comparison(Opcode::Lt, [](double x, double y) -> double { return x < y; }),
      comparison(Opcode::Le, [](double x, double y) -> double { return x <= y; }),
      comparison(Opcode::Gt, [](double x, double y) -> double { return x > y; }),
      comparison(Opcode::Ge, [](double x, double y) -> double { return x >= y; }),
      {Opcode::LogicalAnd,
       {SK_BOOL},
       comparison(Opcode::LogicalAnd, [](double x, double y) -> double { return x != 0 && y != 0; }).make},
      {Opcode::LogicalOr,
       {SK_BOOL},
       comparison(Opcode::LogicalOr, [](double x, double y) -> double { return x != 0 || y != 0; }).make},
      unary(Opcode::LogicalNot, {SK_BOOL}, [](double x) -> double { return x == 0; }),
      unary(Opcode::Neg, kNumberTypes, [](double x) { return -x; }),
      unary(Opcode::Abs, kNumberTypes, [](double x) { return std::abs(x); }),
      unary(
          Opcode::Exp, kFloatTypes, [](double x) { return std::exp(x); }, 3e-7),
      unary(Opcode::Sqrt, kFloatTypes, [](double x) { return std::sqrt(x); }),
      unary(
          Opcode::Rsqrt, kFloatTypes, [](double x) { return 1 / std::sqrt(x); }, 2e-7),
      unary(Opcode::Sigmoid, kFloatTypes, sigmoid, 1e-6),
      unary(
          Opcode::Silu, kFloatTypes, [](double x) { return x * sigmoid(x); }, 1e-6),
      unary(Opcode::Gelu, kFloatTypes, gelu, 1e-5, 1e-6),
      unary(Opcode::Relu, kFloatTypes, [](double x) { return std::isnan(x) ? x : std::max(x, 0.0); }),
      {Opcode::Where, kAllTypes,
       [](Random& random, const CaseOptions& o) {
         return broadcast_case(random, o, {SK_BOOL, o.dtype, o.dtype}, o.dtype,
                               [](const Values& x) { return x[0] != 0 ? x[1] : x[2]; });
       }},
      {Opcode::Cast, kAllTypes, cast},
  };
}

}  // namespace skdsl::test
