// kernel_properties — what every kernel owes, checked on random calls of the table in op_cases.h
//
// Seed 1 unless SKDSL_SEED says otherwise; SKDSL_SOAK=1 makes 40 times as many calls.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <set>

#include "stdlib/kernels/registry.h"
#include "tests/ops/abi_call.h"
#include "tests/unit/kernels/op_cases.h"

namespace skdsl::test {
namespace {

uint64_t seed() {
  const char* text = std::getenv("SKDSL_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 1;
}
int repetitions() {
  const char* soak = std::getenv("SKDSL_SOAK");
  return soak != nullptr && std::string_view(soak) == "1" ? 1600 : 40;
}

/// Fresh bytes for what a launch writes: results, and operand 0 of in-place operators.
struct Launch {
  std::vector<Tensor> operands, results;
};
Launch prepared(Opcode op, const OpCase& c) {
  Launch launch{c.operands, {}};
  for (const TensorType& t : c.results) launch.results.push_back(poisoned(t));
  if (info(op).has(kInPlace)) {
    Tensor fresh = Tensor::empty(c.operands[0].dtype(), c.operands[0].shape());
    const auto bytes = bytes_of(c.operands[0]);
    if (!bytes.empty()) std::memcpy(fresh.view.data, bytes.data(), bytes.size());
    launch.operands[0] = fresh;
  }
  return launch;
}

/// What a launch wrote.
std::vector<Tensor> outputs(Opcode op, const Launch& launch) {
  std::vector<Tensor> out = launch.results;
  if (info(op).has(kInPlace)) out.push_back(launch.operands[0]);
  return out;
}

std::vector<Tensor> run(Opcode op, const OpCase& c, Launch launch, uint32_t blocks = 1,
                        BlockOrder order = BlockOrder::Rising) {
  AbiCall call(op, c.attrs, launch.operands, launch.results);
  call.run(blocks, order);
  EXPECT_EQ(call.fault().code, SK_FAULT_NONE);
  return outputs(op, launch);
}
std::vector<Tensor> run(Opcode op, const OpCase& c, uint32_t blocks = 1,
                        BlockOrder order = BlockOrder::Rising) {
  return run(op, c, prepared(op, c), blocks, order);
}

void expect_same_bits(const std::vector<Tensor>& got, const std::vector<Tensor>& want,
                      const std::string& what) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_EQ(bytes_of(got[i]), bytes_of(want[i])) << what << ", result " << i;
}

class Kernels : public testing::TestWithParam<CaseRow> {
 protected:
  /// Runs f on random calls of every dtype of the row.
  void for_calls(const std::function<void(Random&, const OpCase&)>& f, bool empty = false) {
    Random random(seed() * 1000003 + static_cast<uint64_t>(GetParam().op));
    for (int i = 0; i < repetitions() && !HasFailure(); ++i)
      for (const sk_dtype dtype : GetParam().dtypes) {
        SCOPED_TRACE(testing::Message() << info(op()).name << " " << dtype_name(dtype) << ", call " << i
                                        << ", SKDSL_SEED=" << seed());
        const OpCase c = GetParam().make(random, {dtype, empty});
        f(random, c);
      }
  }
  Opcode op() const { return GetParam().op; }
};

TEST_P(Kernels, AgreeWithTheTextbook) {
  for_calls([&](Random&, const OpCase& c) {
    if (!c.reference) return;
    const auto got = run(op(), c);
    const auto want = c.reference();
    ASSERT_EQ(got.size(), want.size());
    for (size_t r = 0; r < got.size(); ++r) {
      ASSERT_EQ(got[r].elements(), static_cast<int64_t>(want[r].size()));
      // Low precision may be off by its own last digit (a tie decided by the f32 digits).
      const sk_dtype dtype = got[r].dtype();
      const double unit = dtype == SK_BF16 ? 0x1p-8 : dtype == SK_F16 ? 0x1p-11 : 0;
      const double tiny = dtype == SK_F16 ? 0x1p-24 : 0;
      const double largest = dtype == SK_F16 ? 65504 : 3.38e38;
      for (int64_t i = 0; i < got[r].elements(); ++i) {
        const double g = element(got[r], i), w = want[r][static_cast<size_t>(i)];
        const bool same =
            (std::isnan(g) && std::isnan(w)) || g == w || (std::isinf(g) && std::abs(w) > largest);
        ASSERT_TRUE(same ||
                    std::abs(g - w) <= c.abs + tiny + (c.rel + 1.01 * unit) * std::abs(w) + unit * c.abs)
            << "result " << r << " element " << i << ": got " << g << ", expected " << w;
      }
    }
  });
}

TEST_P(Kernels, GiveTheSameBitsForAnyNumberOfBlocks) {
  for_calls([&](Random&, const OpCase& c) {
    const auto want = run(op(), c);
    for (const uint32_t blocks : {2u, 3u, 7u, 64u})
      expect_same_bits(run(op(), c, blocks), want, "blocks " + std::to_string(blocks));
    expect_same_bits(run(op(), c, 5, BlockOrder::Falling), want, "blocks in falling order");
    expect_same_bits(run(op(), c, 4, BlockOrder::Threads), want, "blocks on threads");
  });
}

TEST_P(Kernels, ReadStridedOperands) {
  for_calls([&](Random& random, const OpCase& c) {
    const auto want = run(op(), c);
    Launch launch = prepared(op(), c);
    for (Tensor& t : launch.operands) t = strided_copy(random, t);
    expect_same_bits(run(op(), c, launch, 2), want, "strided operands");
  });
}

TEST_P(Kernels, TreatRowsIndependently) {
  for_calls([&](Random& random, const OpCase& c) {
    if (c.rows == 0) return;
    const auto want = run(op(), c);
    const int64_t begin = random.between(0, c.rows - 1),
                  n = random.between(1, std::min<int64_t>(2, c.rows - begin));
    OpCase part = c;
    for (size_t k = 0; k < c.operands.size(); ++k) {
      const RowAxis& axis = c.operand_rows[k];
      if (axis.axis >= 0)
        part.operands[k] = axis_range(c.operands[k], axis.axis, begin * axis.each, n * axis.each);
    }
    std::vector<Tensor> want_part;
    for (size_t k = 0; k < c.results.size(); ++k) {
      const RowAxis& axis = c.result_rows[k];
      part.results[k].shape[static_cast<size_t>(axis.axis)] = n * axis.each;
      want_part.push_back(axis_range(want[k], axis.axis, begin * axis.each, n * axis.each));
    }
    expect_same_bits(run(op(), part), want_part, "rows alone");
  });
}

TEST_P(Kernels, RoundOnce) {
  for_calls([&](Random&, const OpCase& c) {
    if (!c.rounds_once) return;
    OpCase wide = c;
    bool narrow = false;
    for (Tensor& t : wide.operands)
      if (t && is_float(t.dtype())) t = converted(t, SK_F32);
    for (TensorType& t : wide.results) {
      narrow |= t.dtype == SK_BF16 || t.dtype == SK_F16;
      if (is_float(t.dtype)) t.dtype = SK_F32;
    }
    if (!narrow) return;
    const auto got = run(op(), c);
    std::vector<Tensor> want = run(op(), wide);
    for (size_t k = 0; k < want.size(); ++k) want[k] = converted(want[k], got[k].dtype());
    expect_same_bits(got, want, "f32 result rounded");
  });
}

TEST_P(Kernels, WriteOverOperandZero) {
  if (!info(op()).has(kElementwise)) GTEST_SKIP() << "the result never takes operand 0's place";
  for_calls([&](Random&, const OpCase& c) {
    const Tensor& x = c.operands[0];
    if (x.dtype() != c.results[0].dtype || x.shape() != c.results[0].shape) return;
    const auto want = run(op(), c);
    Launch launch = prepared(op(), c);
    std::memcpy(launch.results[0].view.data, x.view.data, static_cast<size_t>(x.bytes()));
    launch.operands[0] = launch.results[0];
    expect_same_bits(run(op(), c, launch, 3), want, "in place");
  });
}

TEST_P(Kernels, TakeEmptyTensors) {
  for_calls(
      [&](Random&, const OpCase& c) {
        const auto want = run(op(), c);
        expect_same_bits(run(op(), c, 3), want, "empty");
        if (!c.reference) return;
        const auto values = c.reference();
        for (size_t r = 0; r < want.size(); ++r)
          for (size_t i = 0; i < values[r].size(); ++i) {
            const double g = element(want[r], static_cast<int64_t>(i));
            ASSERT_TRUE(g == values[r][i] || std::isnan(values[r][i])) << g << " for " << values[r][i];
          }
      },
      true);
}

INSTANTIATE_TEST_SUITE_P(, Kernels, testing::ValuesIn(all_cases()),
                         [](const auto& p) { return std::string(skdsl::info(p.param.op).name); });

TEST(KernelTable, EveryOperatorWithAKernelHasACase) {
  std::set<Opcode> covered;
  for (const CaseRow& row : all_cases())
    EXPECT_TRUE(covered.insert(row.op).second) << info(row.op).name << " twice";
  for (size_t i = 0; i < static_cast<size_t>(Opcode::kCount); ++i) {
    const auto op = static_cast<Opcode>(i);
    EXPECT_EQ(covered.contains(op), info(op).has_kernel())
        << info(op).name << " needs a row in tests/unit/kernels";
    EXPECT_EQ(kernels::find_kernel(op) != nullptr, info(op).has_kernel()) << info(op).name;
  }
}

}  // namespace
}  // namespace skdsl::test
