#include <gtest/gtest.h>

#include "tests/unit/passes/helpers.h"

namespace skdsl::passes {
namespace {

using testing::after;

// The printed constant that `f` returns after folding its body.
std::string folded(const std::string& constants, const std::string& body, const std::string& type) {
  const std::string text = after(
      fold_constants, "program\n" + constants + "func \"main\" none () -> (" + type + ") {\n" + body + "}\n");
  const size_t ret = text.find("  return %");
  EXPECT_NE(ret, std::string::npos) << text;
  const std::string value = text.substr(ret + 9, text.find('\n', ret) - ret - 9);
  const std::string definition = "  " + value + " = constant {data = ";
  const size_t at = text.find(definition);
  if (at == std::string::npos) return "not folded";
  const std::string index = text.substr(at + definition.size(), text.find('}', at) - at - definition.size());
  const std::string line = "constant " + index + " : ";
  const size_t data = text.find(line);
  return text.substr(data + line.size(), text.find('\n', data) - data - line.size());
}

std::string two(const std::string& type, const std::string& x, const std::string& y, const std::string& op,
                const std::string& result = "") {
  return folded("constant 0 : " + type + " = [" + x + "]\nconstant 1 : " + type + " = [" + y + "]\n",
                "  %0 = constant {data = 0} : " + type + "\n  %1 = constant {data = 1} : " + type +
                    "\n  %2 = " + op + " %0, %1 : " + (result.empty() ? type : result) + "\n  return %2\n",
                result.empty() ? type : result);
}

TEST(FoldConstants, FloatArithmeticIsRoundedToF32) {
  EXPECT_EQ(two("f32[]", "0.1", "0.2", "add"), "f32[] = [0.3]");  // 0.1f + 0.2f = 0.3f in f32
  EXPECT_EQ(two("f32[]", "1", "3", "div"), "f32[] = [0.33333334]");
  EXPECT_EQ(two("f32[]", "16777216", "1", "add"), "f32[] = [16777216]");
  EXPECT_EQ(two("f32[]", "1", "0", "div"), "f32[] = [inf]");
  EXPECT_EQ(two("f32[2]", "1, 2", "3, 5", "mul"), "f32[2] = [3, 10]");
  EXPECT_EQ(two("f32[]", "2", "3", "maximum"), "f32[] = [3]");
}

TEST(FoldConstants, UncertainResultsStay) {
  EXPECT_EQ(two("f32[]", "0", "0", "div"), "not folded");       // which NaN?
  EXPECT_EQ(two("f32[]", "0", "-0", "maximum"), "not folded");  // which zero?
  EXPECT_EQ(two("f32[]", "nan(0x7fc00000)", "1", "lt", "bool[]"), "not folded");
  EXPECT_EQ(two("i32[]", "2147483647", "1", "add"), "not folded");  // overflow
  EXPECT_EQ(two("i32[]", "-2147483648", "-1", "div"), "not folded");
  EXPECT_EQ(two("bf16[]", "1", "2", "add"), "not folded");
}

TEST(FoldConstants, Integers) {
  EXPECT_EQ(two("i32[]", "-7", "2", "div"), "i32[] = [-3]");  // towards zero
  EXPECT_EQ(two("i32[]", "7", "0", "div"), "i32[] = [0]");
  EXPECT_EQ(two("i64[]", "9223372036854775807", "1", "sub"), "i64[] = [9223372036854775806]");
  EXPECT_EQ(two("i8[]", "-3", "5", "minimum"), "i8[] = [-3]");
  EXPECT_EQ(two("i32[2]", "1, 5", "2, 5", "ge", "bool[2]"), "bool[2] = [0, 1]");
  EXPECT_EQ(two("bool[2]", "1, 1", "0, 1", "logical_and"), "bool[2] = [0, 1]");
}

TEST(FoldConstants, Broadcasts) {
  EXPECT_EQ(folded("constant 0 : f32[2, 1] = [1, 2]\nconstant 1 : f32[3] = [10, 20, 30]\n",
                   "  %0 = constant {data = 0} : f32[2, 1]\n  %1 = constant {data = 1} : f32[3]\n  %2 = add "
                   "%0, %1 : f32[2, 3]\n  return %2\n",
                   "f32[2, 3]"),
            "f32[2, 3] = [11, 21, 31, 12, 22, 32]");
}

std::string one(const std::string& type, const std::string& data, const std::string& op,
                const std::string& result) {
  return folded(
      "constant 0 : " + type + " = [" + data + "]\n",
      "  %0 = constant {data = 0} : " + type + "\n  %1 = " + op + " : " + result + "\n  return %1\n", result);
}

TEST(FoldConstants, MovesElements) {
  const std::string x = "1, 2, 3, 4, 5, 6";
  EXPECT_EQ(one("i32[2, 3]", x, "transpose %0 {axis0 = 0, axis1 = -1}", "i32[3, 2]"),
            "i32[3, 2] = [1, 4, 2, 5, 3, 6]");
  EXPECT_EQ(one("i32[2, 3]", x, "reshape %0 {shape = [6]}", "i32[6]"), "i32[6] = [1, 2, 3, 4, 5, 6]");
  EXPECT_EQ(one("i32[2, 3]", x, "slice %0 {axis = 1, begin = 1, end = 3}", "i32[2, 2]"),
            "i32[2, 2] = [2, 3, 5, 6]");
  EXPECT_EQ(one("i32[2, 3]", x, "take %0 {axis = 1, index = -1}", "i32[2]"), "i32[2] = [3, 6]");
  EXPECT_EQ(one("i32[3]", "1, 2, 3", "broadcast_to %0 {shape = [2, 3]}", "i32[2, 3]"),
            "i32[2, 3] = [1, 2, 3, 1, 2, 3]");
  EXPECT_EQ(one("i32[2, 1]", "1, 2", "concat %0, %0 {axis = 1}", "i32[2, 2]"), "i32[2, 2] = [1, 1, 2, 2]");
  EXPECT_EQ(one("i32[2, 1]", "1, 2", "concat %0, %0", "i32[4, 1]"), "i32[4, 1] = [1, 2, 1, 2]");
  EXPECT_EQ(one("f32[2]", "1, -2", "neg %0", "f32[2]"), "f32[2] = [-1, 2]");
  EXPECT_EQ(folded("constant 0 : i32[3] = [1, 2, 3]\n",
                   "  %0 = constant {data = 0} : i32[3]\n  %1, %2 = split %0 {sizes = [1, 2]} : i32[1], "
                   "i32[2]\n  return %2\n",
                   "i32[2]"),
            "i32[2] = [2, 3]");
  EXPECT_EQ(
      folded("", "  %0 = full {shape = [2], value = 1.5, dtype = <f32>} : f32[2]\n  return %0\n", "f32[2]"),
      "f32[2] = [1.5, 1.5]");
  EXPECT_EQ(folded("", "  %0 = arange {begin = 2, end = 5} : i32[3]\n  return %0\n", "i32[3]"),
            "i32[3] = [2, 3, 4]");
}

TEST(FoldConstants, Casts) {
  EXPECT_EQ(one("f32[2]", "1.9, -1.9", "cast %0 {dtype = <i32>}", "i32[2]"), "i32[2] = [1, -1]");
  EXPECT_EQ(one("f32[]", "1.00390625", "cast %0 {dtype = <bf16>}", "bf16[]"),
            "bf16[] = [1]");  // a tie goes to even
  EXPECT_EQ(one("i32[]", "3", "cast %0 {dtype = <f32>}", "f32[]"), "f32[] = [3]");
  EXPECT_EQ(one("i32[]", "300", "cast %0 {dtype = <i8>}", "i8[]"), "not folded");
  EXPECT_EQ(one("f32[]", "1e+20", "cast %0 {dtype = <i32>}", "i32[]"), "not folded");
}

TEST(FoldConstants, LargeResultsStay) {
  EXPECT_EQ(folded("", "  %0 = full {shape = [256], value = 1.0, dtype = <f32>} : f32[256]\n  return %0\n",
                   "f32[256]")
                .substr(0, 8),
            "f32[256]");
  EXPECT_EQ(folded("", "  %0 = full {shape = [257], value = 1.0, dtype = <f32>} : f32[257]\n  return %0\n",
                   "f32[257]"),
            "not folded");
  EXPECT_EQ(folded("",
                   "  %0 = full {shape = [0, 1000000000000, 1000000000000], value = 1.0, dtype = <f32>} : "
                   "f32[0, 1000000000000, 1000000000000]\n  return %0\n",
                   "f32[0, 1000000000000, 1000000000000]"),
            "not folded");
}

TEST(FoldConstants, EqualLiteralsShareAnEntry) {
  const std::string text = after(fold_constants, R"(program
constant 0 : i32[] = [2]
constant 1 : i32[] = [4]
func "main" none () -> (i32[], i32[]) {
  %0 = constant {data = 0} : i32[]
  %1 = mul %0, %0 : i32[]
  %2 = add %0, %0 : i32[]
  return %1, %2
}
)");
  EXPECT_EQ(text.find("constant 2 :"), std::string::npos) << text;
}

// A size known by arithmetic is known in every type that mentions it.
TEST(FoldConstants, HostArithmeticSettlesSizes) {
  EXPECT_EQ(after(fold_constants, R"(program
symbol u0
func "main" none (n = %0 : int(9)) -> (f32[u0, 2]) {
  %1 = host_int {value = 2} : int(2)
  %2 = host_fn %0, %1 {fn = "floordiv"} : int(u0)
  %3 = full {shape = [u0, 2], value = 0.5, dtype = <bf16>} : bf16[u0, 2]
  %4 = cast %3 {dtype = <f32>} : f32[u0, 2]
  %5 = to_tensor %2 : i32[]
  return %4
}
)"),
            R"(program
symbol u0
constant 0 : i32[] = [4]
func "main" none (n = %0 : int(9)) -> (f32[4, 2]) {
  %1 = host_int {value = 2} : int(2)
  %2 = host_int {value = 4} : int(4)
  %3 = full {shape = [4, 2], value = 0.5, dtype = <bf16>} : bf16[4, 2]
  %4 = cast %3 {dtype = <f32>} : f32[4, 2]
  %5 = constant {data = 0} : i32[]
  return %4
}
)");
}

std::string host(const std::string& fn, const std::string& a, const std::string& b) {
  const std::string text =
      after(fold_constants,
            "program\nsymbol u0\nfunc \"main\" none () -> (int(u0)) {\n  %0 = host_int {value = " + a +
                "} : int(" + a + ")\n  %1 = host_int {value = " + b + "} : int(" + b +
                ")\n  %2 = host_fn %0, %1 {fn = \"" + fn + "\"} : int(u0)\n  return %2\n}\n");
  const size_t at = text.find("  %2 = host_int {value = ");
  return at == std::string::npos ? "not folded" : text.substr(at + 25, text.find('}', at) - at - 25);
}

TEST(FoldConstants, HostIntegers) {
  EXPECT_EQ(host("add", "2", "3"), "5");
  EXPECT_EQ(host("floordiv", "-7", "2"), "-4");
  EXPECT_EQ(host("floordiv", "7", "-2"), "-4");
  EXPECT_EQ(host("mod", "-7", "2"), "1");
  EXPECT_EQ(host("mod", "7", "-2"), "-1");
  EXPECT_EQ(host("div", "8", "2"), "4");
  EXPECT_EQ(host("div", "7", "2"), "not folded");
  EXPECT_EQ(host("mod", "7", "0"), "not folded");
  EXPECT_EQ(host("max", "-7", "2"), "2");
  EXPECT_EQ(host("mul", "9223372036854775807", "2"), "not folded");
  EXPECT_EQ(host("pow", "2", "3"), "not folded");
}

TEST(FoldConstants, KnownConditionsTakeTheirBranch) {
  EXPECT_EQ(testing::functions(after(fold_constants, R"(program
symbol T
symbol u1
symbol u2
constant 0 : bool[] = [0]
func "main" none (x = %0 : f32[T], n = %1 : int(T), c = %2 : bool) -> (f32[u1], f32[T]) {
  %3 = host_int {value = T+1} : int(T+1)
  %4 = host_fn %1, %3 {fn = "lt"} : bool
  %5 = if %4 : f32[u1] region {
    %6 = exp %0 : f32[T]
    yield %6
  } region {
    yield %0
  }
  %7 = neg %5 : f32[u1]
  %8 = constant {data = 0} : bool[]
  %9 = if %8 : f32[T] region {
    yield %0
  } region {
    %10 = if %2 : f32[T] region {
      yield %0
    } region {
      %11 = abs %0 : f32[T]
      yield %11
    }
    yield %10
  }
  return %7, %9
}
)")),
            R"(func "main" none (x = %0 : f32[T], n = %1 : int(T), c = %2 : bool) -> (f32[T], f32[T]) {
  %3 = host_int {value = T+1} : int(T+1)
  %4 = host_fn %1, %3 {fn = "lt"} : bool
  %5 = exp %0 : f32[T]
  %6 = neg %5 : f32[T]
  %7 = constant {data = 0} : bool[]
  %8 = if %2 : f32[T] region {
    yield %0
  } region {
    %9 = abs %0 : f32[T]
    yield %9
  }
  return %6, %8
}
)");
}

TEST(FoldConstants, LogicNeedsNotKnowBothSides) {
  const std::string text = testing::functions(after(fold_constants, R"(program
func "main" none (x = %0 : f32[], c = %1 : bool) -> (f32[]) {
  %2 = host_float {value = 1.5} : float
  %3 = host_float {value = 2.5} : float
  %4 = host_fn %2, %3 {fn = "gt"} : bool
  %5 = host_fn %1, %4 {fn = "and"} : bool
  %6 = host_fn %5 {fn = "not"} : bool
  %7 = if %6 : f32[] region {
    yield %0
  } region {
    %8 = exp %0 : f32[]
    yield %8
  }
  return %7
}
)"));
  EXPECT_NE(text.find("return %0"), std::string::npos) << text;
}

TEST(FoldConstants, ItemsOfLiteralsNeedNoDevice) {
  const std::string text = after(fold_constants, R"(program
symbol u0
constant 0 : i32[] = [3]
constant 1 : f32[] = [0.5]
func "main" none () -> (f32[u0], float) {
  %0 = constant {data = 0} : i32[]
  %1 = item %0 : int(u0)
  %2 = full {shape = [u0], value = 1.0, dtype = <f32>} : f32[u0]
  %3 = constant {data = 1} : f32[]
  %4 = item %3 : float
  check {actual = u0, expected = 3, message = "rows"}
  return %2, %4
}
)");
  EXPECT_EQ(testing::functions(text), R"(func "main" none () -> (f32[3], float) {
  %0 = constant {data = 0} : i32[]
  %1 = host_int {value = 3} : int(3)
  %2 = constant {data = 2} : f32[3]
  %3 = constant {data = 1} : f32[]
  %4 = host_float {value = 0.5} : float
  return %2, %4
}
)");
}

// What a program that verifies may still get wrong, because types are the front end's business.
TEST(FoldConstants, WrongShapesAreLeftAlone) {
  EXPECT_EQ(one("i32[4]", "1, 2, 3, 4", "reshape %0 {shape = [8]}", "i32[8]"), "not folded");
  EXPECT_EQ(one("i32[4]", "1, 2, 3, 4", "neg %0", "i32[8]"), "not folded");
  EXPECT_EQ(one("i32[4]", "1, 2, 3, 4", "slice %0 {axis = 0, begin = 3, end = 9}", "i32[6]"), "not folded");
  EXPECT_EQ(one("i32[4]", "1, 2, 3, 4", "slice %0 {axis = 7, begin = 0, end = 1}", "i32[1]"), "not folded");
  EXPECT_EQ(one("i32[4]", "1, 2, 3, 4", "take %0 {axis = 0, index = 4}", "i32[]"), "not folded");
  EXPECT_EQ(one("i32[4]", "1, 2, 3, 4", "transpose %0 {axis0 = 0, axis1 = 1}", "i32[4]"), "not folded");
  EXPECT_EQ(one("i32[4]", "1, 2, 3, 4", "concat %0, %0", "i32[4]"), "not folded");
  EXPECT_EQ(one("i32[4]", "1, 2, 3, 4", "broadcast_to %0 {shape = [2]}", "i32[2]"), "not folded");
  EXPECT_EQ(one("i32[4]", "1, 2, 3, 4", "reshape %0 {shape = [4]}", "i8[4]"), "not folded");
}

}  // namespace
}  // namespace skdsl::passes
