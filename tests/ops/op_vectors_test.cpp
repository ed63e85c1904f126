// op_vectors — recorded cases of single operators and of compositions, through every executor
//
// A recorded file names what a model does in one go (an MLA prolog, a paged attention with its projections);
// here each is written as the operators that the language has for it, in the order in which the standard
// library calls them.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "tests/ops/abi_call.h"
#include "tests/ops/run_executors.h"
#include "tests/ops/vectors.h"

namespace skdsl::test {
namespace {

/// The executors that the suite runs on.
std::vector<std::unique_ptr<OpExecutor>> executors() {
  std::vector<std::unique_ptr<OpExecutor>> list;
  list.push_back(std::make_unique<AbiExecutor>(1));
  list.push_back(std::make_unique<AbiExecutor>(3));
  list.push_back(std::make_unique<EagerExecutor>(2));
  list.push_back(std::make_unique<GraphExecutor>(2));
  return list;
}

/// One case on one executor; short forms for what the compositions need.
struct Bench {
  OpExecutor& executor;
  const VectorCase& c;

  std::vector<Tensor> run(Opcode op, const Attrs& attrs, const std::vector<Tensor>& operands,
                          const std::vector<TensorType>& results) {
    return executor.run(op, attrs, operands, results);
  }
  Tensor one(Opcode op, const Attrs& attrs, const std::vector<Tensor>& operands, std::vector<int64_t> shape,
             sk_dtype dtype = SK_F32) {
    return run(op, attrs, operands, {{dtype, std::move(shape)}}).at(0);
  }
  /// Quantised values; a case may say that a float engine can miss by one at a rounding boundary.
  void check_quantised(const Tensor& got, const std::string& output) {
    const auto slack = c.attrs.value("q_may_differ_by", int64_t{0});
    const Tensor& want = c.out(output);
    ASSERT_EQ(got.shape(), want.shape());
    for (int64_t i = 0; i < want.elements(); ++i)
      ASSERT_LE(std::abs(element(got, i) - element(want, i)), static_cast<double>(slack))
          << c.name << "." << output << " element " << i << " on " << executor.name();
  }
  void check(const Tensor& got, const std::string& output) {
    expect_close(got, c.out(output), c.abs, c.rel,
                 c.name + "." + output + " on " + std::string(executor.name()));
  }
  int64_t integer(const char* key) const { return c.attrs.at(key).get<int64_t>(); }
  double real(const char* key) const { return c.attrs.at(key).get<double>(); }

