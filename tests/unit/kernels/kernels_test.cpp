// kernels — facts of single kernels: faults, bit equality between kernels, values by hand
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/ops/abi_call.h"
#include "tests/unit/kernels/op_cases.h"

namespace skdsl::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Tensor floats(const Shape& shape, const Values& values, sk_dtype dtype = SK_F32) {
  Tensor t = Tensor::empty(dtype, shape);
  for (size_t i = 0; i < values.size(); ++i) set_element(t, static_cast<int64_t>(i), values[i]);
  return t;
}
Tensor ints(const Shape& shape, const std::vector<int64_t>& values) {
  return int_tensor(SK_I32, shape, values);
}

/// A launch that expects a fault; gives the results.
std::vector<Tensor> faulty(Opcode op, const Attrs& attrs, const std::vector<Tensor>& operands,
                           const std::vector<TensorType>& results, int64_t value, int64_t limit,
                           int64_t row) {
  for (const uint32_t blocks : {3u, 1u}) {
    std::vector<Tensor> out;
    for (const TensorType& t : results) out.push_back(poisoned(t));
    AbiCall call(op, attrs, operands, out);
    call.run(blocks);
    EXPECT_EQ(call.fault().code, SK_FAULT_INDEX);
    EXPECT_EQ(call.fault().ready, 1u);
    EXPECT_EQ(call.fault().value, value);
    EXPECT_EQ(call.fault().limit, limit);
    EXPECT_EQ(call.fault().row, row);
    if (blocks == 1) return out;
  }
  return {};
}

std::vector<Tensor> run(Opcode op, const Attrs& attrs, const std::vector<Tensor>& operands,
                        const std::vector<TensorType>& results) {
  return AbiExecutor(2).run(op, attrs, operands, results);
}

// ---- faults: the row is zero, the others are right

TEST(Faults, EmbeddingIdOutside) {
  const auto y = faulty(Opcode::Embedding, {}, {ints({3}, {1, 7, 0}), floats({2, 2}, {1, 2, 3, 4})},
                        {{SK_F32, {3, 2}}}, 7, 2, 1);
  EXPECT_EQ(values_of(y[0]), (Values{3, 4, 0, 0, 1, 2}));
  faulty(Opcode::Embedding, {}, {ints({1}, {-1}), floats({2, 2}, {1, 2, 3, 4})}, {{SK_F32, {1, 2}}}, -1, 2,
         0);
}

TEST(Faults, IndexSelectOutside) {
  const auto y = faulty(Opcode::IndexSelect, {{"axis", int64_t{1}}},
                        {floats({2, 2}, {1, 2, 3, 4}), ints({2}, {2, 1})}, {{SK_F32, {2, 2}}}, 2, 2, 0);
  EXPECT_EQ(values_of(y[0]), (Values{0, 2, 0, 4}));
}

TEST(Faults, ScatterUpdateSlotOutside) {
  const Tensor cache = floats({2, 2, 1}, {1, 2, 3, 4});
  faulty(Opcode::ScatterUpdate, {}, {cache, ints({3}, {4, -1, 2}), floats({3, 1}, {7, 8, 9})}, {}, 4, 4, 0);
  EXPECT_EQ(values_of(cache), (Values{1, 2, 9, 4}));
}

TEST(Faults, GroupedMatmulCountsPastTheRows) {
  const auto y = faulty(Opcode::GroupedMatmul, {{"group_list_type", int64_t{1}}},
                        {floats({2, 1}, {1, 2}), floats({2, 1, 1}, {10, 100}), ints({2}, {1, 2})},
                        {{SK_F32, {2, 1}}}, 2, 3, 1);
  EXPECT_EQ(values_of(y[0]), (Values{10, 0}));
}

TEST(Faults, RoutingWithANegativeExpert) {
  const auto y = faulty(
      Opcode::MoeInitRouting, {{"expert_num", int64_t{2}}}, {floats({2, 1}, {5, 6}), ints({2, 1}, {-3, 1})},
      {{SK_F32, {2, 1}}, {SK_I32, {2}}, {SK_I32, {2}}}, -3, std::numeric_limits<int32_t>::max(), 0);
  EXPECT_EQ(values_of(y[0]), (Values{6, 0}));
  EXPECT_EQ(values_of(y[1]), (Values{-1, 0}));
}

