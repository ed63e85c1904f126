#include "runtime/exec/shape_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace skdsl::exec {

namespace {

using Dims = std::vector<int64_t>;

// One call under inspection; the first complaint stays.
struct Call {
  const OpInfo& op;
  const sk_call& abi;
  std::string error;

  bool has(uint32_t i) const { return i < abi.n_in && abi.in[i].dtype != SK_NONE; }
  Dims in(uint32_t i) const { return {abi.in[i].dim, abi.in[i].dim + abi.in[i].rank}; }
  Dims out(uint32_t i) const { return {abi.out[i].dim, abi.out[i].dim + abi.out[i].rank}; }
  int64_t integer(std::string_view name) const { return abi.attr[attr_index(op, name)].i; }
  Dims list(std::string_view name) const {
    const sk_attr& a = abi.attr[attr_index(op, name)];
    return {a.list.data, a.list.data + a.list.size};
  }

  template <class... Args>
  bool need(bool ok, fmt::format_string<Args...> message, Args&&... args) {
    if (!ok && error.empty()) error = fmt::format(message, std::forward<Args>(args)...);
    return ok;
  }
  bool rank(uint32_t i, size_t want) {
    return need(in(i).size() == want, "`{}` is {}; it must have rank {}", operand_param(op, i).name,
                describe(abi.in[i]), want);
  }
  bool in_is(uint32_t i, const Dims& want) {
    return need(in(i) == want, "`{}` is {}; its shape must be [{}]", operand_param(op, i).name,
                describe(abi.in[i]), fmt::join(want, ", "));
  }
  bool out_is(uint32_t i, const Dims& want) {
    return need(i < abi.n_out && out(i) == want, "the operands give shape [{}], the result is declared [{}]",
                fmt::join(want, ", "), fmt::join(i < abi.n_out ? out(i) : Dims{}, ", "));
  }
  // The axis counted from the front, or -1 with a complaint.
  int64_t axis(std::string_view name, size_t rank_of_x) {
    const int64_t a = integer(name), r = static_cast<int64_t>(rank_of_x);
    return need(a >= -r && a < r, "axis {} of a tensor of rank {}", a, r) ? (a < 0 ? a + r : a) : -1;
  }
};

void same_as_first(Call& c) { c.out_is(0, c.in(0)); }

void broadcast(Call& c) {
  const Dims out = c.out(0);
  for (uint32_t i = 0; i < c.abi.n_in; ++i) {
    const Dims x = c.in(i);
    bool ok = x.size() <= out.size();
    for (size_t k = 0; ok && k < x.size(); ++k) {
      const int64_t want = out[out.size() - x.size() + k];
      ok = x[k] == want || x[k] == 1;
    }
    c.need(ok, "`{}` is {}; it does not broadcast to [{}]", operand_param(c.op, i).name,
           describe(c.abi.in[i]), fmt::join(out, ", "));
  }
}

void reduce(Call& c) {
  Dims x = c.in(0);
  const bool with_axis = attr_index(c.op, "axis") >= 0;
  if (!with_axis && !c.need(!x.empty(), "`x` has rank 0")) return;
  const int64_t a = with_axis ? c.axis("axis", x.size()) : static_cast<int64_t>(x.size()) - 1;
  if (a < 0) return;
  if (with_axis && c.integer("keepdim"))
    x[a] = 1;
  else
    x.erase(x.begin() + a);
  c.out_is(0, x);
}

int64_t elements(const Dims& d) {
  int64_t n = 1;
  for (const int64_t x : d) n *= x;
  return n;
}

void reshape(Call& c) {
  c.need(elements(c.in(0)) == elements(c.out(0)), "{} cannot become [{}]: the number of elements differs",
         describe(c.abi.in[0]), fmt::join(c.out(0), ", "));
}

void transpose(Call& c) {
  Dims x = c.in(0);
  const int64_t a = c.axis("axis0", x.size()), b = c.axis("axis1", x.size());
  if (a < 0 || b < 0) return;
  std::swap(x[a], x[b]);
  c.out_is(0, x);
}

void concat(Call& c) {
  if (!c.need(c.abi.n_in > 0, "nothing to concatenate")) return;
  Dims sum = c.in(0);
  const int64_t a = c.axis("axis", sum.size());
  if (a < 0) return;
  for (uint32_t i = 1; i < c.abi.n_in; ++i) {
    Dims x = c.in(i);
    if (!c.rank(i, sum.size())) return;
    sum[a] += x[a];
    x[a] = sum[a];
    if (!c.need(x == sum, "{} and {} differ off axis {}", describe(c.abi.in[0]), describe(c.abi.in[i]), a))
      return;
  }
  c.out_is(0, sum);
}

void split(Call& c) {
  Dims x = c.in(0);
  const int64_t a = c.axis("axis", x.size());
  if (a < 0) return;
  const Dims sizes = c.list("sizes");
  int64_t sum = 0;
  for (const int64_t s : sizes) sum += s;
  c.need(sum == x[a] && sizes.size() == c.abi.n_out &&
             std::all_of(sizes.begin(), sizes.end(), [](int64_t s) { return s >= 0; }),
         "pieces [{}] of {} along axis {}; they must sum to its size", fmt::join(sizes, ", "),
         describe(c.abi.in[0]), a);
  for (uint32_t i = 0; c.error.empty() && i < c.abi.n_out; ++i) {
    x[a] = sizes[i];
    c.out_is(i, x);
  }
}

void slice(Call& c) {
  Dims x = c.in(0);
  const int64_t a = c.axis("axis", x.size());
  if (a < 0) return;
  const int64_t begin = c.integer("begin"), end = c.integer("end");
  c.need(0 <= begin && begin <= end && end <= x[a],
         "[{}..{}] of axis {} of {}; 0 ≤ begin ≤ end ≤ size must hold", begin, end, a, describe(c.abi.in[0]));
  x[a] = end - begin;
  c.out_is(0, x);
}

void take(Call& c) {
  Dims x = c.in(0);
  const int64_t a = c.axis("axis", x.size());
  if (a < 0) return;
  const int64_t i = c.integer("index");
  c.need(i >= -x[a] && i < x[a], "position {} of axis {} of {}", i, a, describe(c.abi.in[0]));
  x.erase(x.begin() + a);
  c.out_is(0, x);
}

void index_select(Call& c) {
  Dims x = c.in(0);
  const int64_t a = c.axis("axis", x.size());
  if (a < 0 || !c.rank(1, 1)) return;
  x[a] = c.in(1)[0];
  c.out_is(0, x);
}

void to_shape(Call& c) {
  c.out_is(0, c.list("shape"));
  if (c.abi.n_in > 0) broadcast(c);
}

void range(Call& c) { c.out_is(0, {c.integer("end") - c.integer("begin")}); }

void linear(Call& c) {
  Dims x = c.in(0);
  if (!c.need(!x.empty(), "`x` has rank 0") || !c.rank(1, 2)) return;
  const int64_t n = c.in(1)[0];
  c.in_is(1, {n, x.back()});
  if (c.has(2)) c.in_is(2, {n});
  x.back() = n;
  c.out_is(0, x);
}

void matmul(Call& c) {
  if (!c.rank(0, 2) || !c.rank(1, 2)) return;
  const Dims x = c.in(0), w = c.in(1);
  c.in_is(1, {x[1], w[1]});
  c.out_is(0, {x[0], w[1]});
}

void batch_matmul(Call& c) {
  if (!c.rank(0, 3) || !c.rank(1, 3)) return;
  const Dims x = c.in(0), w = c.in(1);
  c.in_is(1, {x[1], x[2], w[2]});
  c.out_is(0, {x[0], x[1], w[2]});
}

void grouped_matmul(Call& c) {
  if (!c.rank(0, 2) || !c.rank(1, 3)) return;
  const Dims x = c.in(0), w = c.in(1);
  const bool transposed = c.integer("transpose_weight") != 0;
  const int64_t n = transposed ? w[1] : w[2];
  c.in_is(1, transposed ? Dims{w[0], n, x[1]} : Dims{w[0], x[1], n});
  c.in_is(2, {w[0]});
  c.out_is(0, {x[0], n});
}

void dynamic_quant(Call& c) {
  Dims x = c.in(0);
  if (!c.need(!x.empty(), "`x` has rank 0")) return;
  if (c.has(1)) c.in_is(1, {x.back()});
  c.out_is(0, x);
  x.pop_back();
  c.out_is(1, x);
}

void quant_matmul(Call& c) {
  if (!c.rank(0, 2) || !c.rank(1, 2)) return;
  const Dims x = c.in(0), w = c.in(1);
  const bool transposed = c.integer("transpose_x2") != 0;
  const int64_t n = w[transposed ? 0 : 1];
  c.in_is(1, transposed ? Dims{n, x[1]} : Dims{x[1], n});
  if (c.has(2)) c.in_is(2, {n});
  if (c.has(3)) c.in_is(3, {x[0]});
  c.need(x[1] <= kMaxInt8Terms, "{} products are added; int32 is sure to hold {}", x[1], kMaxInt8Terms);
  c.out_is(0, {x[0], n});
}

void grouped_quant_matmul(Call& c) {
  if (!c.rank(0, 2) || !c.rank(1, 3)) return;
  const Dims x = c.in(0), w = c.in(1);
  const bool transposed = c.integer("transpose_weight") != 0;
  const int64_t n = w[transposed ? 1 : 2];
  c.in_is(1, transposed ? Dims{w[0], n, x[1]} : Dims{w[0], x[1], n});
  c.in_is(2, {w[0]});
  if (c.has(3)) c.in_is(3, {w[0], n});
  if (c.has(4)) c.in_is(4, {x[0]});
  c.need(x[1] <= kMaxInt8Terms, "{} products are added; int32 is sure to hold {}", x[1], kMaxInt8Terms);
  c.out_is(0, {x[0], n});
}

void dequant_swiglu_quant(Call& c) {
  if (!c.rank(0, 2)) return;
  const Dims x = c.in(0);
  if (!c.need(x[1] % 2 == 0, "`x` is {}; its last axis must be even", describe(c.abi.in[0]))) return;
  if (c.has(4)) {
    if (!c.rank(4, 1)) return;
    c.in_is(1, {c.in(4)[0], x[1]});
  } else {
    c.in_is(1, {x[1]});
  }
  c.in_is(2, {x[0]});
  if (c.has(3)) c.in_is(3, {x[1] / 2});
  c.out_is(0, {x[0], x[1] / 2});
  c.out_is(1, {x[0]});
}

void rms_norm(Call& c) {
  const Dims x = c.in(0);
  if (!c.need(!x.empty(), "`x` has rank 0")) return;
  c.in_is(1, {x.back()});
  c.out_is(0, x);
}

void add_rms_norm(Call& c) {
  const Dims x = c.in(0);
  if (!c.need(!x.empty(), "`x1` has rank 0")) return;
  c.in_is(1, x);
  c.in_is(2, {x.back()});
  c.out_is(0, x);
  c.out_is(1, x);
}

void swiglu(Call& c) {
  Dims x = c.in(0);
  if (!c.need(!x.empty() && x.back() % 2 == 0, "`x` is {}; its last axis must be even",
              describe(c.abi.in[0])))
    return;
  x.back() /= 2;
  c.out_is(0, x);
}

void rope(Call& c) {
  if (!c.rank(0, 3)) return;
  const Dims x = c.in(0);
  c.need(x[2] % 2 == 0, "`x` is {}; its last axis must be even", describe(c.abi.in[0]));
  c.in_is(1, {x[0], x[2] / 2});
  c.in_is(2, {x[0], x[2] / 2});
  c.out_is(0, x);
}

void rope_table(Call& c) {
  const int64_t dim = c.integer("dim");
  c.need(dim % 2 == 0, "`dim` is {}; it must be even", dim);
  c.out_is(0, {c.integer("length"), dim / 2});
  c.out_is(1, {c.integer("length"), dim / 2});
}

void embedding(Call& c) {
  if (!c.rank(0, 1) || !c.rank(1, 2)) return;
  c.out_is(0, {c.in(0)[0], c.in(1)[1]});
}

void moe_gating(Call& c) {
  if (!c.rank(0, 2)) return;
  const Dims x = c.in(0);
  const int64_t k = c.integer("k"), groups = c.integer("group_count"), kept = c.integer("k_group");
  c.need(k >= 1 && k <= x[1], "`k` is {} of {} experts", k, x[1]);
  // A group is judged by its two best.
  c.need(groups >= 1 && x[1] % std::max<int64_t>(groups, 1) == 0 && kept >= 1 && kept <= groups &&
             (groups == 1 || (x[1] / groups >= 2 && k <= x[1] / groups * kept)),
         "{} experts in {} groups of which {} are kept, k = {}", x[1], groups, kept, k);
  if (c.has(1)) c.in_is(1, {x[1]});
  c.out_is(0, {x[0], k});
  c.out_is(1, {x[0], k});
}

void moe_init(Call& c) {
  if (!c.rank(0, 2) || !c.rank(1, 2)) return;
  const Dims x = c.in(0), e = c.in(1);
  c.in_is(1, {x[0], e[1]});
  c.out_is(0, {x[0] * e[1], x[1]});
  c.out_is(1, {x[0] * e[1]});
  c.out_is(2, {c.integer("expert_num")});
}

void moe_finalize(Call& c) {
  if (!c.rank(0, 2) || !c.rank(3, 2) || !c.rank(4, 2)) return;
  const Dims e = c.in(3), x = c.in(4);
  c.in_is(3, {x[0], e[1]});
  c.in_is(2, e);
  c.in_is(1, {x[0] * e[1]});
  c.in_is(0, {x[0] * e[1], x[1]});
  c.out_is(0, x);
}

void attention(Call& c) {
  enum : uint32_t { kQuery, kKey, kValue, kQueryRope, kKeyRope, kTable, kCuQ, kKv };
  if (!c.rank(kQuery, 3)) return;
  const Dims q = c.in(kQuery);
  const bool paged = c.has(kTable);
  c.need(q[1] == c.integer("num_heads"), "`query` is {}; num_heads is {}", describe(c.abi.in[kQuery]),
         c.integer("num_heads"));
  // One head may leave its axis out, as an MLA latent cache does.
  const size_t leading = paged ? 2 : 1;
  const auto heads_and_dim = [&](uint32_t i) -> std::pair<int64_t, int64_t> {
    const Dims k = c.in(i);
    if (!c.need(k.size() == leading + 1 || k.size() == leading + 2, "`{}` is {}; it must be {}",
                operand_param(c.op, i).name, describe(c.abi.in[i]),
                paged ? "[blocks, block_size, heads, dim]" : "[rows, heads, dim]"))
      return {0, 0};
    if (paged)
      c.need(k[1] == c.integer("block_size"), "`{}` is {}; block_size is {}", operand_param(c.op, i).name,
             describe(c.abi.in[i]), c.integer("block_size"));
    const Dims first = c.in(kKey);
    c.need(k[0] == first[0], "`{}` is {}; `key` is {}", operand_param(c.op, i).name, describe(c.abi.in[i]),
           describe(c.abi.in[kKey]));
    return {k.size() == leading + 1 ? 1 : k[leading], k.back()};
  };
  const auto [groups, key_dim] = heads_and_dim(kKey);
  const auto [value_groups, value_dim] = heads_and_dim(kValue);
  const int64_t asked = c.integer("num_key_value_heads");
  c.need(groups > 0 && groups == value_groups && q[1] % std::max<int64_t>(groups, 1) == 0 &&
             (asked == 0 || asked == groups),
         "{} query heads, {} key heads, {} value heads, num_key_value_heads = {}", q[1], groups, value_groups,
         asked);
  c.need(key_dim == q[2], "`query` is {}; `key` is {}", describe(c.abi.in[kQuery]), describe(c.abi.in[kKey]));
  if (c.need(c.has(kQueryRope) == c.has(kKeyRope), "`query_rope` and `key_rope` go together") &&
      c.has(kQueryRope)) {
    const auto [rope_groups, rope_dim] = heads_and_dim(kKeyRope);
    c.in_is(kQueryRope, {q[0], q[1], rope_dim});
    c.need(rope_groups == groups || rope_groups == 1, "`key_rope` is {}; `key` is {}",
           describe(c.abi.in[kKeyRope]), describe(c.abi.in[kKey]));
  }
  if (!c.rank(kCuQ, 1)) return;
  c.in_is(kKv, c.in(kCuQ));
  if (paged && c.rank(kTable, 2)) c.in_is(kTable, {c.in(kCuQ)[0], c.in(kTable)[1]});
  c.out_is(0, {q[0], q[1], value_dim});
}

void scatter_update(Call& c) {
  const Dims cache = c.in(0);
  if (!c.need(cache.size() >= 2, "`cache` is {}; it must be [blocks, block_size, …]", describe(c.abi.in[0])))
    return;
  if (!c.rank(1, 1)) return;
  Dims rows(cache.begin() + 1, cache.end());
  rows[0] = c.in(1)[0];
  c.in_is(2, rows);
  c.need(c.abi.in[0].dtype == c.abi.in[2].dtype, "`cache` is {}, `rows` is {}; their dtypes must be equal",
         describe(c.abi.in[0]), describe(c.abi.in[2]));
}

void index_put(Call& c) {
  const Dims x = c.in(0), mask = c.in(1);
  c.need(mask.size() <= x.size() && std::equal(mask.begin(), mask.end(), x.begin()),
         "`mask` is {}; it must have the leading axes of {}", describe(c.abi.in[1]), describe(c.abi.in[0]));
  c.out_is(0, x);
  if (!c.error.empty()) return;
  // `value` broadcasts to [matches, axes behind the mask]; the kernel counts the matches.
  const Dims value = c.in(2), slice(x.begin() + static_cast<std::ptrdiff_t>(mask.size()), x.end());
  bool ok = value.size() <= slice.size() + 1;
  for (size_t k = 1; ok && k <= std::min(value.size(), slice.size()); ++k)
    ok = value[value.size() - k] == 1 || value[value.size() - k] == slice[slice.size() - k];
  c.need(ok, "`value` is {}; it does not broadcast to the axes behind the mask, [{}]", describe(c.abi.in[2]),
         fmt::join(slice, ", "));
}

void nothing(Call&) {}

struct Row {
  ShapeRule rule;
  void (*check)(Call&);
};
constexpr Row kChecks[] = {
    {ShapeRule::None, nothing},
    {ShapeRule::SameAsFirst, same_as_first},
    {ShapeRule::Broadcast, broadcast},
    {ShapeRule::BroadcastBool, broadcast},
    {ShapeRule::Where, broadcast},
    {ShapeRule::Cast, same_as_first},
    {ShapeRule::Reduce, reduce},
    {ShapeRule::ReduceIndex, reduce},
    {ShapeRule::Reshape, reshape},
    {ShapeRule::Transpose, transpose},
    {ShapeRule::Concat, concat},
    {ShapeRule::Split, split},
    {ShapeRule::Slice, slice},
    {ShapeRule::Take, take},
    {ShapeRule::IndexSelect, index_select},
    {ShapeRule::BroadcastTo, to_shape},
    {ShapeRule::Full, to_shape},
    {ShapeRule::Range, range},
    {ShapeRule::Linear, linear},
    {ShapeRule::Matmul, matmul},
    {ShapeRule::BatchMatmul, batch_matmul},
    {ShapeRule::GroupedMatmul, grouped_matmul},
    {ShapeRule::DynamicQuant, dynamic_quant},
    {ShapeRule::QuantMatmul, quant_matmul},
    {ShapeRule::GroupedQuantMatmul, grouped_quant_matmul},
    {ShapeRule::DequantSwigluQuant, dequant_swiglu_quant},
    {ShapeRule::RmsNorm, rms_norm},
    {ShapeRule::AddRmsNorm, add_rms_norm},
    {ShapeRule::Swiglu, swiglu},
    {ShapeRule::Rope, rope},
    {ShapeRule::RopeTable, rope_table},
    {ShapeRule::Embedding, embedding},
    {ShapeRule::MoeGating, moe_gating},
    {ShapeRule::MoeInit, moe_init},
    {ShapeRule::MoeFinalize, moe_finalize},
    {ShapeRule::Attention, attention},
    {ShapeRule::ScatterUpdate, scatter_update},
    {ShapeRule::IndexPut, index_put},
    // With one rank a collective keeps every size.
    {ShapeRule::AllGather, same_as_first},
    {ShapeRule::ReduceScatter, same_as_first},
};

}  // namespace

std::optional<std::string> shape_error(Opcode op, const sk_call& call) {
  Call c{info(op), call, {}};
  for (const Row& row : kChecks)
    if (row.rule == c.op.rule) {
      row.check(c);
      break;
    }
  if (c.error.empty()) return {};
  return c.error;
}

}  // namespace skdsl::exec
