// Launches, barriers and the pool of result tensors.
#include "runtime/exec/workers.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "runtime/exec/allocator.h"
#include "tests/unit/exec/builder.h"

namespace skdsl {
namespace {

bool soak() { return std::getenv("SKDSL_SOAK") != nullptr; }

// Phase p of block b writes p + 1 into its column and checks that every block had finished phase p - 1.
constexpr uint32_t kPhases = 4;
void phase_kernel(const sk_call* call, uint32_t phase, uint32_t block, uint32_t blocks) {
  auto* cells = static_cast<int32_t*>(call->out[0].data);
  auto* errors = static_cast<int32_t*>(call->out[1].data);
  for (uint32_t b = 0; b < blocks; ++b)
    if (phase > 0 && cells[(phase - 1) * blocks + b] != static_cast<int32_t>(phase)) ++errors[block];
  cells[phase * blocks + block] = static_cast<int32_t>(phase + 1);
}

void stress(uint32_t count, int launches) {
  exec::Workers workers(count);
  ASSERT_EQ(workers.count(), count);
  const kernels::KernelEntry kernel{phase_kernel, nullptr, kPhases};
  for (int i = 0; i < launches; ++i) {
    std::vector<int32_t> cells(kPhases * count, 0), errors(count, 0);
    const sk_tensor out[] = {contiguous_view(SK_I32, {{static_cast<int64_t>(cells.size())}}, cells.data()),
                             contiguous_view(SK_I32, {{count}}, errors.data())};
    sk_call call{};
    call.out = out;
    call.n_out = 2;
    workers.launch(kernel, call, count);
    for (uint32_t b = 0; b < count; ++b) {
      ASSERT_EQ(errors[b], 0) << "launch " << i << " block " << b;
      for (uint32_t p = 0; p < kPhases; ++p)
        ASSERT_EQ(cells[p * count + b], static_cast<int32_t>(p + 1)) << "launch " << i;
    }
  }
}

TEST(Workers, BarriersHoldWithOneWorkerPerCore) { stress(2, soak() ? 200000 : 3000); }
TEST(Workers, BarriersHoldWithMoreWorkersThanCores) { stress(9, soak() ? 20000 : 150); }
TEST(Workers, OneWorkerRunsEverything) { stress(1, 100); }

TEST(Workers, ComeAndGoWithoutALaunch) {
  for (int i = 0; i < 50; ++i) exec::Workers workers(3);
}

TEST(Workers, ASmallLaunchRunsOnTheCallerAlone) {
  exec::Workers workers(3);
  const kernels::KernelEntry kernel{phase_kernel, nullptr, kPhases};
  std::vector<int32_t> cells(kPhases, 0), errors(1, 0);
  const sk_tensor out[] = {contiguous_view(SK_I32, {{kPhases}}, cells.data()),
                           contiguous_view(SK_I32, {{1}}, errors.data())};
  sk_call call{};
  call.out = out;
  call.n_out = 2;
  workers.launch(kernel, call, 1);
  EXPECT_EQ(cells, (std::vector<int32_t>{1, 2, 3, 4}));
}

TEST(TensorPool, ReusesBlocksAndCountsThem) {
  exec::TensorPool pool(false);
  const void* first = nullptr;
  {
    auto t = pool.empty(SK_F32, {{100}});
    ASSERT_TRUE(t);
    first = t->view.data;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0u);
    EXPECT_GE(pool.live_bytes(), 400u);
  }
  EXPECT_EQ(pool.live_bytes(), 0u);
  auto again = pool.empty(SK_F32, {{101}});
  EXPECT_EQ(again->view.data, first);
  EXPECT_LT(pool.peak_bytes(), 1000u);
}

TEST(TensorPool, PoisonsEveryTensorAnew) {
  exec::TensorPool pool(true);
  for (int i = 0; i < 2; ++i) {
    auto t = pool.empty(SK_F32, {{3}});
    for (int k = 0; k < 3; ++k) EXPECT_NE(t->data<float>()[k], t->data<float>()[k]);
    for (int k = 0; k < 3; ++k) t->data<float>()[k] = 1;
  }
}

TEST(TensorPool, SizesThatCannotBeAreErrors) {
  exec::TensorPool pool;
  EXPECT_EQ(pool.empty(SK_F32, {{2, -3}}).error().message,
            "a tensor of shape [2, -3] was asked for; sizes must not be negative");
  const auto huge = pool.empty(SK_F32, {{int64_t{1} << 40, int64_t{1} << 40}});
  ASSERT_FALSE(huge);
  EXPECT_EQ(huge.error().kind, ErrorKind::Environment);
  EXPECT_FALSE(pool.empty(SK_F32, {{int64_t{1} << 50}}));
  EXPECT_TRUE(pool.empty(SK_F32, {{int64_t{1} << 40, int64_t{1} << 40, 0}}));
  EXPECT_FALSE(pool.empty(SK_F32, {{1, 1, 1, 1, 1, 1, 1, 1, 1}}));
}

TEST(TensorPool, TensorsMayOutliveThePool) {
  Tensor t;
  {
    exec::TensorPool pool;
    t = *pool.empty(SK_I32, {{4}});
  }
  t.data<int32_t>()[3] = 7;
  EXPECT_EQ(t.data<int32_t>()[3], 7);
}

}  // namespace
}  // namespace skdsl
