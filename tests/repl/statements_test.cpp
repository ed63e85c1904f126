// Lines that run at once: values that persist, layers and their states, errors that lose nothing.
#include <gtest/gtest.h>

#include "tests/support/cli_run.h"

namespace skdsl::testing {
namespace {

CommandResult lines(const std::string& input) { return run_command({"repl"}, input); }

void expect_out(const std::string& input, const std::string& out) {
  const CommandResult r = lines(input);
  EXPECT_EQ(r.exit, 0) << r.err;
  EXPECT_EQ(r.out, out) << input << r.err;
}

TEST(Statements, ValuesPersist) {
  expect_out("x = f32([1, 2, 3])\ny = x * 2 + 1\ny\n", "f32[3] [3, 5, 7]\n");
  expect_out("n = 3\nm = n * n\nm\n\"n is {n}\"\n[n, m]\nn / 2\nn > 2\n", "9\nn is 3\n[3, 9]\n1.5\ntrue\n");
  expect_out("x = f32([1, 2])\nx = x + x\nx = x + x\nx\n", "f32[2] [4, 8]\n");
  expect_out("a, b = f32([1]), 2\nb\na + b\n", "2\nf32[1] [3]\n");
}

TEST(Statements, HostValuesOfARunAreKept) {
  expect_out("v = f32([3]).item()\nv + 1\n", "4\n");
  expect_out("x = i32([4, 5])\nl = x.tolist()\nl\nl[1] + 1\n", "[4, 5]\n6\n");
}

TEST(Statements, DefinitionsServeLaterLines) {
  expect_out("fn double(x: f32[N]) -> f32[N] {\n  return x * 2\n}\ndouble(f32([1, 4]))\n", "f32[2] [2, 8]\n");
  expect_out("fn f(x: int) -> int { return x + 1 }\nf(1)\nfn f(x: int) -> int { return x + 10 }\nf(1)\n",
             "2\n11\n");
}

TEST(Statements, LayersAndTheirStatesLiveOn) {
  const std::string counter =
      "layer Counter() {\n  state n: f32[1]\n  forward(x: f32[1]) -> f32[1] {\n    n = n + x\n    return n + "
      "0\n  }\n}\n";
  expect_out(counter + "c = Counter()\nc(f32([2]))\nc(f32([3]))\nd = Counter()\nd(f32([1]))\nc(f32([1]))\n",
             "f32[1] [2]\nf32[1] [5]\nf32[1] [1]\nf32[1] [6]\n");
}

TEST(Statements, WeightsAreTheSameInEveryLine) {
  const CommandResult r = lines(
      "layer L() {\n  weight w: f32[2]\n  forward(x: f32[2]) -> f32[2] {\n    return x * w\n  }\n}\nl = "
      "L()\na = l(f32([1, 1]))\nb = l(f32([1, 1]))\na - b\nl.w - a\n");
  EXPECT_EQ(r.exit, 0) << r.err;
  EXPECT_EQ(r.out, "f32[2] [0, 0]\nf32[2] [0, 0]\n");
}

TEST(Statements, LargeValuesAreSummed) {
  const CommandResult r = lines("x = random_normal([64, 64], seed = 1)\nx\n");
  EXPECT_EQ(r.exit, 0) << r.err;
  EXPECT_NE(r.out.find("f32[64, 64]\n  ["), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("min "), std::string::npos);
  EXPECT_NE(r.out.find("std "), std::string::npos);
  for (const char c : r.out) EXPECT_EQ(static_cast<unsigned char>(c) & 0x80, 0) << "ASCII only";
}

TEST(Statements, NansAreCounted) {
  const CommandResult r = lines("x = random_normal([64], seed = 1) * 0.0\nx / x\nrelu(x / x) + 1\n");
  EXPECT_EQ(r.exit, 0) << r.err;
  EXPECT_NE(r.out.find("nan 64 of 64"), std::string::npos) << r.out;
}

TEST(Statements, PipedScriptsEndAtTheFirstError) {
  const CommandResult r = lines("x = f32([1])\ny = x + nothing\nx\n");
  EXPECT_EQ(r.exit, 1);
  EXPECT_EQ(r.out, "");
  EXPECT_NE(r.err.find("<input>:2:9"), std::string::npos) << r.err;
  EXPECT_EQ(lines("x = (1\n").exit, 1);
  EXPECT_EQ(lines(":nothing\nx = 1\n").exit, 1);
  EXPECT_EQ(lines("").exit, 0);
  EXPECT_EQ(lines("// nothing\n\n:quit\nx = unknown\n").exit, 0);
}

TEST(Statements, TheNoteOfALayerThatIsNotKept) {
  const CommandResult r = lines(
      "layer L() {\n  forward(x: f32[1]) -> f32[1] {\n    return x\n  }\n}\nm, y = L(), f32([1]) + 1\ny\n");
  EXPECT_EQ(r.exit, 0) << r.err;
  EXPECT_EQ(r.out, "f32[1] [2]\n");
  EXPECT_NE(r.err.find("`m` is not kept"), std::string::npos) << r.err;
}

}  // namespace
}  // namespace skdsl::testing