TEST(Faults, FinalizeWithARowOutside) {
  const auto y = faulty(Opcode::MoeFinalizeRouting, {{"expert_num", int64_t{2}}},
                        {floats({1, 1}, {5}), ints({2}, {0, 1}), floats({2, 1}, {2, 2}), ints({2, 1}, {0, 1}),
                         floats({2, 1}, {0, 0})},
                        {{SK_F32, {2, 1}}}, 1, 1, 1);
  EXPECT_EQ(values_of(y[0]), (Values{10, 0}));
}

TEST(Faults, IndexPutWithTooFewValues) {
  const auto y =
      faulty(Opcode::IndexPut, {},
             {floats({4}, {1, 2, 3, 4}), int_tensor(SK_BOOL, {4}, {1, 0, 1, 1}), floats({2}, {8, 9})},
             {{SK_F32, {4}}}, 2, 2, 3);
  EXPECT_EQ(values_of(y[0]), (Values{8, 2, 9, 0}));
}

/// One-head attention over a paged cache of width 1, two requests of one row each.
Attrs paged_attention() {
  return {{"num_heads", int64_t{1}}, {"scale", 1.0}, {"block_size", int64_t{2}}, {"sparse_mode", int64_t{3}}};
}

TEST(Faults, AttentionBlockOutside) {
  const Tensor cache = floats({2, 2, 1, 1}, {1, 1, 5, 5});
  const auto y = faulty(Opcode::FusedInferAttentionScore, paged_attention(),
                        {floats({2, 1, 1}, {1, 1}),
                         cache,
                         cache,
                         {},
                         {},
                         ints({2, 1}, {2, 1}),
                         ints({2}, {1, 2}),
                         ints({2}, {1, 2})},
                        {{SK_F32, {2, 1, 1}}}, 2, 2, 0);
  EXPECT_EQ(values_of(y[0]), (Values{0, 5}));
}

TEST(Faults, AttentionLengthPastTheTable) {
  const Tensor cache = floats({2, 2, 1, 1}, {1, 1, 5, 5});
  const auto y = faulty(Opcode::FusedInferAttentionScore, paged_attention(),
                        {floats({2, 1, 1}, {1, 1}),
                         cache,
                         cache,
                         {},
                         {},
                         ints({2, 1}, {1, 1}),
                         ints({2}, {1, 2}),
                         ints({2}, {2, 3})},
                        {{SK_F32, {2, 1, 1}}}, 3, 3, 1);
  EXPECT_EQ(values_of(y[0]), (Values{5, 0}));
}

// ---- attention

