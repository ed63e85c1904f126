// Every operator with a kernel: the last look at shapes accepts what the rule says and refuses what differs
// from it.
#include "runtime/exec/shape_check.h"

#include <gtest/gtest.h>

#include "runtime/exec/launch.h"
#include "runtime/tensor/tensor.h"

namespace skdsl {
namespace {

using Shape = std::vector<int64_t>;

struct Case {
  Opcode op;
  std::vector<Shape> in;  // {-1} = absent
  std::vector<int64_t> attrs;
  std::vector<Shape> lists;  // IntList attributes come first in these tables' rows
  std::vector<Shape> out;
};

std::optional<std::string> error_of(const Case& c) {
  std::vector<sk_tensor> in, out;
  for (const Shape& s : c.in)
    in.push_back(s == Shape{-1} ? sk_tensor{} : contiguous_view(SK_F32, s, nullptr));
  for (const Shape& s : c.out) out.push_back(contiguous_view(SK_F32, s, nullptr));
  exec::AbiAttrs attrs;
  for (const Shape& l : c.lists) attrs.add_list(l);
  for (const int64_t a : c.attrs) attrs.add_int(a);
  sk_call call{};
  call.in = in.data(), call.n_in = static_cast<uint32_t>(in.size());
  call.out = out.data(), call.n_out = static_cast<uint32_t>(out.size());
  call.attr = attrs.attrs.data(), call.n_attr = static_cast<uint32_t>(attrs.attrs.size());
  return exec::shape_error(c.op, call);
}

const std::vector<Case>& good_calls() {
  static const std::vector<Case> cases = {
      {Opcode::Add, {{3, 1}, {4}}, {}, {}, {{3, 4}}},
      {Opcode::Lt, {{3, 4}, {}}, {}, {}, {{3, 4}}},
      {Opcode::Where, {{3, 1}, {}, {4}}, {}, {}, {{3, 4}}},
      {Opcode::Exp, {{3, 4}}, {}, {}, {{3, 4}}},
      {Opcode::Cast, {{3, 4}}, {SK_BF16}, {}, {{3, 4}}},
      {Opcode::ReduceSum, {{3, 4, 5}}, {1, 0}, {}, {{3, 5}}},
      {Opcode::ReduceMax, {{3, 4, 5}}, {-1, 1}, {}, {{3, 4, 1}}},
      {Opcode::Argmax, {{3, 4}}, {}, {}, {{3}}},
      {Opcode::Reshape, {{3, 4}}, {}, {{2, 6}}, {{2, 6}}},
      {Opcode::Transpose, {{3, 4, 5}}, {0, -1}, {}, {{5, 4, 3}}},
      {Opcode::Concat, {{3, 4}, {2, 4}}, {0}, {}, {{5, 4}}},
      {Opcode::Split, {{3, 4}}, {1}, {{1, 3}}, {{3, 1}, {3, 3}}},
      {Opcode::Slice, {{3, 4}}, {1, 1, 3}, {}, {{3, 2}}},
      {Opcode::Take, {{3, 4}}, {0, -1}, {}, {{4}}},
      {Opcode::IndexSelect, {{3, 4}, {7}}, {1}, {}, {{3, 7}}},
      {Opcode::BroadcastTo, {{3, 1}}, {}, {{2, 3, 4}}, {{2, 3, 4}}},
      {Opcode::Arange, {}, {2, 7}, {}, {{5}}},
      {Opcode::Linear, {{3, 8}, {5, 8}, {5}}, {0}, {}, {{3, 5}}},
      {Opcode::Linear, {{2, 3, 8}, {5, 8}, {-1}}, {0}, {}, {{2, 3, 5}}},
      {Opcode::Matmul, {{3, 8}, {8, 5}}, {0}, {}, {{3, 5}}},
      {Opcode::TransposeBatchMatmul, {{3, 2, 8}, {2, 8, 5}}, {}, {}, {{3, 2, 5}}},
      {Opcode::GroupedMatmul, {{6, 8}, {2, 8, 5}, {2}}, {1, 0}, {}, {{6, 5}}},
      {Opcode::GroupedMatmul, {{6, 8}, {2, 5, 8}, {2}}, {1, 1}, {}, {{6, 5}}},
      {Opcode::RmsNorm, {{3, 8}, {8}}, {0}, {}, {{3, 8}}},
      {Opcode::AddRmsNorm, {{3, 8}, {3, 8}, {8}}, {0}, {}, {{3, 8}, {3, 8}}},
      {Opcode::Swiglu, {{3, 8}}, {}, {}, {{3, 4}}},
      {Opcode::Rope, {{3, 2, 8}, {3, 4}, {3, 4}}, {0}, {}, {{3, 2, 8}}},
      {Opcode::RopeTable, {}, {10, 8, 0, 0, 0}, {}, {{10, 4}, {10, 4}}},
      {Opcode::Embedding, {{3}, {10, 8}}, {}, {}, {{3, 8}}},
      {Opcode::MoeGatingTopK, {{3, 8}, {8}}, {2, 0, 0, 0, 4, 2, 0}, {}, {{3, 2}, {3, 2}}},
      {Opcode::MoeInitRouting, {{3, 8}, {3, 2}}, {5}, {}, {{6, 8}, {6}, {5}}},
      {Opcode::MoeFinalizeRouting, {{6, 8}, {6}, {3, 2}, {3, 2}, {3, 8}}, {5}, {}, {{3, 8}}},
      {Opcode::FusedInferAttentionScore,
       {{5, 4, 8}, {6, 2, 8}, {6, 2, 7}, {-1}, {-1}, {-1}, {3}, {3}},
       {4, 2, 0, 0, 0, 3, 0},
       {},
       {{5, 4, 7}}},
      {Opcode::FusedInferAttentionScore,
       {{5, 4, 8}, {9, 16, 8}, {9, 16, 8}, {5, 4, 2}, {9, 16, 2}, {3, 7}, {3}, {3}},
       {4, 1, 0, 16, 0, 3, 0},
       {},
       {{5, 4, 8}}},
      {Opcode::FusedInferAttentionScore,
       {{5, 4, 8}, {6, 4, 8}, {6, 4, 7}, {5, 4, 2}, {6, 1, 2}, {-1}, {3}, {3}},
       {4, 0, 0, 0, 0, 3, 0},
       {},
       {{5, 4, 7}}},
      {Opcode::ScatterUpdate, {{9, 16, 2, 8}, {3}, {3, 2, 8}}, {}, {}, {}},
      {Opcode::IndexPut, {{3, 4}, {3}, {4}}, {}, {}, {{3, 4}}},
      {Opcode::AllGather, {{3, 4}}, {0}, {}, {{3, 4}}},
  };
  return cases;
}

TEST(ShapeCheck, AcceptsWhatTheRulesSay) {
  for (const Case& c : good_calls()) EXPECT_EQ(error_of(c).value_or(""), "") << info(c.op).name;
}

// Changing one size of one result, or its rank, makes every call wrong.
TEST(ShapeCheck, RefusesEveryOtherResult) {
  for (const Case& good : good_calls())
    for (size_t o = 0; o < good.out.size(); ++o) {
      Case c = good;
      c.out[o].push_back(2);
      EXPECT_TRUE(error_of(c)) << info(c.op).name;
      for (size_t d = 0; d < good.out[o].size(); ++d) {
        c = good;
        c.out[o][d] += 3;
        EXPECT_TRUE(error_of(c)) << info(c.op).name << " result " << o << " axis " << d;
      }
    }
}

// Operands of these may have any size along some axes; elsewhere a changed size is an error.
TEST(ShapeCheck, RefusesOtherOperands) {
  for (const Case& good : good_calls())
    for (size_t i = 0; i < good.in.size(); ++i) {
      if (good.in[i] == Shape{-1}) continue;
      for (size_t d = 0; d < good.in[i].size(); ++d) {
        const auto free_axis = [&] {
          switch (good.op) {
            case Opcode::IndexSelect:
              return i == 0 && d == 1;
            case Opcode::Slice:
            case Opcode::Take:
              return true;
            case Opcode::Argmax:
            case Opcode::ReduceSum:
            case Opcode::ReduceMax:
              return d == (good.op == Opcode::ReduceSum ? 1 : good.in[0].size() - 1);
            case Opcode::Embedding:
              return i == 1 && d == 0;
            case Opcode::FusedInferAttentionScore:
              return i == 5 && d == 1;
            case Opcode::ScatterUpdate:
              return i == 0 && d < 2;
            default:
              return false;
          }
        }();
        if (free_axis) continue;
        Case c = good;
        c.in[i][d] += 5;
        EXPECT_TRUE(error_of(c)) << info(c.op).name << " operand " << i << " axis " << d;
      }
    }
}

TEST(ShapeCheck, RefusesRangesOutsideTheTensor) {
  for (const std::vector<int64_t>& attrs : {std::vector<int64_t>{1, -1, 1}, {1, 3, 5}, {1, 2, 1}, {2, 0, 1}})
    EXPECT_TRUE(error_of({Opcode::Slice, {{3, 4}}, attrs, {}, {{3, attrs[2] - attrs[1]}}}));
  for (const int64_t index : {3, -4}) EXPECT_TRUE(error_of({Opcode::Take, {{3, 4}}, {0, index}, {}, {{4}}}));
  EXPECT_TRUE(error_of({Opcode::Split, {{3, 4}}, {1}, {{-1, 5}}, {{3, -1}, {3, 5}}}));
  EXPECT_TRUE(error_of({Opcode::MoeGatingTopK, {{3, 8}, {8}}, {9, 0, 0, 0, 1, 1, 0}, {}, {{3, 9}, {3, 9}}}));
  EXPECT_TRUE(error_of({Opcode::MoeGatingTopK, {{3, 8}, {8}}, {1, 0, 0, 0, 0, 1, 0}, {}, {{3, 1}, {3, 1}}}));
}

}  // namespace
}  // namespace skdsl
