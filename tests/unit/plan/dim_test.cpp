#include "runtime/plan/dim.h"

#include <gtest/gtest.h>

#include <limits>

namespace skdsl::plan {
namespace {

std::string text(const Dim& d) {
  return d.text([](SymbolId s) { return std::string(1, static_cast<char>('A' + s)); });
}

TEST(Dim, PrintsItsNormalForm) {
  const Dim a = Dim::symbol(0), b = Dim::symbol(1);
  EXPECT_EQ(text(a * Dim(4) + Dim(1)), "A*4+1");
  EXPECT_EQ(text(Dim(1) + a + b - a), "B+1");
  EXPECT_EQ(text((a + b) * (a - b)), "A*A-B*B");
  EXPECT_EQ(text(a - a), "0");
  EXPECT_EQ(text(Dim(0) - a), "-A");
}

TEST(Dim, DividesOnlyExactly) {
  const Dim a = Dim::symbol(0);
  EXPECT_EQ((a * Dim(6)).divide_exactly(Dim(3)), a * Dim(2));
  EXPECT_FALSE((a * Dim(6)).divide_exactly(Dim(4)));
  EXPECT_EQ((a * a * Dim(2)).divide_exactly(a), a * Dim(2));
  EXPECT_FALSE((a + Dim(1)).divide_exactly(a));
  EXPECT_FALSE(Dim(0).divide_exactly(Dim(0)));
}

TEST(Dim, EvaluatesUnlessUnboundOrTooLarge) {
  const Dim d = Dim::symbol(0) * Dim::symbol(1) + Dim(2);
  EXPECT_EQ(d.evaluate([](SymbolId s) { return std::optional<int64_t>(s + 3); }), 14);
  EXPECT_FALSE(d.evaluate([](SymbolId s) { return s == 0 ? std::optional<int64_t>(1) : std::nullopt; }));
  EXPECT_FALSE(d.evaluate([](SymbolId) { return std::optional(std::numeric_limits<int64_t>::max()); }));
}

TEST(Dim, ExtremeCoefficientsPrint) {
  const Dim d = Dim::symbol(0) * Dim(std::numeric_limits<int64_t>::min());
  EXPECT_EQ(text(d), "-A*9223372036854775808");
}

}  // namespace
}  // namespace skdsl::plan