TEST(Attention, PagedAndContiguousKeysGiveTheSameBits) {
  Random random(3);
  for (int i = 0; i < 60; ++i) {
    const int64_t length = random.between(1, 90), rows = random.between(1, std::min<int64_t>(4, length));
    const int64_t groups = random.between(1, 2), heads = groups * random.between(1, 3),
                  dim = random.between(1, 80);
    const sk_dtype dtype = kFloatTypes[static_cast<size_t>(random.between(0, 2))];
    const Tensor query = random_tensor(random, dtype, {rows, heads, dim});
    const Tensor key = random_tensor(random, dtype, {length, groups, dim}),
                 value = random_tensor(random, dtype, {length, groups, dim});
    Attrs attrs = {
        {"num_heads", heads}, {"num_key_value_heads", groups}, {"scale", 0.2}, {"sparse_mode", int64_t{3}}};
    const std::vector<TensorType> type = {{dtype, {rows, heads, dim}}};
    const auto want = run(Opcode::FusedInferAttentionScore, attrs,
                          {query, key, value, {}, {}, {}, ints({1}, {rows}), ints({1}, {length})}, type);
    for (const int64_t block_size : {int64_t{1}, int64_t{4}, int64_t{7}, int64_t{128}}) {
      // Pages in falling order; everything not written stays NaN.
      const int64_t pages = (length + block_size - 1) / block_size;
      std::vector<int64_t> table;
      for (int64_t p = 0; p < pages; ++p) table.push_back(pages - p);
      table.push_back(-1);
      std::vector<Tensor> caches;
      for (const Tensor& dense : {key, value}) {
        caches.push_back(poisoned({dtype, {pages + 1, block_size, groups, dim}}));
        for (int64_t p = 0; p < length; ++p)
          for (int64_t j = 0; j < groups * dim; ++j)
            set_element(
                caches.back(),
                (table[static_cast<size_t>(p / block_size)] * block_size + p % block_size) * groups * dim + j,
                element(dense, p * groups * dim + j));
      }
      attrs["block_size"] = block_size;
      const auto got = run(Opcode::FusedInferAttentionScore, attrs,
                           {query,
                            caches[0],
                            caches[1],
                            {},
                            {},
                            ints({1, pages + 1}, table),
                            ints({1}, {rows}),
                            ints({1}, {length})},
                           type);
      ASSERT_EQ(bytes_of(got[0]), bytes_of(want[0])) << "block_size " << block_size << ", length " << length;
    }
    // Caches may keep all heads of a position on one axis.
    attrs.erase("block_size");
    const auto flat = run(Opcode::FusedInferAttentionScore, attrs,
                          {query,
                           key.reshaped(Shape{length, groups * dim}),
                           value.reshaped(Shape{length, groups * dim}),
                           {},
                           {},
                           {},
                           ints({1}, {rows}),
                           ints({1}, {length})},
                          type);
    ASSERT_EQ(bytes_of(flat[0]), bytes_of(want[0]));
  }
}

TEST(Attention, RequestsDoNotSeeEachOther) {
  Random random(4);
  const Tensor query = random_tensor(random, SK_BF16, {5, 2, 6}),
               key = random_tensor(random, SK_BF16, {12, 2, 6});
  const Attrs attrs = {{"num_heads", int64_t{2}}, {"scale", 0.4}, {"sparse_mode", int64_t{3}}};
  const auto all =
      run(Opcode::FusedInferAttentionScore, attrs,
          {query, key, key, {}, {}, {}, ints({3}, {2, 3, 5}), ints({3}, {5, 6, 12})}, {{SK_BF16, {5, 2, 6}}});
  const int64_t rows[] = {0, 2, 3, 5}, keys[] = {0, 5, 6, 12};
  for (int b = 0; b < 3; ++b) {
    const int64_t n = rows[b + 1] - rows[b], m = keys[b + 1] - keys[b];
    const Tensor k = axis_range(key, 0, keys[b], m);
    const auto alone =
        run(Opcode::FusedInferAttentionScore, attrs,
            {axis_range(query, 0, rows[b], n), k, k, {}, {}, {}, ints({1}, {n}), ints({1}, {m})},
            {{SK_BF16, {n, 2, 6}}});
    EXPECT_EQ(bytes_of(alone[0]), bytes_of(axis_range(all[0], 0, rows[b], n)));
  }
}

TEST(Attention, RowsThatSeeNothingAreZero) {
  const Tensor cache = poisoned({SK_F32, {1, 2, 1, 1}});
  // Request 0 is padding; row 1 belongs to no request.
  const auto y = run(
      Opcode::FusedInferAttentionScore, paged_attention(),
      {floats({2, 1, 1}, {1, 1}), cache, cache, {}, {}, ints({1, 1}, {-1}), ints({1}, {1}), ints({1}, {0})},
      {{SK_F32, {2, 1, 1}}});
  EXPECT_EQ(values_of(y[0]), (Values{0, 0}));
}

// ---- one order of addition

