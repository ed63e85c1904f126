// rules_quant — shape rules of operators on int8 values and int32 sums
#include "compiler/ops/infer_internal.h"

namespace skdsl::ops::rules {

using plan::Dim;
using plan::DType;
using plan::Type;

namespace {

bool fits_int32(Infer& s, size_t operand, const Dim& terms) {
  if (!terms.is_constant() || terms.constant() <= kMaxInt8Terms) return true;
  return s.bad_value(s.operand_span(operand),
                     fmt::format("`{}` adds {} products, int32 is sure to hold the sum of {}",
                                 info(s.call.op).name, terms.constant(), kMaxInt8Terms));
}

/// The dtype of a quantised product: i32 without scales, else a float.
std::optional<DType> quant_dtype(Infer& s, size_t attr, size_t scale, size_t row_scale) {
  if (!s.has(scale)) {
    if (s.has(row_scale))
      return s.bad_value(s.operand_span(row_scale),
                         fmt::format("`{}` without `{}` gives int32 sums, which take no row scale",
                                     info(s.call.op).name, operand_param(info(s.call.op), scale).name)),
             std::nullopt;
    const DType t = s.dtype_attr(attr, DType::I32);
    if (t == DType::I32) return t;
    return s.bad_value(s.attr_span(attr),
                       fmt::format("`output_dtype` is {}, without scales the result is i32", plan::name(t))),
           std::nullopt;
  }
  const DType t = s.dtype_attr(attr, s.call.act);
  if (t == DType::F32 || t == DType::BF16 || t == DType::F16) return t;
  return s.bad_value(s.attr_span(attr),
                     fmt::format("`output_dtype` is {}, with scales it is f32, bf16 or f16", plan::name(t))),
         std::nullopt;
}

}  // namespace

Result DynamicQuant(Infer& s) {
  auto dims = s.in(0).dims;
  if (dims.empty()) return s.expect_rank(0, 2, "[…, D]"), Result{};
  if (s.has(1) && !s.expect_shape(1, {dims.back()})) return {};
  const Type y = Type::tensor(DType::I8, dims);
  dims.pop_back();
  return std::vector{y, Type::tensor(DType::F32, std::move(dims))};
}

Result QuantMatmul(Infer& s) {
  const bool transposed = std::get<bool>((*s.call.attrs)[1]);
  if (!s.expect_rank(0, 2, "[M, K]") || !s.expect_rank(1, 2, transposed ? "[N, K]" : "[K, N]")) return {};
  const auto &x = s.in(0).dims, &w = s.in(1).dims;
  if (!s.same(w[transposed ? 1 : 0], x[1], "quant_matmul")) return s.fail_shapes(0, 1), Result{};
  const Dim n = w[transposed ? 0 : 1];
  if (s.has(2) && !s.expect_shape(2, {n})) return {};
  if (s.has(3) && !s.expect_shape(3, {x[0]})) return {};
  const auto dtype = quant_dtype(s, 0, 2, 3);
  if (!dtype || !fits_int32(s, 0, x[1])) return {};
  return std::vector{Type::tensor(*dtype, {x[0], n})};
}

Result GroupedQuantMatmul(Infer& s) {
  if (!s.expect_group_list_type(0)) return {};
  const bool transposed = std::get<bool>((*s.call.attrs)[2]);
  if (!s.expect_rank(0, 2, "[R, K]") || !s.expect_rank(1, 3, transposed ? "[G, N, K]" : "[G, K, N]"))
    return {};
  const auto &x = s.in(0).dims, &w = s.in(1).dims;
  if (!s.same(w[transposed ? 2 : 1], x[1], "grouped_quant_matmul")) return s.fail_shapes(0, 1), Result{};
  const Dim n = w[transposed ? 1 : 2];
  if (!s.expect_shape(2, {w[0]})) return {};
  if (s.has(3) && !s.expect_shape(3, {w[0], n})) return {};
  if (s.has(4) && !s.expect_shape(4, {x[0]})) return {};
  const auto dtype = quant_dtype(s, 1, 3, 4);
  if (!dtype || !fits_int32(s, 0, x[1])) return {};
  return std::vector{Type::tensor(*dtype, {x[0], n})};
}

// operands: x weight_scale activation_scale quant_scale group_index
Result DequantSwigluQuant(Infer& s) {
  if (!s.expect_rank(0, 2, "[R, 2 * F]")) return {};
  const auto& x = s.in(0).dims;
  const auto half = x[1].divide_exactly(Dim(2));
  if (!half)
    return s.bad_value(
               s.operand_span(0),
               fmt::format("`dequant_swiglu_quant` halves the last axis, {} has an odd one", s.text(x))),
           Result{};
  if (s.has(4)) {
    if (!s.expect_rank(4, 1, "[G]") || !s.expect_shape(1, {s.in(4).dims[0], x[1]})) return {};
  } else if (!s.expect_shape(1, {x[1]})) {
    return {};
  }
  if (!s.expect_shape(2, {x[0]})) return {};
  if (s.has(3) && !s.expect_shape(3, {*half})) return {};
  return std::vector{Type::tensor(DType::I8, {x[0], *half}), Type::tensor(DType::F32, {x[0]})};
}

}  // namespace skdsl::ops::rules