  Tensor linear(const Tensor& x, const Tensor& w) {
    return one(Opcode::Linear, {}, {x, w, {}}, {x.shape()[0], w.shape()[0]});
  }
  Tensor rms_norm(const Tensor& x, const Tensor& gamma, double eps) {
    return one(Opcode::RmsNorm, {{"eps", eps}}, {x, gamma}, x.shape());
  }
  /// x times a number, as a rank-0 operand.
  Tensor scaled(const Tensor& x, double factor) {
    Tensor scalar = Tensor::empty(SK_F32, {});
    *scalar.data<float>() = static_cast<float>(factor);
    return one(Opcode::Mul, {}, {x, scalar}, x.shape());
  }
  Tensor reshaped(const Tensor& x, std::vector<int64_t> shape) {
    return one(Opcode::Reshape, {{"shape", shape}}, {x}, shape);
  }
  /// Two pieces of the last axis.
  std::vector<Tensor> split(const Tensor& x, int64_t a, int64_t b) {
    std::vector<int64_t> first = x.shape(), second = x.shape();
    first.back() = a;
    second.back() = b;
    return run(Opcode::Split, {{"sizes", std::vector<int64_t>{a, b}}, {"axis", int64_t{-1}}}, {x},
               {{SK_F32, first}, {SK_F32, second}});
  }
  /// Rows of the tables at `positions`.
  std::vector<Tensor> cos_sin(const Tensor& positions, int64_t dim, double theta) {
    int64_t length = 0;
    for (int64_t i = 0; i < positions.elements(); ++i)
      length = std::max(length, static_cast<int64_t>(element(positions, i)) + 1);
    const TensorType type{SK_F32, {length, dim / 2}};
    const auto tables =
        run(Opcode::RopeTable, {{"length", length}, {"dim", dim}, {"theta", theta}}, {}, {type, type});
    std::vector<Tensor> out;
    for (const Tensor& t : tables)
      out.push_back(
          one(Opcode::IndexSelect, {{"axis", int64_t{0}}}, {t, positions}, {positions.elements(), dim / 2}));
    return out;
  }
};

Tensor running_sum(const Tensor& lengths) {
  Tensor out = Tensor::empty(SK_I32, lengths.shape());
  int32_t sum = 0;
  for (int64_t i = 0; i < lengths.elements(); ++i) out.data<int32_t>()[i] = sum += lengths.data<int32_t>()[i];
  return out;
}

void rms_norm(Bench& b) { b.check(b.rms_norm(b.c.in("x"), b.c.in("w"), b.real("eps")), "y"); }

void add_rms_norm(Bench& b) {
  const auto shape = b.c.in("x").shape();
  const auto got = b.run(Opcode::AddRmsNorm, {{"eps", b.real("eps")}},
                         {b.c.in("residual"), b.c.in("x"), b.c.in("w")}, {{SK_F32, shape}, {SK_F32, shape}});
  b.check(got[0], "y");
  b.check(got[1], "residual_out");
}

void argmax(Bench& b) {
  b.check(b.one(Opcode::Argmax, {}, {b.c.in("x")}, b.c.out("index").shape(), SK_I32), "index");
}

void softmax(Bench& b) { b.check(b.one(Opcode::Softmax, {}, {b.c.in("x")}, b.c.in("x").shape()), "y"); }
void swiglu(Bench& b) { b.check(b.one(Opcode::Swiglu, {}, {b.c.in("x")}, b.c.out("y").shape()), "y"); }

void grouped_matmul(Bench& b) {
  const Tensor &x = b.c.in("x"), &w = b.c.in("w");
  b.check(b.one(Opcode::GroupedMatmul, {{"group_list_type", b.integer("group_list_type")}},
                {x, w, b.c.in("group_list")}, b.c.out("y").shape()),
          "y");
  // The same product from the checkpoint's order [G, N, K].
  const auto shape = w.shape();
  const Tensor wt = b.one(Opcode::Transpose, {{"axis0", int64_t{1}}, {"axis1", int64_t{2}}}, {w},
                          {shape[0], shape[2], shape[1]});
  b.check(b.one(Opcode::GroupedMatmul,
                {{"group_list_type", b.integer("group_list_type")}, {"transpose_weight", true}},
                {x, wt, b.c.in("group_list")}, b.c.out("y").shape()),
          "y");
}

void rope(Bench& b) {
  const Tensor& x = b.c.in("x");
  const auto tables = b.cos_sin(b.c.in("positions"), x.shape()[2], b.real("theta"));
  b.check(tables[0], "cos");
  b.check(tables[1], "sin");
  b.check(b.one(Opcode::Rope, {{"style", b.c.attrs.at("style").get<std::string>()}},
                {x, tables[0], tables[1]}, x.shape()),
          "y");
}

// The two mscale rules of std/rope.sk in the terms of the record; the file itself is tested with the models.
double yarn_mscale(double factor, double mscale) {
  return factor <= 1 ? 1 : 0.1 * mscale * std::log(factor) + 1;
}

void rope_inv_freq(Bench& b) {
  // Position 1 turns by the frequency itself.
  const int64_t dim = b.integer("dim");
  Attrs attrs = {{"length", int64_t{2}}, {"dim", dim}, {"theta", b.real("theta")}};
  double attention_factor = 1;
  if (const auto& scaling = b.c.attrs.at("rope_scaling"); !scaling.is_null()) {
    attrs["scaling"] = scaling.value("type", scaling.value("rope_type", std::string()));
    for (const char* key : {"factor", "beta_fast", "beta_slow"})
      if (scaling.contains(key)) attrs[key] = scaling.at(key).get<double>();
    if (scaling.contains("original_max_position_embeddings")) {
      attrs["original_max_position_embeddings"] =
          scaling.at("original_max_position_embeddings").get<int64_t>();
      const double factor = scaling.at("factor").get<double>();
      attention_factor =
          yarn_mscale(factor, scaling.value("mscale", 1.0)) /
          (scaling.contains("mscale") ? yarn_mscale(factor, scaling.at("mscale_all_dim").get<double>()) : 1);
      attrs["attention_factor"] = attention_factor;
    }
  }
  const TensorType type{SK_F32, {2, dim / 2}};
  const auto tables = b.run(Opcode::RopeTable, attrs, {}, {type, type});
  Tensor got = Tensor::empty(SK_F32, std::vector<int64_t>{dim / 2});
  for (int64_t i = 0; i < dim / 2; ++i)
    got.data<float>()[i] =
        static_cast<float>(std::atan2(element(tables[1], dim / 2 + i), element(tables[0], dim / 2 + i)));
  b.check(got, "inv_freq");
  Tensor factor = Tensor::empty(SK_F32, std::vector<int64_t>{1});
  factor.data<float>()[0] = static_cast<float>(element(tables[0], 0));  // the cosine of position 0
  b.check(factor, "cos_sin_factor");
}

void dynamic_quant(Bench& b) {
  const Tensor& x = b.c.in("x");
  const Tensor smooth = b.c.inputs.contains("smooth") ? b.c.in("smooth") : Tensor{};
  const auto got =
      b.run(Opcode::DynamicQuant, {}, {x, smooth}, {{SK_I8, x.shape()}, {SK_F32, {x.shape()[0]}}});
  b.check_quantised(got[0], "q");
  b.check(got[1], "scale");
}

void weight_quant(Bench& b) {
  const Tensor& w = b.c.in("w");
  const auto got = b.run(Opcode::DynamicQuant, {}, {w, {}}, {{SK_I8, w.shape()}, {SK_F32, {w.shape()[0]}}});
  b.check_quantised(got[0], "q");
  b.check(got[1], "scale");
}

void quant_matmul(Bench& b) {
  const Tensor &x = b.c.in("x_q"), &w = b.c.in("w_q");
  const std::vector<int64_t> shape{x.shape()[0], w.shape()[0]};
  b.check(b.one(Opcode::QuantMatmul, {{"transpose_x2", true}}, {x, w, {}, {}}, shape, SK_I32), "acc");
  const Attrs f32 = {{"output_dtype", std::string("f32")}};
  Attrs transposed = f32;
  transposed["transpose_x2"] = true;
  b.check(b.one(Opcode::QuantMatmul, transposed, {x, w, b.c.in("w_scale"), b.c.in("x_scale")}, shape), "y");
  const Tensor wt = b.one(Opcode::Transpose, {{"axis0", int64_t{0}}, {"axis1", int64_t{1}}}, {w},
                          {w.shape()[1], w.shape()[0]}, SK_I8);
  b.check(b.one(Opcode::QuantMatmul, f32, {x, wt, b.c.in("w_scale"), b.c.in("x_scale")}, shape), "y");
}

void grouped_quant_matmul(Bench& b) {
  const Tensor &x = b.c.in("x_q"), &w = b.c.in("w_q");
  const Attrs attrs = {{"group_list_type", b.integer("group_list_type")},
                       {"output_dtype", std::string("f32")},
                       {"transpose_weight", true}};
  b.check(b.one(Opcode::GroupedQuantMatmul, attrs,
                {x, w, b.c.in("group_list"), b.c.in("w_scale"), b.c.in("x_scale")}, b.c.out("y").shape()),
          "y");
}

void dequant_swiglu_quant(Bench& b) {
  const Tensor& acc = b.c.in("acc");
  const int64_t rows = acc.shape()[0], half = acc.shape()[1] / 2;
  const auto got = b.run(Opcode::DequantSwigluQuant, {{"activate_left", true}},
                         {acc, b.c.in("weight_scale"), b.c.in("activation_scale"), b.c.in("quant_scale"), {}},
                         {{SK_I8, {rows, half}}, {SK_F32, {rows}}});
  b.check_quantised(got[0], "q");
  b.check(got[1], "scale");
  // What is quantised, by operators of its own.
  const Tensor v = b.one(Opcode::Mul, {},
                         {b.one(Opcode::Mul, {},
                                {b.one(Opcode::Cast, {{"dtype", std::string("f32")}}, {acc}, acc.shape()),
                                 b.c.in("weight_scale")},
                                acc.shape()),
                          b.reshaped(b.c.in("activation_scale"), {rows, 1})},
                         acc.shape());
  b.check(b.one(Opcode::Swiglu, {}, {v}, {rows, half}), "act");
}

// [K, N] -> [N/c0, K/16, 16, c0], and a cache [block, slot, dim] -> [block, dim/c0, slot, c0].
void layout(Bench& b) {
  const Tensor& nd = b.c.in("nd");
  const auto shape = nd.shape();
  const int64_t c0 = b.integer("c0"), columns = shape.back() / c0;
  const auto swapped = [&](const Tensor& x, int64_t axis0, int64_t axis1) {
    auto to = x.shape();
    std::swap(to[static_cast<size_t>(axis0)], to[static_cast<size_t>(axis1)]);
    return b.one(Opcode::Transpose, {{"axis0", axis0}, {"axis1", axis1}}, {x}, to, SK_I32);
  };
  const auto reshaped = [&](const Tensor& x, const std::vector<int64_t>& to) {
    return b.one(Opcode::Reshape, {{"shape", to}}, {x}, to, SK_I32);
  };
  if (shape.size() == 3) return b.check(swapped(reshaped(nd, {shape[0], shape[1], columns, c0}), 1, 2), "nz");
  b.check(swapped(swapped(reshaped(nd, {shape[0] / 16, 16, columns, c0}), 1, 2), 0, 1), "nz");
}

void gqa_paged_attention(Bench& b) {
  const Tensor &q = b.c.in("q"), &k = b.c.in("cache_k");
  b.check(b.one(Opcode::FusedInferAttentionScore,
                {{"num_heads", q.shape()[1]},
                 {"num_key_value_heads", k.shape()[2]},
                 {"scale", b.real("scale")},
                 {"block_size", b.integer("block_size")},
                 {"sparse_mode", int64_t{3}}},
                {q,
                 k,
                 b.c.in("cache_v"),
                 {},
                 {},
                 b.c.in("block_table"),
                 running_sum(b.c.in("q_len")),
                 b.c.in("kv_len")},
                q.shape()),
          "out");
}

void mla_paged_attention(Bench& b) {
  const Tensor &q = b.c.in("q_nope"), &latent = b.c.in("cache_latent"), &w_uk = b.c.in("w_uk"),
               &w_uv = b.c.in("w_uv");
  const int64_t rows = q.shape()[0], heads = q.shape()[1], rank = latent.shape()[2];
  const Tensor absorbed = b.one(Opcode::TransposeBatchMatmul, {}, {q, w_uk}, {rows, heads, rank});
  b.check(absorbed, "q_absorbed");
  const Tensor out = b.one(Opcode::FusedInferAttentionScore,
                           {{"num_heads", heads},
                            {"num_key_value_heads", int64_t{1}},
                            {"scale", b.real("scale")},
                            {"block_size", b.integer("block_size")},
                            {"sparse_mode", int64_t{3}}},
                           {absorbed, latent, latent, b.c.in("q_pe_roped"), b.c.in("cache_kpe_roped"),
                            b.c.in("block_table"), running_sum(b.c.in("q_len")), b.c.in("kv_len")},
                           {rows, heads, rank});
  b.check(out, "latent_out");
  b.check(b.one(Opcode::TransposeBatchMatmul, {}, {out, w_uv}, {rows, heads, w_uv.shape()[2]}), "out");
}

void mla_prolog(Bench& b) {
  const Tensor &x = b.c.in("x"), &w_uk = b.c.in("w_uk");
  const int64_t rows = x.shape()[0], heads = w_uk.shape()[0], nope = w_uk.shape()[1], rank = w_uk.shape()[2];
  const int64_t rope = b.c.out("cache_kpe").shape()[2];
  const Attrs style = {{"style", b.c.attrs.at("rope_style").get<std::string>()}};
  const auto tables = b.cos_sin(b.c.in("positions"), rope, b.real("theta"));

  const Tensor q_latent = b.rms_norm(b.linear(x, b.c.in("w_dq")), b.c.in("gamma_q"), b.real("eps_q"));
  const Tensor q = b.scaled(b.reshaped(b.linear(q_latent, b.c.in("w_uq_qr")), {rows, heads, nope + rope}),
                            b.real("q_scale"));
  const auto q_parts = b.split(q, nope, rope);
  b.check(b.one(Opcode::TransposeBatchMatmul, {}, {q_parts[0], w_uk}, {rows, heads, rank}), "q_absorbed");
  b.check(b.one(Opcode::Rope, style, {q_parts[1], tables[0], tables[1]}, {rows, heads, rope}), "q_pe");

  const auto kv = b.split(b.linear(x, b.c.in("w_dkv_kr")), rank, rope);
  const Tensor latent = b.scaled(b.rms_norm(kv[0], b.c.in("gamma_kv"), b.real("eps_kv")), b.real("kv_scale"));
  const Tensor kpe = b.reshaped(
      b.one(Opcode::Rope, style, {b.reshaped(kv[1], {rows, 1, rope}), tables[0], tables[1]}, {rows, 1, rope}),
      {rows, rope});
  for (const auto& [value, output] : {std::pair{latent, "cache_latent"}, std::pair{kpe, "cache_kpe"}}) {
    const Tensor cache = Tensor::zeros(SK_F32, b.c.out(output).shape());
    b.run(Opcode::ScatterUpdate, {}, {cache, b.c.in("slots"), value}, {});
    b.check(cache, output);
  }
}

void moe_gating_topk(Bench& b) {
  const auto mode = b.c.attrs.at("mode").get<std::string>();
  const auto shape = b.c.out("indices").shape();
  Attrs attrs = {{"k", b.integer("k")}, {"renorm", b.c.attrs.at("renorm").get<bool>()}};
  if (b.c.attrs.contains("scale")) attrs["routed_scaling_factor"] = b.real("scale");
  if (mode == "sigmoid_groups") {
    attrs["norm_type"] = "sigmoid";
    attrs["group_count"] = b.integer("n_group");
    attrs["k_group"] = b.integer("topk_group");
  }
  const Tensor bias = b.c.inputs.contains("bias") ? b.c.in("bias") : Tensor{};
  const auto got =
      b.run(Opcode::MoeGatingTopK, attrs, {b.c.in("logits"), bias}, {{SK_F32, shape}, {SK_I32, shape}});
  b.check(got[0], "weights");
  b.check(got[1], "indices");
}

void moe_dispatch_combine(Bench& b) {
  const Tensor &x = b.c.in("x"), &indices = b.c.in("indices");
  const int64_t tokens = x.shape()[0], width = x.shape()[1], experts = b.integer("n_real");
  const int64_t assignments = tokens * b.integer("k"), ffn = b.c.in("w_gate").shape()[1];
  const auto routed = b.run(Opcode::MoeInitRouting, {{"expert_num", experts}}, {x, indices},
                            {{SK_F32, {assignments, width}}, {SK_I32, {assignments}}, {SK_I32, {experts}}});
  b.check(routed[1], "row_of_assignment");
  b.check(routed[2], "counts");
  const int64_t used = b.c.out("expanded_x").shape()[0];
  b.check(b.one(Opcode::Slice, {{"axis", int64_t{0}}, {"begin", int64_t{0}}, {"end", used}}, {routed[0]},
                {used, width}),
          "expanded_x");
  for (int64_t i = used * width; i < assignments * width; ++i) ASSERT_EQ(element(routed[0], i), 0.0);

  const Attrs grouped = {{"group_list_type", int64_t{1}}, {"transpose_weight", true}};
  const Tensor w13 = b.one(Opcode::Concat, {{"axis", int64_t{1}}}, {b.c.in("w_gate"), b.c.in("w_up")},
                           {experts, 2 * ffn, width});
  const Tensor hidden =
      b.one(Opcode::GroupedMatmul, grouped, {routed[0], w13, routed[2]}, {assignments, 2 * ffn});
  const Tensor act = b.one(Opcode::Swiglu, {}, {hidden}, {assignments, ffn});
  const Tensor y =
      b.one(Opcode::GroupedMatmul, grouped, {act, b.c.in("w_down"), routed[2]}, {assignments, width});
  b.check(b.one(Opcode::MoeFinalizeRouting, {{"expert_num", experts}},
                {y, routed[1], b.c.in("weights"), indices, x}, {tokens, width}),
          "y");
}

struct Suite {
  const char* file;
  void (*run)(Bench&);
};
constexpr Suite kSuites[] = {
    {"add_rms_norm", add_rms_norm},
    {"argmax", argmax},
    {"dequant_swiglu_quant", dequant_swiglu_quant},
    {"dynamic_quant", dynamic_quant},
    {"gqa_paged_attention", gqa_paged_attention},
    {"grouped_matmul", grouped_matmul},
    {"grouped_quant_matmul", grouped_quant_matmul},
    {"layout", layout},
    {"mla_paged_attention", mla_paged_attention},
    {"mla_prolog", mla_prolog},
    {"moe_dispatch_combine", moe_dispatch_combine},
    {"moe_gating_topk", moe_gating_topk},
    {"quant_matmul", quant_matmul},
    {"rms_norm", rms_norm},
    {"rope", rope},
    {"rope_inv_freq", rope_inv_freq},
    {"softmax", softmax},
    {"swiglu", swiglu},
    {"weight_quant", weight_quant},
};

class OpVectors : public testing::TestWithParam<Suite> {};
TEST_P(OpVectors, AgreeWithTheRecord) {
  for (const VectorCase& c : load_vectors(GetParam().file))
    for (const auto& executor : executors()) {
      Bench bench{*executor, c};
      GetParam().run(bench);
    }
}
INSTANTIATE_TEST_SUITE_P(, OpVectors, testing::ValuesIn(kSuites),
                         [](const auto& suite) { return std::string(suite.param.file); });

}  // namespace
}  // namespace skdsl::test