TEST(Matrices, AllKernelsAgreeToTheBit) {
  Random random(5);
  for (int i = 0; i < 60; ++i) {
    const int64_t rows = random.between(1, 4), k = random.between(1, 200), n = random.between(1, 170);
    const sk_dtype dtype = kFloatTypes[static_cast<size_t>(random.between(0, 2))];
    const Tensor x = random_tensor(random, dtype, {rows, k}), w = random_tensor(random, dtype, {n, k});
    const std::vector<TensorType> type = {{SK_F32, {rows, n}}};
    const auto want = bytes_of(run(Opcode::Linear, {{"dtype", std::string("f32")}}, {x, w, {}}, type)[0]);
    const Tensor wt =
        run(Opcode::Transpose, {{"axis0", int64_t{0}}, {"axis1", int64_t{1}}}, {w}, {{dtype, {k, n}}})[0];
    EXPECT_EQ(bytes_of(run(Opcode::Matmul, {}, {x, wt}, type)[0]), want);
    EXPECT_EQ(bytes_of(run(Opcode::TransposeBatchMatmul, {},
                           {x.reshaped(Shape{rows, 1, k}), wt.reshaped(Shape{1, k, n})},
                           {{SK_F32, {rows, 1, n}}})[0]),
              want);
    EXPECT_EQ(bytes_of(run(Opcode::GroupedMatmul, {}, {x, wt.reshaped(Shape{1, k, n}), ints({1}, {rows})},
                           type)[0]),
              want);
    EXPECT_EQ(bytes_of(run(Opcode::GroupedMatmul, {{"transpose_weight", true}},
                           {x, w.reshaped(Shape{1, n, k}), ints({1}, {rows})}, type)[0]),
              want);
  }
}

TEST(Fusions, AddRmsNormIsItsComposition) {
  Random random(6);
  for (const sk_dtype dtype : kFloatTypes) {
    const Tensor a = random_tensor(random, dtype, {3, 70}), b = random_tensor(random, dtype, {3, 70}),
                 gamma = random_tensor(random, SK_F32, {70});
    const TensorType type{dtype, {3, 70}};
    const auto fused = run(Opcode::AddRmsNorm, {{"eps", 1e-5}}, {a, b, gamma}, {type, type});
    const Tensor sum = run(Opcode::Add, {}, {a, b}, {type})[0];
    EXPECT_EQ(bytes_of(fused[1]), bytes_of(sum));
    EXPECT_EQ(bytes_of(fused[0]), bytes_of(run(Opcode::RmsNorm, {{"eps", 1e-5}}, {sum, gamma}, {type})[0]));
  }
}

TEST(Reductions, TransposedViewsGiveTheSameBits) {
  Random random(7);
  const Tensor x = random_tensor(random, SK_F32, {5, 300});
  const Tensor xt =
      run(Opcode::Transpose, {{"axis0", int64_t{0}}, {"axis1", int64_t{1}}}, {x}, {{SK_F32, {300, 5}}})[0];
  EXPECT_EQ(bytes_of(run(Opcode::ReduceSum, {}, {x}, {{SK_F32, {5}}})[0]),
            bytes_of(run(Opcode::ReduceSum, {{"axis", int64_t{0}}}, {xt}, {{SK_F32, {5}}})[0]));
}

// ---- values by hand

TEST(Cast, RoundsSaturatesAndWraps) {
  const Tensor x = floats({8}, {1.9, -1.9, 200, -200, 3e38, -kInf, kInf, kNan});
  EXPECT_EQ(values_of(run(Opcode::Cast, {{"dtype", std::string("i8")}}, {x}, {{SK_I8, {8}}})[0]),
            (Values{1, -1, 127, -128, 127, -128, 127, 0}));
  const Tensor i32 = run(Opcode::Cast, {{"dtype", std::string("i32")}}, {x}, {{SK_I32, {8}}})[0];
  EXPECT_EQ(values_of(i32), (Values{1, -1, 200, -200, 2147483647.0, -2147483648.0, 2147483647.0, 0}));
  EXPECT_EQ(values_of(run(Opcode::Cast, {{"dtype", std::string("i8")}}, {ints({3}, {200, -129, 5})},
                          {{SK_I8, {3}}})[0]),
            (Values{-56, 127, 5}));
  EXPECT_EQ(values_of(run(Opcode::Cast, {{"dtype", std::string("bool")}}, {x}, {{SK_BOOL, {8}}})[0]),
            Values(8, 1.0));
  // Ties go to the even digit: 1 + 2^-8 and 1 + 3 * 2^-8 lie between two bf16 each.
  EXPECT_EQ(values_of(run(Opcode::Cast, {{"dtype", std::string("bf16")}},
                          {floats({2}, {1.00390625, 1.01171875})}, {{SK_BF16, {2}}})[0]),
            (Values{1.0, 1.015625}));
}

