// rules_nn — shape rules of matrix, layer, mixture-of-experts and collective operators
#include "compiler/ops/infer_internal.h"

namespace skdsl::ops::rules {

using plan::Dim;
using plan::DType;
using plan::Type;

Result Linear(Infer& s) {
  const auto& x = s.in(0).dims;
  if (x.empty()) return s.expect_rank(0, 2, "[T, K]"), Result{};
  if (!s.expect_rank(1, 2, "[N, K]")) return {};
  const auto& w = s.in(1).dims;
  if (!s.same(w[1], x.back(), "linear")) return s.fail_shapes(0, 1), Result{};
  if (s.has(2) && !s.expect_shape(2, {w[0]})) return {};
  auto dims = x;
  dims.back() = w[0];
  return std::vector{Type::tensor(s.dtype_attr(0, s.in(0).dtype), std::move(dims))};
}

Result Matmul(Infer& s) {
  if (!s.expect_rank(0, 2, "[M, K]") || !s.expect_rank(1, 2, "[K, N]")) return {};
  if (!s.same(s.in(1).dims[0], s.in(0).dims[1], "matmul")) return s.fail_shapes(0, 1), Result{};
  return std::vector{Type::tensor(s.dtype_attr(0, s.in(0).dtype), {s.in(0).dims[0], s.in(1).dims[1]})};
}

Result BatchMatmul(Infer& s) {
  if (!s.expect_rank(0, 3, "[T, H, K]") || !s.expect_rank(1, 3, "[H, K, N]")) return {};
  const auto& x = s.in(0).dims;
  const auto& w = s.in(1).dims;
  if (!s.same(w[0], x[1], "transpose_batch_matmul") || !s.same(w[1], x[2], "transpose_batch_matmul"))
    return s.fail_shapes(0, 1), Result{};
  return std::vector{Type::tensor(s.in(0).dtype, {x[0], x[1], w[2]})};
}

Result GroupedMatmul(Infer& s) {
  if (!s.expect_rank(0, 2, "[R, K]") ||
      !s.expect_rank(1, 3, "[G, K, N] or, with transpose_weight, [G, N, K]") || !s.expect_rank(2, 1, "[G]"))
    return {};
  if (!s.expect_group_list_type(0)) return {};
  const bool transposed = std::get<bool>((*s.call.attrs)[1]);
  const auto& w = s.in(1).dims;
  if (!s.same(w[transposed ? 2 : 1], s.in(0).dims[1], "grouped_matmul")) return s.fail_shapes(0, 1), Result{};
  if (!s.expect_shape(2, {w[0]})) return {};
  return std::vector{Type::tensor(s.in(0).dtype, {s.in(0).dims[0], w[transposed ? 1 : 2]})};
}

Result RmsNorm(Infer& s) {
  if (s.in(0).rank() == 0) return s.expect_rank(0, 2, "[…, D]"), Result{};
  if (!s.expect_shape(1, {s.in(0).dims.back()})) return {};
  return std::vector{s.in(0)};
}

Result AddRmsNorm(Infer& s) {
  if (s.in(0).rank() == 0) return s.expect_rank(0, 2, "[…, D]"), Result{};
  if (s.in(1).dtype != s.in(0).dtype) {
    s.call.diags->report(s.operand_span(1), diag::Id::DTypeMismatch, "add_rms_norm",
                         plan::name(s.in(0).dtype), plan::name(s.in(1).dtype));
    return {};
  }
  if (!s.expect_shape(1, s.in(0).dims) || !s.expect_shape(2, {s.in(0).dims.back()})) return {};
  return std::vector{s.in(0), s.in(0)};
}

Result Swiglu(Infer& s) {
  if (s.in(0).rank() == 0) return s.expect_rank(0, 2, "[…, 2 * F]"), Result{};
  auto dims = s.in(0).dims;
  const auto half = dims.back().divide_exactly(Dim(2));
  if (!half)
    return s.bad_value(s.operand_span(0),
                       fmt::format("`swiglu` halves the last axis, {} has an odd one", s.text(dims))),
           Result{};
  dims.back() = *half;
  return std::vector{Type::tensor(s.in(0).dtype, std::move(dims))};
}

Result Rope(Infer& s) {
  if (!s.expect_rank(0, 3, "[T, H, D]")) return {};
  const auto& x = s.in(0).dims;
  const auto half = x[2].divide_exactly(Dim(2));
  if (!half)
    return s.bad_value(s.operand_span(0),
                       fmt::format("`rope` turns pairs, {} has an odd last axis", s.text(x))),
           Result{};
  if (!s.expect_shape(1, {x[0], *half}) || !s.expect_shape(2, {x[0], *half})) return {};
  return std::vector{s.in(0)};
}

Result RopeTable(Infer& s) {
  const auto half = s.int_attr(1).divide_exactly(Dim(2));
  if (!half)
    return s.bad_value(s.attr_span(1), fmt::format("`dim` of `rope_table` is {}, an even number is required",
                                                   s.call.program->text(s.int_attr(1)))),
           Result{};
  // What the frequencies are divided by, or whose logarithm is taken.
  const auto& scaling = std::get<std::string>((*s.call.attrs)[3]);
  const auto number = [&](size_t i) {
    const auto* d = std::get_if<Dim>(&(*s.call.attrs)[i]);
    return d ? static_cast<double>(d->is_constant() ? d->constant() : 1)
             : std::get<double>((*s.call.attrs)[i]);
  };
  const auto need = [&](size_t i, double above) {
    const bool ok = number(i) > above && number(i) < 1e30;
    if (!ok)
      s.bad_value(s.attr_span(i), fmt::format("`{}` of `rope_table` is {}, more than {} is required",
                                              attr_param(info(s.call.op), i).name, number(i), above));
    return ok;
  };
  bool ok = need(2, scaling == "yarn" ? 1.0 : 0.0);
  if (scaling != "default") ok &= need(4, 0.0);
  if (scaling == "yarn") ok &= need(5, 0.0) && need(6, 0.0) && need(7, 0.0);
  if (scaling == "llama3") ok &= need(5, 0.0) && need(10, number(9));
  if (!ok) return {};
  const Type t = Type::tensor(DType::F32, {s.int_attr(0), *half});
  return std::vector{t, t};
}

Result MoeGating(Infer& s) {
  if (!s.expect_rank(0, 2, "[T, E]")) return {};
  const auto& x = s.in(0).dims;
  if (s.has(1) && !s.expect_shape(1, {x[1]})) return {};
  const auto k = s.static_attr(0), groups = s.static_attr(4), kept = s.static_attr(5);
  if (!k || !groups || !kept) return {};
  const std::string experts = s.call.program->text(x[1]);
  if (*k < 1 || (x[1].is_constant() && *k > x[1].constant()))
    return s.bad_value(s.attr_span(0), fmt::format("`k` is {}, the router has {} experts", *k, experts)),
           Result{};
  if (*groups < 1 || !x[1].divide_exactly(Dim(*groups)))
    return s.bad_value(s.attr_span(4),
                       fmt::format("`group_count` {} does not divide {} experts", *groups, experts)),
           Result{};
  if (*kept < 1 || *kept > *groups)
    return s.bad_value(s.attr_span(5), fmt::format("`k_group` is {}, there are {} groups", *kept, *groups)),
           Result{};
  if (*groups > 1 && x[1].is_constant() && x[1].constant() / *groups * *kept < *k)
    return s.bad_value(s.attr_span(0), fmt::format("`k` is {}, the {} kept groups hold {} experts", *k, *kept,
                                                   x[1].constant() / *groups * *kept)),
           Result{};
  if (*groups > 1 && x[1].is_constant() && x[1].constant() / *groups < 2)
    return s.bad_value(s.attr_span(4),
                       "`group_count` leaves groups of one expert; their two best are needed"),
           Result{};
  return std::vector{Type::tensor(DType::F32, {x[0], Dim(*k)}), Type::tensor(DType::I32, {x[0], Dim(*k)})};
}

Result MoeInit(Infer& s) {
  if (!s.expect_rank(0, 2, "[T, D]") || !s.expect_rank(1, 2, "[T, k]")) return {};
  const auto& x = s.in(0).dims;
  const auto& idx = s.in(1).dims;
  if (!s.same(idx[0], x[0], "moe_init_routing")) return s.fail_shapes(0, 1), Result{};
  const auto experts = s.static_attr(0);
  if (!experts) return {};
  if (*experts < 1)
    return s.bad_value(s.attr_span(0), fmt::format("`expert_num` is {}, at least 1 is required", *experts)),
           Result{};
  const Dim n = idx[0] * idx[1];
  return std::vector{Type::tensor(s.in(0).dtype, {n, x[1]}), Type::tensor(DType::I32, {n}),
                     Type::tensor(DType::I32, {Dim(*experts)})};
}

Result MoeFinalize(Infer& s) {
  if (!s.expect_rank(0, 2, "[T * k, D]") || !s.expect_rank(2, 2, "[T, k]") || !s.expect_rank(4, 2, "[T, D]"))
    return {};
  const auto& w = s.in(2).dims;
  const Dim n = w[0] * w[1];
  if (!s.expect_shape(1, {n}) || !s.expect_shape(3, w) || !s.expect_shape(0, {n, s.in(4).dims[1]}) ||
      !s.expect_shape(4, {w[0], s.in(0).dims[1]}))
    return {};
  return std::vector{s.in(4)};
}

// operands: query key value query_rope key_rope block_table lengths lengths_kv
// attrs: num_heads num_key_value_heads scale block_size input_layout sparse_mode interface
Result Attention(Infer& s) {
  if (!s.expect_rank(0, 3, "[T, H, D]")) return {};
  const auto& q = s.in(0).dims;
  const auto heads = s.static_attr(0), kv_heads = s.static_attr(1), block_size = s.static_attr(3),
             sparse = s.static_attr(5);
  if (!heads || !kv_heads || !block_size || !sparse) return {};
  const int64_t groups = *kv_heads == 0 ? *heads : *kv_heads;
  if (!s.same(q[1], Dim(*heads), "num_heads"))
    return s.bad_value(s.attr_span(0), fmt::format("`num_heads` is {}, query {} has {}", *heads, s.text(q),
                                                   s.call.program->text(q[1]))),
           Result{};
  if (groups < 1 || *heads % groups != 0)
    return s.bad_value(s.attr_span(1), fmt::format("`num_key_value_heads` {} does not divide `num_heads` {}",
                                                   groups, *heads)),
           Result{};
  if (*sparse != 0 && *sparse != 3)
    return s.bad_value(s.attr_span(5),
                       fmt::format("`sparse_mode` is {}, supported are 0 (no mask) and 3 (causal)", *sparse)),
           Result{};
  const bool paged = s.has(5);
  const bool rope = s.has(3);
  if (rope != s.has(4))
    return s.bad_value(s.call.span, "`query_rope` and `key_rope` come together"), Result{};

  std::vector<Dim> lead;  // axes of the keys before the head's values
  if (paged) {
    if (*block_size < 1) return s.bad_value(s.call.span, "a paged cache needs `block_size`"), Result{};
    if (!s.expect_rank(5, 2, "[B, blocks of a request]")) return {};
    const auto& k = s.in(1).dims;
    if (k.size() < 3) return s.expect_rank(1, 4, "[blocks, block_size, G, D]"), Result{};
    lead = {k[0], Dim(*block_size)};
  } else {
    if (!s.expect_rank(1, 3, "[S, G, D]")) return {};
    lead = {s.in(1).dims[0]};
  }
  // One head may leave its axis out, as an MLA latent cache does.
  const auto expect_cache = [&](size_t i, const Dim& width, bool shared = false) {
    auto with_heads = lead;
    with_heads.push_back(Dim(shared ? 1 : groups));
    with_heads.push_back(width);
    auto without = lead;
    without.push_back(width);
    return s.expect_shape(i, groups == 1 && s.in(i).rank() == without.size() ? without : with_heads);
  };
  if (!expect_cache(1, q[2])) return {};
  const Dim out_width = s.in(2).dims.empty() ? Dim(0) : s.in(2).dims.back();
  if (!expect_cache(2, out_width)) return {};
  if (rope) {
    if (!s.expect_rank(3, 3, "[T, H, D rope]") || !s.expect_shape(3, {q[0], q[1], s.in(3).dims[2]}))
      return {};
    // Every head may share one rope key, as MLA does.
    const bool shared = s.in(4).rank() == lead.size() + 2 && s.in(4).dims[lead.size()] == Dim(1);
    if (!expect_cache(4, s.in(3).dims[2], shared)) return {};
  }
  if (!s.expect_rank(6, 1, "[B]")) return {};
  const Dim requests = s.in(6).dims[0];
  if (!s.expect_shape(7, {requests})) return {};
  if (paged && !s.expect_shape(5, {requests, s.in(5).dims[1]})) return {};
  return std::vector{Type::tensor(s.in(0).dtype, {q[0], q[1], out_width})};
}

Result ScatterUpdate(Infer& s) {
  const auto& cache = s.in(0).dims;
  if (cache.size() < 3) return s.expect_rank(0, 3, "[blocks, block_size, …]"), Result{};
  if (!s.expect_rank(1, 1, "[T]")) return {};
  std::vector<Dim> rows{s.in(1).dims[0]};
  rows.insert(rows.end(), cache.begin() + 2, cache.end());
  if (!s.expect_shape(2, rows)) return {};
  if (s.in(0).dtype != s.in(2).dtype) {
    s.call.diags->report(s.operand_span(2), diag::Id::DTypeMismatch, "scatter_update",
                         plan::name(s.in(0).dtype), plan::name(s.in(2).dtype));
    return {};
  }
  return std::vector<Type>{};
}

// One rank: the group has one member, so sizes stay.
Result AllGather(Infer& s) { return std::vector{s.in(0)}; }
Result ReduceScatter(Infer& s) { return std::vector{s.in(0)}; }

}  // namespace skdsl::ops::rules
