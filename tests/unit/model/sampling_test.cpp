#include "runtime/model/sampling.h"

#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "support.h"

namespace skdsl::model {
namespace {

TEST(Philox, GivesTheKnownAnswers) {
  // The vectors of Random123 for philox4x32-10.
  using Words = std::array<uint32_t, 4>;
  constexpr uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, UniformNumbersAreSpreadEvenly) {
  std::array<int, 16> counts{};
  double sum = 0;
  for (uint64_t token = 0; token < 16'000; ++token) {
    const double u = uniform(3, token % 7, token);
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    ++counts[static_cast<size_t>(u * 16)];
    sum += u;
  }
  for (const int n : counts) EXPECT_NEAR(n, 1000, 150);
  EXPECT_NEAR(sum / 16'000, 0.5, 0.01);
}

/// Multiples of 1/16: the same in every float type.
std::vector<float> steps() {
  std::vector<float> out;
  for (int i = 0; i < 64; ++i) out.push_back(static_cast<float>(i * 37 % 101) / 16.0f);
  return out;
}

TEST(Sampling, DrawsTheTokensOfAnotherImplementation) {
  // From a Python program that knows the definition alone: Philox, math.exp, sums from the most likely on.
  struct Case {
    Sampling sampling;
    uint64_t request;
    std::vector<int32_t> tokens;
  };
  const std::vector<Case> cases = {
      {{1.0, {}, {}, 0}, 0, {10, 8,  49, 38, 35, 30, 2,  30, 46, 60, 2,  30, 19, 16, 30, 10,
                             38, 60, 27, 19, 5,  60, 46, 40, 16, 8,  38, 30, 57, 38, 43, 46}},
      {{0.7, 10, {}, 1}, 3, {57, 38, 60, 19, 30, 30, 27, 30, 60, 19, 38, 60, 57, 46, 60, 16,
                             38, 57, 8,  38, 60, 8,  49, 8,  30, 16, 8,  38, 19, 8,  30, 27}},
      {{1.3, {}, 0.9, 12345678901234}, 1, {40, 8, 13, 7,  51, 32, 35, 32, 59, 16, 8, 46, 19, 60, 62, 57,
                                           57, 2, 5,  54, 48, 49, 60, 35, 2,  27, 5, 60, 54, 54, 24, 35}},
      {{2.0, 40, 0.8, 42}, 7, {21, 27, 10, 16, 19, 51, 57, 46, 38, 30, 5, 62, 54, 19, 24, 8,
                               19, 27, 57, 32, 57, 46, 30, 19, 38, 54, 8, 2,  5,  19, 46, 60}},
  };
  for (const Case& c : cases)
    for (size_t k = 0; k < c.tokens.size(); ++k)
      EXPECT_EQ(sample(steps(), c.sampling, uniform(c.sampling.seed, c.request, k)), c.tokens[k])
          << "seed " << c.sampling.seed << ", token " << k;
}

TEST(Sampling, DrawsInProportion) {
  const std::vector<float> logits = {0.0f, std::log(2.0f), std::log(5.0f)};
  std::map<int32_t, int> counts;
  for (uint64_t k = 0; k < 8000; ++k) ++counts[*sample(logits, {1.0, {}, {}, 9}, uniform(9, 0, k))];
  EXPECT_NEAR(counts[0], 1000, 120);
  EXPECT_NEAR(counts[1], 2000, 150);
  EXPECT_NEAR(counts[2], 5000, 180);
}

TEST(Sampling, FiltersKeepTheMostLikely) {
  const std::vector<float> logits = {1, 3, 3, 3, 2, 0};
  const auto drawn = [&](std::optional<int64_t> k, std::optional<double> p) {
    std::string out;
    std::map<int32_t, int> counts;
    for (uint64_t n = 0; n < 2000; ++n) ++counts[*sample(logits, {1.0, k, p, 1}, uniform(1, 0, n))];
    for (const auto& [id, count] : counts) out += std::to_string(id);
    return out;
  };
  EXPECT_EQ(drawn({}, {}), "012345");
  EXPECT_EQ(drawn(1, {}), "1");  // among equals the lower id
  EXPECT_EQ(drawn(2, {}), "12");
  EXPECT_EQ(drawn(4, {}), "1234");
  EXPECT_EQ(drawn(100, {}), "012345");
  EXPECT_EQ(drawn({}, 1e-9), "1");  // one token always stays
  EXPECT_EQ(drawn({}, 0.5), "12");  // each of the three has 0.28
  EXPECT_EQ(drawn({}, 0.8), "123");
  EXPECT_EQ(drawn({}, 1.0), "012345");
  EXPECT_EQ(drawn(2, 0.4), "1");  // top-p looks at what top-k left
  EXPECT_EQ(drawn(2, 0.6), "12");
}

TEST(Sampling, NoLogitIsTooStrange) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Sampling hot{1.0, {}, {}, 0};
  EXPECT_EQ(sample(std::vector<float>{nan, nan}, hot, 0.5), std::nullopt);
  EXPECT_EQ(sample(std::vector<float>{nan, nan}, {}, 0.5), std::nullopt);
  for (const double u : {0.0, 0.5, 1.0 - 0x1p-53}) {
    EXPECT_EQ(sample(std::vector<float>{nan, 1, nan}, hot, u), 1);
    EXPECT_EQ(sample(std::vector<float>{-inf, 1, -inf}, hot, u), 1);
    EXPECT_EQ(sample(std::vector<float>{1, inf, 3e38f}, hot, u), 1);
    EXPECT_EQ(sample(std::vector<float>{1, 2, 1}, {1e-300, {}, {}, 0}, u), 1);
    EXPECT_EQ(sample(std::vector<float>{-3e38f, 3e38f}, {1e-3, {}, {}, 0}, u), 1);
    EXPECT_LT(*sample(std::vector<float>{-inf, -inf}, hot, u), 2);
  }
  EXPECT_EQ(sample(std::vector<float>{1, 7, 7, nan}, {}, 0.9), 1);  // greedy: the lower id
}

TEST(Sampling, WrongValuesAreUsageErrors) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::pair<Sampling, const char*>> cases = {
      {{-1, {}, {}, 0}, "--temperature is -1"},
      {{nan, {}, {}, 0}, "--temperature is nan"},
      {{INFINITY, {}, {}, 0}, "--temperature is inf"},
      {{1, 0, {}, 0}, "--top-k is 0"},
      {{1, {}, 0.0, 0}, "--top-p is 0"},
      {{1, {}, 1.1, 0}, "--top-p is 1.1"},
      {{1, {}, nan, 0}, "--top-p is nan"},
      {{1, {}, {}, -2}, "--seed is -2"},
      {{0, 5, {}, 0}, "--top-k without --temperature"},
      {{0, {}, 0.5, 0}, "--top-p without --temperature"},
  };
  for (const auto& [sampling, part] : cases) {
    const auto result = check(sampling);
    EXPECT_ERROR(result, part);
    EXPECT_EQ(result.error().kind, ErrorKind::Usage);
  }
  EXPECT_OK(check({}));
  EXPECT_OK(check({0.5, 1, 1.0, 0}));
}

}  // namespace
}  // namespace skdsl::model