TEST(Division, OfIntegers) {
  const Tensor x = ints({5}, {7, -7, 7, -2147483648LL, 0}), y = ints({5}, {2, 2, 0, -1, 0});
  EXPECT_EQ(values_of(run(Opcode::Div, {}, {x, y}, {{SK_I32, {5}}})[0]),
            (Values{3, -3, 0, -2147483648.0, 0}));
}

TEST(Full, KeepsLargeIntegers) {
  const auto y =
      run(Opcode::Full, {{"shape", Shape{2}}, {"value", 16777217.0}, {"dtype", std::string("i64")}}, {},
          {{SK_I64, {2}}});
  EXPECT_EQ(values_of(y[0]), (Values{16777217, 16777217}));
}

TEST(NotANumber, StaysOrIsLeftOutAsDocumented) {
  const Tensor x = floats({2, 3}, {1, kNan, 3, kNan, kNan, -kInf});
  const auto max = values_of(run(Opcode::ReduceMax, {}, {x}, {{SK_F32, {2}}})[0]);
  EXPECT_TRUE(std::isnan(max[0]) && std::isnan(max[1]));
  EXPECT_EQ(values_of(run(Opcode::Argmax, {}, {x}, {{SK_I32, {2}}})[0]), (Values{2, 0}));
  for (const double v : values_of(run(Opcode::Softmax, {}, {x}, {{SK_F32, {2, 3}}})[0]))
    EXPECT_TRUE(std::isnan(v));
  // NaN logits are chosen last.
  const auto gate = run(Opcode::MoeGatingTopK, {{"k", int64_t{2}}, {"norm_type", std::string("sigmoid")}},
                        {floats({1, 3}, {kNan, -2, -1}), {}}, {{SK_F32, {1, 2}}, {SK_I32, {1, 2}}});
  EXPECT_EQ(values_of(gate[1]), (Values{2, 1}));
}

TEST(RandomNormal, FollowsPhilox) {
  // Random123's known answer for counter 0 and key 0.
  const uint32_t words[] = {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u};
  const auto y = values_of(
      run(Opcode::RandomNormal, {{"shape", Shape{4}}, {"seed", int64_t{0}}}, {}, {{SK_F32, {4}}})[0]);
  for (int pair = 0; pair < 2; ++pair) {
    const double radius = std::sqrt(-2 * std::log((words[2 * pair] + 1.0) / 4294967296.0));
    const double angle = 2 * M_PI * words[2 * pair + 1] / 4294967296.0;
    EXPECT_NEAR(y[static_cast<size_t>(2 * pair)], radius * std::cos(angle), 1e-6);
    EXPECT_NEAR(y[static_cast<size_t>(2 * pair + 1)], radius * std::sin(angle), 1e-6);
  }
  const auto many = values_of(run(Opcode::RandomNormal, {{"shape", Shape{200000}}, {"seed", int64_t{42}}}, {},
                                  {{SK_F32, {200000}}})[0]);
  double sum = 0, squares = 0, fourth = 0;
  for (const double v : many) sum += v, squares += v * v, fourth += v * v * v * v;
  EXPECT_NEAR(sum / 200000, 0, 0.01);
  EXPECT_NEAR(squares / 200000, 1, 0.015);
  EXPECT_NEAR(fourth / 200000, 3, 0.1);
}

}  // namespace
}  // namespace skdsl::test
