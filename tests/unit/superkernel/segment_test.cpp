// Which ops of a scope become one launch.
#include "compiler/superkernel/segment.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/random_program.h"

namespace skdsl::superkernel {
namespace {

using plan::FusionReason;
using Pieces = std::vector<std::vector<uint32_t>>;

Node op(std::string scope, std::vector<uint32_t> before = {}) {
  return {false, std::move(scope), {}, std::move(before)};
}
Node view(std::vector<uint32_t> before) { return {true, "", {}, std::move(before)}; }
Node breaker(std::string scope, std::vector<uint32_t> before) {
  return {false, std::move(scope), FusionReason::Tbe, std::move(before)};
}

TEST(Segment, AScopeIsOnePiece) {
  const auto s = segment({op("a"), op("a", {0}), op("a", {1})});
  EXPECT_EQ(s.pieces, (Pieces{{0, 1, 2}}));
  EXPECT_EQ(s.order, (std::vector<int64_t>{-1}));
  EXPECT_TRUE(s.cuts.empty());
}

TEST(Segment, AnUnfusableOpCutsAndIsSkipped) {
  const auto s = segment({op("a"), breaker("a", {0}), op("a", {1}), op("a", {2})});
  EXPECT_EQ(s.pieces, (Pieces{{0}, {2, 3}}));
  ASSERT_EQ(s.cuts.size(), 1u);
  EXPECT_EQ(s.cuts[0].node, 1u);
  EXPECT_EQ(s.order, (std::vector<int64_t>{-1, 1, -2}));
}

TEST(Segment, EqualNamesAreOneScope) {
  // Nothing between needs the first half.
  EXPECT_EQ(segment({op("a"), op("", {}), op("a", {0})}).pieces, (Pieces{{0, 2}}));
  // The op between does, so the scope is cut there.
  const auto s = segment({op("a"), op("", {0}), op("a", {1})});
  EXPECT_EQ(s.pieces, (Pieces{{0}, {2}}));
  ASSERT_EQ(s.cuts.size(), 1u);
  EXPECT_EQ(s.cuts[0].reason, FusionReason::Between);
  EXPECT_EQ(s.cuts[0].node, 1u);
}

TEST(Segment, ViewsBetweenAreTakenIn) {
  EXPECT_EQ(segment({op("a"), view({0}), op("a", {1})}).pieces, (Pieces{{0, 1, 2}}));
  EXPECT_EQ(segment({op("a"), view({0}), op("", {1})}).pieces, (Pieces{{0}}));
}

TEST(Segment, ScopesThatNeedEachOtherAreCut) {
  // a0 -> b1, b1 -> a2: one launch of `a` would have to wait for `b` and `b` for it.
  const auto s = segment({op("a"), op("b", {0}), op("a", {1}), op("b", {2})});
  EXPECT_EQ(s.pieces.size(), 4u);
  // Side by side they stay whole, in whatever order they are written.
  EXPECT_EQ(segment({op("a"), op("b"), op("a", {0}), op("b", {1})}).pieces, (Pieces{{0, 2}, {1, 3}}));
  // Each alone could be one launch, both together could not.
  const auto both = segment({op("a"), op("b"), op("a", {1}), op("b", {0})});
  EXPECT_EQ(both.pieces, (Pieces{{0, 2}, {1}, {3}}));
  ASSERT_EQ(both.cuts.size(), 1u);
  EXPECT_EQ(both.cuts[0].reason, FusionReason::Cycle);
}

TEST(Segment, BypassGivesUpTheScope) {
  const auto s = segment({op("a"), breaker("a", {0}), op("a", {1}), op("b", {2})}, {"a"});
  EXPECT_EQ(s.pieces, (Pieces{{3}}));
  EXPECT_EQ(s.cuts.size(), 3u);
  // Without a breaker it changes nothing.
  EXPECT_EQ(segment({op("a"), op("a", {0})}, {"a"}).pieces, (Pieces{{0, 1}}));
}

TEST(Segment, RandomGraphsRunEverythingOnceAndInOrder) {
  for (uint64_t seed = 1; seed <= testing::repeats(500, 20000); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    testing::Random random(seed);
    std::vector<Node> nodes(1 + random.below(40));
    const char* names[] = {"", "a", "b", "c"};
    for (uint32_t i = 0; i < nodes.size(); ++i) {
      nodes[i].transparent = random.chance(20);
      if (!nodes[i].transparent) nodes[i].scope = names[random.below(4)];
      if (!nodes[i].transparent && random.chance(10)) nodes[i].unfusable = FusionReason::Tbe;
      for (size_t e = random.below(3); i > 0 && e > 0; --e)
        nodes[i].before.push_back(static_cast<uint32_t>(i - 1 - random.below(std::min<size_t>(i, 6))));
    }
    const Segments s = segment(nodes);
    std::vector<int> at(nodes.size(), -1);
    int now = 0;
    for (const int64_t u : s.order) {
      if (u >= 0) {
        ASSERT_EQ(at[static_cast<size_t>(u)], -1);
        at[static_cast<size_t>(u)] = now++;
        continue;
      }
      std::set<std::string> scopes;
      for (const uint32_t n : s.pieces[static_cast<size_t>(-1 - u)]) {
        ASSERT_EQ(at[n], -1);
        at[n] = now++;
        ASSERT_FALSE(nodes[n].unfusable);
        if (!nodes[n].transparent) scopes.insert(nodes[n].scope);
      }
      ASSERT_EQ(scopes.size(), 1u);
    }
    for (uint32_t i = 0; i < nodes.size(); ++i) {
      ASSERT_GE(at[i], 0) << "node " << i << " never runs";
      for (const uint32_t b : nodes[i].before) ASSERT_LT(at[b], at[i]);
    }
  }
}

TEST(Segment, ReleasesDecideWhatFuses) {
  EXPECT_EQ(unfusable(Opcode::Cast, "8.2.RC1"), FusionReason::Tbe);
  EXPECT_EQ(unfusable(Opcode::Cast, "8.5"), std::nullopt);
  EXPECT_EQ(unfusable(Opcode::Cast, kNewestCann), std::nullopt);
  EXPECT_EQ(unfusable(Opcode::Softmax, kNewestCann), FusionReason::Tbe);
  EXPECT_EQ(unfusable(Opcode::RmsNorm, "8.2"), std::nullopt);
  EXPECT_TRUE(is_release("8.2.RC1"));
  EXPECT_FALSE(is_release("newest"));
  EXPECT_FALSE(is_release("8"));
}

}  // namespace
}  // namespace skdsl::superkernel
