// The Step record and the blocks of the cache.
#include "runtime/model/step.h"

#include <gtest/gtest.h>

#include <set>

#include "runtime/model/kv_blocks.h"
#include "tests/unit/exec/builder.h"

namespace skdsl {
namespace {

using model::BlockManager;
using model::make_step;
using model::StepRequest;

std::vector<int32_t> field(const model::StepRecord& step, std::string_view name) {
  return test::values<int32_t>(*step.field(name));
}

TEST(Step, APrefillOfTwoRequests) {
  const std::vector<int32_t> first{5, 2}, second{7};
  const StepRequest requests[] = {{6, 6, first}, {2, 2, second}};
  const auto step = make_step(requests, 4, 3);
  EXPECT_EQ(field(step, "position_ids"), (std::vector<int32_t>{0, 1, 2, 3, 4, 5, 0, 1}));
  EXPECT_EQ(field(step, "slot_mapping"), (std::vector<int32_t>{20, 21, 22, 23, 8, 9, 28, 29}));
  EXPECT_EQ(field(step, "block_table"), (std::vector<int32_t>{5, 2, 0, 7, 0, 0}));
  EXPECT_EQ(describe(step.block_table.view), "i32[2, 3]");
  EXPECT_EQ(field(step, "kv_len"), (std::vector<int32_t>{6, 2}));
  EXPECT_EQ(field(step, "actual_seq_lengths_q"), (std::vector<int32_t>{6, 2}));
  EXPECT_EQ(field(step, "actual_seq_lengths_kv"), (std::vector<int32_t>{6, 2}));
  EXPECT_EQ(field(step, "actual_seq_lengths_cu_q"), (std::vector<int32_t>{6, 8}));
  EXPECT_EQ(field(step, "actual_seq_lengths_cu_kv"), (std::vector<int32_t>{6, 8}));
}

TEST(Step, ADecodeStepWithPadding) {
  const std::vector<int32_t> blocks{3, 1};
  const StepRequest requests[] = {{1, 5, blocks}, {}};
  const auto step = make_step(requests, 4, 2);
  EXPECT_EQ(field(step, "position_ids"), (std::vector<int32_t>{4, 0}));
  EXPECT_EQ(field(step, "slot_mapping"), (std::vector<int32_t>{4, -1}));
  EXPECT_EQ(field(step, "block_table"), (std::vector<int32_t>{3, 1, 0, 0}));
  EXPECT_EQ(field(step, "kv_len"), (std::vector<int32_t>{5, 0}));
  EXPECT_EQ(field(step, "actual_seq_lengths_cu_q"), (std::vector<int32_t>{1, 2}));
  EXPECT_EQ(field(step, "actual_seq_lengths_cu_kv"), (std::vector<int32_t>{5, 5}));
}

// Every row of step_fields.def is there; list fields say the same as their tensors.
TEST(Step, HasEveryFieldOfTheTable) {
  const std::vector<int32_t> blocks{1};
  const StepRequest requests[] = {{2, 2, blocks}, {}};
  const auto step = make_step(requests, 4, 1);
#define SK_STEP_FIELD(name, type, dims, text) \
  EXPECT_EQ(std::get<Tensor>(*step.field(#name)).dtype(), SK_##type) << #name;
#define SK_STEP_LIST(name, of)                                                  \
  {                                                                             \
    const auto list = std::get<std::vector<int64_t>>(*step.field(#name));       \
    const auto tensor = field(step, #of);                                       \
    EXPECT_EQ(std::vector<int32_t>(list.begin(), list.end()), tensor) << #name; \
  }
#include "runtime/plan/step_fields.def"
#undef SK_STEP_FIELD
#undef SK_STEP_LIST
  EXPECT_FALSE(step.field("kv_lens"));
}

TEST(BlockManager, NeverHandsOutTheNullBlockAndEveryOtherOnce) {
  for (const std::optional<uint64_t> seed :
       {std::optional<uint64_t>{}, std::optional<uint64_t>{7}, std::optional<uint64_t>{8}}) {
    BlockManager blocks(20, seed);
    std::set<int32_t> seen;
    while (const auto b = blocks.take()) EXPECT_TRUE(seen.insert(*b).second);
    EXPECT_EQ(seen.size(), 19u);
    EXPECT_EQ(*seen.begin(), 1);
    EXPECT_EQ(*seen.rbegin(), 19);
    blocks.give_back(4);
    EXPECT_EQ(blocks.free_blocks(), 1);
    EXPECT_EQ(*blocks.take(), 4);
  }
}

TEST(BlockManager, OrderIsAscendingOrShuffledBySeed) {
  const auto order = [](std::optional<uint64_t> seed) {
    BlockManager blocks(8, seed);
    std::vector<int32_t> out;
    while (const auto b = blocks.take()) out.push_back(*b);
    return out;
  };
  EXPECT_EQ(order({}), (std::vector<int32_t>{1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(order(3), order(3));
  EXPECT_NE(order(3), order(4));
}

TEST(BlockManager, WithoutUsableBlocks) {
  for (const int64_t n : {0, 1}) {
    BlockManager blocks(n);
    EXPECT_FALSE(blocks.take());
    EXPECT_EQ(blocks.usable_blocks(), 0);
  }
}

}  // namespace
}  // namespace skdsl
