// math — stdlib/kernels/math.h against the C library in double; the largest error is printed and bounded
//
// SKDSL_SOAK=1 visits every float instead of one in 997.
#include "stdlib/kernels/math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "tests/unit/kernels/op_cases.h"

namespace skdsl::test {
namespace {

namespace math = kernels::math;

bool soak() {
  const char* text = std::getenv("SKDSL_SOAK");
  return text != nullptr && std::string_view(text) == "1";
}

/// |got - want| in units of the last place of `want` as a float; subnormals have the smallest unit.
double float_ulps(double got, double want) {
  const double unit = std::ldexp(1.0, std::max(-149, std::ilogb(want) - 23));
  return std::abs(got - want) / unit;
}
double double_ulps(double got, double want) {
  return std::abs(got - want) / std::ldexp(1.0, std::ilogb(want) - 52);
}

void expect_bound(const char* what, double worst, double where, double bound) {
  std::printf("%-8s at most %.3f ulp (at %.9g)\n", what, worst, where);
  EXPECT_LE(worst, bound) << what << " at " << where;
}

TEST(Math, ExpIsWithinTwoUlp) {
  double worst = 0, where = 0;
  const uint64_t step = soak() ? 1 : 997;
  for (uint64_t bits = 0; bits <= 0xffffffffu; bits += step) {
    const float x = std::bit_cast<float>(static_cast<uint32_t>(bits));
    if (!(x > -104.5f && x < 88.73f) || std::abs(x) < 1e-9f) continue;
    const double want = std::exp(static_cast<double>(x));
    if (want > std::numeric_limits<float>::max()) continue;
    const double error = float_ulps(math::exp(x), want);
    if (error > worst) worst = error, where = x;
  }
  expect_bound("exp", worst, where, 2);
}

TEST(Math, ExpHasTheUsualEnds) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(math::exp(0.0f), 1.0f);
  EXPECT_EQ(math::exp(-0.0f), 1.0f);
  EXPECT_EQ(math::exp(inf), inf);
  EXPECT_EQ(math::exp(89.0f), inf);
  EXPECT_EQ(math::exp(3e38f), inf);
  EXPECT_EQ(math::exp(-inf), 0.0f);
  EXPECT_EQ(math::exp(-3e38f), 0.0f);
  EXPECT_GT(math::exp(-103.0f), 0.0f);
  EXPECT_TRUE(std::isnan(math::exp(std::numeric_limits<float>::quiet_NaN())));
  EXPECT_EQ(math::sigmoid(-inf), 0.0f);
  EXPECT_EQ(math::sigmoid(inf), 1.0f);
  EXPECT_EQ(math::sigmoid(0.0f), 0.5f);
}

TEST(Math, SigmoidKeepsItsRelativeAccuracy) {
  double worst = 0, where = 0;
  for (float x = -87.0f; x < 60.0f; x += 0.00137f) {
    const double error = float_ulps(math::sigmoid(x), 1 / (1 + std::exp(-static_cast<double>(x))));
    if (error > worst) worst = error, where = x;
  }
  expect_bound("sigmoid", worst, where, 4);
}

TEST(Math, PowersAndLogarithmsInDouble) {
  Random random(1);
  double exp2_worst = 0, exp2_where = 0, log2_worst = 0, log2_where = 0, pow_worst = 0, pow_where = 0;
  for (int i = 0; i < (soak() ? 20000000 : 200000); ++i) {
    const double x = random.real(-900, 900);
    double error = double_ulps(math::exp2(x), std::exp2(x));
    if (error > exp2_worst) exp2_worst = error, exp2_where = x;
    // Half of them near 1, where cancellation would show.
    const double y = i % 2 == 0 ? std::exp2(random.real(-900, 900)) : 1 + random.real(-0.4, 0.9);
    const double log = std::log2(y);
    if (log != 0) error = double_ulps(math::log2(y), log);
    if (error > log2_worst) log2_worst = error, log2_where = y;
    const double base = std::exp2(random.real(1, 30)), power = random.real(-1, 1);
    error = double_ulps(math::pow(base, power), std::pow(base, power));
    if (error > pow_worst) pow_worst = error, pow_where = base;
  }
  expect_bound("exp2", exp2_worst, exp2_where, 2);
  expect_bound("log2", log2_worst, log2_where, 4);
  expect_bound("pow", pow_worst, pow_where, 4);
  EXPECT_EQ(math::pow(10000.0, 0.0), 1.0);
  EXPECT_EQ(math::exp2(10.0), 1024.0);
  EXPECT_EQ(math::log2(1.0), 0.0);
}

TEST(Math, SinAndCosUpToTenMillion) {
  Random random(2);
  double worst = 0, where = 0, worst_float = 0, where_float = 0;
  for (int i = 0; i < (soak() ? 20000000 : 400000); ++i) {
    const double scale = std::exp2(random.real(-20, 23.25));
    // Every fourth angle lies next to a multiple of pi / 2.
    const double x = i % 4 == 0 ? std::floor(scale) * M_PI_2 * 0.6 : random.real(-scale, scale);
    const math::SinCos got = math::sin_cos(x);
    for (const auto& [g, w] : {std::pair{got.sin, std::sin(x)}, std::pair{got.cos, std::cos(x)}}) {
      const double error = std::abs(g - w);
      if (error > worst) worst = error, where = x;
      if (w == 0) continue;
      // The table's entry against the exact value: half a unit is the rounding itself.
      const double ulps = float_ulps(static_cast<float>(g), w);
      if (ulps > worst_float) worst_float = ulps, where_float = x;
    }
  }
  std::printf("sin, cos at most 2^%.2f (at %.17g)\n", std::log2(worst), where);
  EXPECT_LE(worst, 0x1p-51) << where;
  expect_bound("as float", worst_float, where_float, 0.51);
  EXPECT_TRUE(std::isnan(math::sin_cos(1e300).sin));
  EXPECT_TRUE(std::isnan(math::sin_cos(std::numeric_limits<double>::infinity()).cos));
}

}  // namespace
}  // namespace skdsl::test
