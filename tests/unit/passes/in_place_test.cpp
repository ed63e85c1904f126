#include "compiler/passes/in_place.h"

#include <gtest/gtest.h>

#include "tests/unit/passes/helpers.h"

namespace skdsl::passes {
namespace {

using testing::program;

// The ops whose result may take their operand's bytes, by result number.
std::string reusing(const std::string& ops, const std::string& results, const std::string& tables = "") {
  const plan::Program p =
      program("program\n" + tables + "func \"main\" none (x = %0 : f32[2, 4], c = %1 : bool[2, 4]) -> (" +
              results + ") {\n" + ops + "}\n");
  const plan::Function& f = p.functions[0];
  const InPlace found = find_in_place(f);
  std::string out;
  for (const plan::OpId id : f.regions[f.body].ops)
    if (found.reuses_operand[id]) out += "%" + std::to_string(f.ops[id].results[0]) + " ";
  return out;
}

TEST(InPlace, DyingOperandsOfElementwiseOps) {
  EXPECT_EQ(reusing("  %2 = exp %0 : f32[2, 4]\n  %3 = neg %2 : f32[2, 4]\n  %4 = add %3, %2 : f32[2, 4]\n  "
                    "%5 = abs %4 : f32[2, 4]\n  return %5\n",
                    "f32[2, 4]"),
            "%4 %5 ");
}

TEST(InPlace, ParametersStatesWeightsAndLiteralsAreKept) {
  EXPECT_EQ(reusing("  %2 = exp %0 : f32[2, 4]\n  %3 = weight {path = \"w\"} : f32[2, 4]\n  %4 = exp %3 : "
                    "f32[2, 4]\n  %5 = state {path = \"s\"} : f32[2, 4]\n"
                    "  %6 = exp %5 : f32[2, 4]\n  %7 = constant {data = 0} : f32[1]\n  %8 = exp %7 : "
                    "f32[1]\n  return %2, %4, %6, %8\n",
                    "f32[2, 4], f32[2, 4], f32[2, 4], f32[1]",
                    "constant 0 : f32[1] = [1]\nweight \"w\" : f32[2, 4]\nstate \"s\" : f32[2, 4]\n"),
            "");
}

TEST(InPlace, ViewsKeepTheirBytesAlive) {
  EXPECT_EQ(reusing("  %2 = exp %0 : f32[2, 4]\n  %3 = reshape %2 {shape = [8]} : f32[8]\n  %4 = neg %2 : "
                    "f32[2, 4]\n  %5 = neg %3 : f32[8]\n  return %4, %5\n",
                    "f32[2, 4], f32[8]"),
            "%5 ");
  EXPECT_EQ(
      reusing("  %2 = reshape %0 {shape = [8]} : f32[8]\n  %3 = neg %2 : f32[8]\n  return %3\n", "f32[8]"),
      "");
}

TEST(InPlace, OtherSizesOtherOpsAndReturnedValues) {
  // Comparisons give bytes, softmax reads whole rows, and a returned value belongs to the caller.
  EXPECT_EQ(reusing("  %2 = exp %0 : f32[2, 4]\n  %3 = lt %2, %2 : bool[2, 4]\n  return %3\n", "bool[2, 4]"),
            "");
  EXPECT_EQ(reusing("  %2 = exp %0 : f32[2, 4]\n  %3 = softmax %2 : f32[2, 4]\n  return %3\n", "f32[2, 4]"),
            "");
  EXPECT_EQ(reusing("  %2 = exp %0 : f32[2, 4]\n  %3 = neg %2 : f32[2, 4]\n  return %2, %3\n",
                    "f32[2, 4], f32[2, 4]"),
            "");
  EXPECT_EQ(reusing("  %2 = full {shape = [1, 4], value = 1.0, dtype = <f32>} : f32[1, 4]\n  %3 = add %2, %0 "
                    ": f32[2, 4]\n  return %3\n",
                    "f32[2, 4]"),
            "");
}

}  // namespace
}  // namespace skdsl::passes
