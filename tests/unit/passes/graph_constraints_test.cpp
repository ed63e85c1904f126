// What a graph mode refuses in a decode: every violation, with its place, its reason and what to write
// instead.
#include "compiler/passes/graph_constraints.h"

#include <gtest/gtest.h>

#include "tests/unit/passes/helpers.h"

namespace skdsl::passes {
namespace {

using testing::Diags;
using testing::program;

// What is said about a decode over x f32[T, 4], mask bool[T, 4], n int(T), flag bool.
std::string said(const std::string& ops, const std::string& tables = "") {
  const plan::Program p = program("program\nfile 1 \"t.sk\"\nsymbol T\nsymbol u1\nsymbol u2\n" + tables +
                                  "func \"M.decode\" decode (x = %0 : f32[T, 4], mask = %1 : bool[T, 4], n = "
                                  "%2 : int(T), flag = %3 : bool) -> () {\n" +
                                  ops + "  return\n}\n");
  Diags diags;
  const bool good = check_graph(p, p.functions[0], "ge_graph", diags.engine);
  const std::string text = diags.text();
  EXPECT_EQ(good, text.empty()) << text;
  return text;
}

TEST(GraphConstraints, HostReads) {
  EXPECT_EQ(said("  %4 = take %0 {axis = 0, index = 0} : f32[4]\n  %5 = take %4 {axis = 0, index = 0} : "
                 "f32[]\n  %6 = item %5 : float loc(1:4:9+8)\n"),
            "SK101 4:9: `item` reads a value on the host; a ge_graph decode cannot hold it\n"
            "  help: keep the value on the device (`index_select` picks by a tensor), or pass it into the "
            "phase as an input\n");
  EXPECT_NE(said("  %4 = cast %0 {dtype = <i32>} : i32[T, 4]\n  %5 = reshape %4 {shape = [T*4]} : i32[T*4]\n "
                 " %6 = tolist %5 : list loc(1:4:9+8)\n")
                .find("SK101 4:9: `tolist` reads"),
            std::string::npos);
}

TEST(GraphConstraints, BooleanIndexesHideAHostRead) {
  EXPECT_EQ(said("  %4 = index_put %0, %1, %0 : f32[T, 4] loc(1:4:3+12)\n"),
            "SK101 4:3: `index_put` reads a value on the host; a ge_graph decode cannot hold it\n"
            "  note: a boolean index hides a device-to-host read: the number of matches must be known before "
            "the result can be made\n"
            "  help: write `x = where(mask, value, x)`\n");
  EXPECT_EQ(said("  %4 = masked_select %0, %1 : f32[u1] loc(1:4:3+12)\n"),
            "SK101 4:3: `masked_select` reads a value on the host; a ge_graph decode cannot hold it\n"
            "  note: a boolean index hides a device-to-host read: the number of matches must be known before "
            "the result can be made\n"
            "  help: write `where(mask, x, 0)`, which keeps the shape of `x`\n"
            "SK115 4:3: `masked_select` has a shape that depends on values; a ge_graph decode is static\n"
            "  help: write `where(mask, x, 0)`, which keeps the shape of `x`\n");
  EXPECT_NE(said("  %4 = nonzero %1 : i32[u1, 2] loc(1:4:3+12)\n").find("SK115 4:3: `nonzero`"),
            std::string::npos);
}

TEST(GraphConstraints, TensorValuedControlFlow) {
  const std::string any = "  %4 = reduce_any %1 : bool[T]\n  %5 = reduce_any %4 : bool[]\n";
  EXPECT_EQ(said(any + "  if %5 loc(1:6:3+2) region {\n    yield\n  } region {\n    yield\n  }\n"),
            "SK102 6:3: `if` depends on tensor values; a ge_graph decode records one path only\n"
            "  help: compute both branches and pick with `where(cond, a, b)`\n");
  EXPECT_EQ(said(any + "  while loc(1:6:3+2) region {\n    yield %5\n  } region {\n    yield\n  }\n"),
            "SK103 6:3: loop depends on tensor values; a ge_graph decode needs a constant number of rounds\n"
            "  help: write `for i in 0..n` with a constant `n`, or leave the loop to the host: one phase "
            "call a round\n");
  // Sizes and flags of the phase are no tensor values.
  EXPECT_EQ(said("  %4 = host_int {value = 3} : int(3)\n  %5 = host_fn %2, %4 {fn = \"lt\"} : bool\n  if %5 "
                 "region {\n    yield\n  } region {\n    yield\n  }\n"
                 "  if %3 region {\n    yield\n  } region {\n    yield\n  }\n"),
            "");
}

// The value read by `item` makes the `if` depend on a tensor too; both are said.
TEST(GraphConstraints, HostValuesReadFromTensorsAreTensorValues) {
  const std::string text = said(
      "  %4 = reduce_any %1 : bool[T]\n  %5 = reduce_any %4 : bool[]\n  %6 = item %5 : bool loc(1:5:3+2)\n  "
      "%7 = host_fn %6 {fn = \"not\"} : bool\n"
      "  if %7 loc(1:6:3+2) region {\n    yield\n  } region {\n    yield\n  }\n");
  EXPECT_NE(text.find("SK101 5:3"), std::string::npos) << text;
  EXPECT_NE(text.find("SK102 6:3"), std::string::npos) << text;
}

TEST(GraphConstraints, LoopsCarryTensorValuesIntoTheirCondition) {
  // The bound starts as a host number and becomes what an item of the round gives, two carried values later.
  const std::string text = said(
      "  %4 = host_int {value = 0} : int(0)\n"
      "  %5, %6 = while %4, %4 : int(u1), int(u2) loc(1:6:3+2) region(%7 : int(u1), %8 : int(u2)) {\n"
      "    %9 = host_fn %7, %2 {fn = \"lt\"} : bool\n    yield %9\n"
      "  } region(%10 : int(u1), %11 : int(u2)) {\n"
      "    %12 = full {shape = [], value = 1.0, dtype = <i32>} : i32[]\n    %13 = item %12 : int(u2) "
      "loc(1:7:3+2)\n    yield %11, %13\n  }\n");
  EXPECT_NE(text.find("SK101 7:3"), std::string::npos) << text;
  EXPECT_NE(text.find("SK103 6:3"), std::string::npos) << text;
  EXPECT_EQ(said("  %4 = host_int {value = 0} : int(0)\n"
                 "  %5, %6 = while %4, %0 : int(u1), f32[T, 4] region(%7 : int(u1), %8 : f32[T, 4]) {\n"
                 "    %9 = host_fn %7, %2 {fn = \"lt\"} : bool\n    yield %9\n"
                 "  } region(%10 : int(u1), %11 : f32[T, 4]) {\n"
                 "    %12 = host_int {value = 1} : int(1)\n    %13 = host_fn %10, %12 {fn = \"add\"} : "
                 "int(u1+1)\n    yield %13, %11\n  }\n"),
            "");
}

TEST(GraphConstraints, IoRandomSync) {
  EXPECT_EQ(
      said("  print %0 {format = \"{}\"} loc(1:3:1+5)\n  %4 = random_normal {shape = [T], seed = 1} : f32[T] "
           "loc(1:4:1+5)\n  stream_sync loc(1:5:1+5)\n"),
      "SK104 3:1: `print` writes on the host; a ge_graph decode cannot hold it\n"
      "  help: write `tap x` and read the value with a dump after the step\n"
      "SK105 4:1: `random_normal` draws random numbers; a ge_graph decode would repeat the recorded ones\n"
      "  help: draw the numbers outside the phase and pass them in, or make them a `const`\n"
      "SK106 5:1: `stream_sync` makes the host wait; a ge_graph decode cannot hold it\n"
      "  help: order the streams on the device: `record e` on one, `wait e` on the other\n");
}

TEST(GraphConstraints, NestedRegionsAreSeen) {
  const std::string text = said(
      "  if %3 region {\n    print %0 {format = \"{}\"} loc(1:9:3+5)\n    yield\n  } region {\n    "
      "stream_sync loc(1:10:3+5)\n    yield\n  }\n");
  EXPECT_NE(text.find("SK104 9:3"), std::string::npos) << text;
  EXPECT_NE(text.find("SK106 10:3"), std::string::npos) << text;
}

TEST(GraphConstraints, StatesThatGrowOrAreRebound) {
  const std::string kState = "state \"attn.kv\" : f32[8, 4] rebound\nstate \"other\" : f32[8, 4] rebound\n";
  EXPECT_EQ(said("  %4 = state {path = \"attn.kv\"} : f32[8, 4]\n  %5 = concat %4, %0 {axis = 0} : f32[T+8, "
                 "4] loc(1:4:8+6)\n"
                 "  %6 = cast %5 {dtype = <f32>} : f32[T+8, 4]\n  state_assign %6 {path = \"attn.kv\"} "
                 "loc(1:4:3+2)\n",
                 kState),
            "SK801 4:3: state `attn.kv` grows by `concat`; a ge_graph decode keeps one shape\n"
            "  note: the state is read here and becomes longer with every step\n"
            "  help: declare the state with its full size and write rows with `scatter_update(kv, "
            "step.slot_mapping, rows)`\n");
  EXPECT_EQ(said("  state_assign %0 {path = \"attn.kv\"} loc(1:4:3+2)\n", kState),
            "SK213 4:3: state `attn.kv` is bound to another tensor; a ge_graph decode keeps the address it "
            "recorded\n"
            "  help: write into the state in place: `scatter_update(kv, slots, rows)`\n");
  // A concat of another state is a rebinding and nothing more.
  EXPECT_NE(said("  %4 = state {path = \"other\"} : f32[8, 4]\n  %5 = concat %4, %0 {axis = 0} : f32[T+8, "
                 "4]\n  state_assign %5 {path = \"attn.kv\"}\n",
                 kState)
                .find("SK213"),
            std::string::npos);
}

}  // namespace
}  // namespace skdsl::passes
