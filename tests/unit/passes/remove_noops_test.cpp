#include <gtest/gtest.h>

#include "tests/unit/passes/helpers.h"

namespace skdsl::passes {
namespace {

using testing::after;

// The body of a function over x f32[T, 4] after the pass.
std::string body(const std::string& ops, const std::string& result, const std::string& tables = "") {
  const std::string text = testing::functions(
      after(remove_noops, "program\nsymbol T\n" + tables +
                              "func \"main\" none (x = %0 : f32[T, 4], s = %1 : i32[T]) -> (" + result +
                              ") {\n" + ops + "}\n"));
  const size_t begin = text.find("{\n") + 2;
  return text.substr(begin, text.rfind('}') - begin);
}

TEST(RemoveNoops, WhatGivesItsOperandBack) {
  const std::string gone = "  return %0\n";
  const std::string kTwo = "f32[T, 4]";
  EXPECT_EQ(body("  %2 = reshape %0 {shape = [T, 4]} : f32[T, 4]\n  return %2\n", kTwo), gone);
  EXPECT_EQ(body("  %2 = cast %0 {dtype = <f32>} : f32[T, 4]\n  return %2\n", kTwo), gone);
  EXPECT_EQ(body("  %2 = transpose %0 {axis0 = 1, axis1 = -1} : f32[T, 4]\n  return %2\n", kTwo), gone);
  EXPECT_EQ(body("  %2 = slice %0 {axis = 1, begin = 0, end = 4} : f32[T, 4]\n  return %2\n", kTwo), gone);
  EXPECT_EQ(body("  %2 = concat %0 {axis = 1} : f32[T, 4]\n  return %2\n", kTwo), gone);
  EXPECT_EQ(body("  %2 = split %0 {sizes = [4], axis = 1} : f32[T, 4]\n  return %2\n", kTwo), gone);
  EXPECT_EQ(body("  %2 = broadcast_to %0 {shape = [T, 4]} : f32[T, 4]\n  return %2\n", kTwo), gone);
  EXPECT_EQ(body("  %2 = constant {data = 0} : f32[]\n  %3 = mul %0, %2 : f32[T, 4]\n  %4 = mul %2, %3 : "
                 "f32[T, 4]\n  %5 = div %4, %2 : f32[T, 4]\n  return %5\n",
                 kTwo, "constant 0 : f32[] = [1]\n"),
            "  %2 = constant {data = 0} : f32[]\n" + gone);
}

TEST(RemoveNoops, WhatDoesNotStays) {
  const auto stays = [](const std::string& ops, const std::string& result, const std::string& tables = "") {
    EXPECT_EQ(body(ops, result, tables), ops);
  };
  stays("  %2 = reshape %0 {shape = [4, T]} : f32[4, T]\n  return %2\n", "f32[4, T]");
  stays("  %2 = cast %0 {dtype = <bf16>} : bf16[T, 4]\n  return %2\n", "bf16[T, 4]");
  stays("  %2 = transpose %0 {axis0 = 0, axis1 = 1} : f32[4, T]\n  return %2\n", "f32[4, T]");
  stays("  %2 = slice %0 {axis = 1, begin = 1, end = 4} : f32[T, 3]\n  return %2\n", "f32[T, 3]");
  stays("  %2 = concat %0, %0 {axis = 0} : f32[T*2, 4]\n  return %2\n", "f32[T*2, 4]");
  // -0 + 0 is 0, and 1 / x is not x.
  stays("  %2 = constant {data = 0} : f32[]\n  %3 = add %0, %2 : f32[T, 4]\n  return %3\n", "f32[T, 4]",
        "constant 0 : f32[] = [0]\n");
  stays("  %2 = constant {data = 0} : f32[]\n  %3 = div %2, %0 : f32[T, 4]\n  return %3\n", "f32[T, 4]",
        "constant 0 : f32[] = [1]\n");
  stays("  %2 = constant {data = 0} : f32[2]\n  %3 = mul %2, %2 : f32[2]\n  return %3\n", "f32[2]",
        "constant 0 : f32[2] = [1, 2]\n");
  // Broadcasting makes the result larger than what is multiplied by one.
  stays(
      "  %2 = constant {data = 0} : f32[1]\n  %3 = constant {data = 1} : f32[2]\n  %4 = mul %2, %3 : "
      "f32[2]\n  return %4\n",
      "f32[2]", "constant 0 : f32[1] = [7]\nconstant 1 : f32[2] = [1, 1]\n");
}

TEST(RemoveNoops, ReshapesOfReshapesBecomeOne) {
  EXPECT_EQ(body("  %2 = reshape %0 {shape = [T*4]} : f32[T*4]\n  %3 = reshape %2 {shape = [T, 2, 2]} : "
                 "f32[T, 2, 2]\n  return %3\n",
                 "f32[T, 2, 2]"),
            "  %2 = reshape %0 {shape = [T*4]} : f32[T*4]\n  %3 = reshape %0 {shape = [T, 2, 2]} : f32[T, 2, "
            "2]\n  return %3\n");
}

// The copy holds what the state was; the state itself is written over before it is read.
TEST(RemoveNoops, CopiesOfStatesStay) {
  const std::string kState = "state \"kv\" : f32[2, 2, 4]\n";
  const std::string ops =
      "  %2 = state {path = \"kv\"} : f32[2, 2, 4]\n"
      "  %3 = concat %2 {axis = 0} : f32[2, 2, 4]\n"
      "  %4 = reshape %2 {shape = [2, 4, 2]} : f32[2, 4, 2]\n"
      "  %5 = cast %4 {dtype = <f32>} : f32[2, 4, 2]\n"
      "  scatter_update %2, %1, %0\n"
      "  return %3, %5\n";
  EXPECT_EQ(body(ops, "f32[2, 2, 4], f32[2, 4, 2]", kState), ops);
}

}  // namespace
}  // namespace skdsl::passes
