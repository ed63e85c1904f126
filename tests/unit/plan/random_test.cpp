// Random programs: what is printed reads back as the same, and broken texts end in an error and never in a
// crash.
#include <gtest/gtest.h>

#include "tests/support/random_program.h"

namespace skdsl::plan {
namespace {

using testing::Random;
using testing::random_program;
using testing::repeats;

TEST(RandomPrograms, VerifyAndReadBack) {
  for (uint64_t seed = 1; seed <= repeats(1000, 20000); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Program p = random_program(seed, {.ops = 10 + seed % 50, .eager_only = seed % 3 != 0});
    const auto wrong = verify(p);
    ASSERT_TRUE(wrong.empty()) << wrong[0] << "\n" << print(p);
    const std::string text = print(p);
    const auto back = parse_program(text);
    ASSERT_TRUE(back.has_value()) << back.error().message << "\n" << text;
    ASSERT_EQ(print(*back), text);
    ASSERT_TRUE(equal(p, *back)) << text;
  }
}

TEST(RandomPrograms, AnotherSeedIsAnotherProgram) {
  EXPECT_FALSE(equal(random_program(1), random_program(2)));
  EXPECT_TRUE(equal(random_program(1), random_program(1)));
}

// Removing, doubling and exchanging bytes: the parser answers, and what it accepts the verifier and printer
// survive.
TEST(RandomPrograms, MutatedTextsNeverCrash) {
  size_t accepted = 0, refused = 0;
  for (uint64_t seed = 1; seed <= repeats(3000, 100000); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    std::string text = print(random_program(seed % 40, {.ops = 12}));
    const size_t edits = 1 + random.below(4);
    for (size_t i = 0; i < edits; ++i) {
      const size_t at = random.below(text.size());
      switch (random.below(5)) {
        case 0:
          text.erase(at, 1 + random.below(8));
          break;
        case 1:
          text.insert(at, text.substr(random.below(text.size()), random.below(20)));
          break;
        case 2:
          text[at] = static_cast<char>(random.below(256));
          break;
        case 3:
          text[at] = "0123456789"[random.below(10)];
          break;
        case 4:
          text.resize(at);
          break;
      }
      if (text.empty()) text = "program";
    }
    const auto p = parse_program(text);
    if (!p) {
      ++refused;
      EXPECT_TRUE(p.error().message.starts_with("plan text, line ")) << p.error().message;
      continue;
    }
    ++accepted;
    verify(*p);
    const auto again = parse_program(print(*p));
    if (verify(*p).empty()) {
      ASSERT_TRUE(again.has_value()) << again.error().message;
      EXPECT_TRUE(equal(*p, *again));
    }
  }
  // Both kinds must occur, or the test tests nothing.
  EXPECT_GT(accepted, 0u);
  EXPECT_GT(refused, 0u);
}

// Ids changed at random inside a well-formed program: the verifier says something or nothing, and returns.
TEST(RandomPrograms, GarbageIdsNeverCrash) {
  size_t found = 0;
  const size_t n = repeats(2000, 50000);
  for (uint64_t seed = 1; seed <= n; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Program p = random_program(seed % 50, {.ops = 15});
    Function& f = p.functions[random.below(p.functions.size())];
    const auto garbage = [&] {
      return static_cast<uint32_t>(random.chance(50) ? random.below(60) : random.next());
    };
    for (int i = 0; i < 3; ++i) {
      Op& op = f.ops[random.below(f.ops.size())];
      Region& r = f.regions[random.below(f.regions.size())];
      switch (random.below(10)) {
        case 0:
          if (!op.operands.empty()) op.operands[random.below(op.operands.size())] = garbage();
          break;
        case 1:
          if (!op.results.empty()) op.results[random.below(op.results.size())] = garbage();
          break;
        case 2:
          op.context = garbage();
          break;
        case 3:
          op.code = static_cast<Opcode>(random.below(static_cast<size_t>(Opcode::kCount) + 3));
          break;
        case 4:
          op.regions.push_back(garbage());
          break;
        case 5:
          if (!r.ops.empty()) r.ops[random.below(r.ops.size())] = garbage();
          break;
        case 6:
          r.args.push_back(garbage());
          break;
        case 7:
          f.body = garbage();
          break;
        case 8:
          if (!op.attrs.empty()) op.attrs.pop_back();
          break;
        case 9:
          f.values[random.below(f.values.size())].type.dims.push_back(Dim::symbol(garbage()));
          break;
      }
    }
    found += !verify(p).empty();
    print(p);
    equal(p, p);
  }
  EXPECT_GT(found, n / 2);
}

}  // namespace
}  // namespace skdsl::plan
