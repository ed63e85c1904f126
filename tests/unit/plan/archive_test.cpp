// Programs packed into bytes come back as they were; bytes that are not whole never do.
#include "runtime/plan/archive.h"

#include <gtest/gtest.h>

#include "tests/support/random_program.h"

namespace skdsl::plan {
namespace {

using testing::random_program;
using testing::repeats;

TEST(Archive, RandomProgramsComeBack) {
  for (uint64_t seed = 1; seed <= repeats(300, 20000); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Program p = random_program(seed, {.ops = 10 + seed % 50, .eager_only = seed % 3 != 0});
    const std::string bytes = pack(p);
    const auto back = unpack<Program>(bytes);
    ASSERT_TRUE(back.has_value()) << back.error().message;
    ASSERT_EQ(print(*back), print(p));
    ASSERT_TRUE(equal(p, *back));
    ASSERT_EQ(pack(*back), bytes);
  }
}

// Hints for reports are not in the text form; here they are.
TEST(Archive, KeepsWhatTheTextFormLeavesOut) {
  Program p;
  p.files = {""};
  p.functions.emplace_back().fixed = {{"n", "3"}};
  const auto back = unpack<Program>(pack(p));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->functions[0].fixed, p.functions[0].fixed);
}

TEST(Archive, SizesOfAnyForm) {
  const Dim t = Dim::symbol(3), w = Dim::symbol(70000);
  for (const Dim& d : {Dim(0), Dim(-7), Dim(int64_t{1} << 62), t, w, t * t, t * Dim(4) + Dim(1),
                       t * w * Dim(-2) + w + Dim(-9), w - t}) {
    const auto back = unpack<Dim>(pack(d));
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(*back, d);
  }
}

TEST(Archive, BytesThatEndTooEarlyOrGoOnAreRefused) {
  const std::string bytes = pack(random_program(1, {.ops = 12}));
  for (size_t n = 0; n < bytes.size(); ++n)
    ASSERT_FALSE(unpack<Program>(std::string_view(bytes).substr(0, n)).has_value())
        << n << " of " << bytes.size();
  EXPECT_FALSE(unpack<Program>(bytes + '\0').has_value());
}

TEST(Archive, ACountLargerThanTheBytesIsRefused) {
  std::string bytes = pack(std::vector<Task>(3));
  bytes.replace(0, 4, "\xff\xff\xff\x7f");
  const auto back = unpack<std::vector<Task>>(bytes);
  ASSERT_FALSE(back.has_value());
  EXPECT_EQ(back.error().message, "packed bytes: a count is larger than what is there");
}

}  // namespace
}  // namespace skdsl::plan
