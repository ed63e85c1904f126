// Schedules of small programs, seen whole.
#include "compiler/schedule/schedule.h"

#include <gtest/gtest.h>

#include "compiler/schedule/build.h"
#include "tests/unit/passes/helpers.h"

namespace skdsl::schedule {
namespace {

using testing::Diags;
using testing::program;

std::string made(const std::string& text, std::vector<std::pair<std::string, int64_t>> bindings) {
  const plan::Program p = program("program\nfile 1 \"t.sk\"\nsymbol T\nsymbol u1\n" + text);
  Diags diags;
  const auto s = make_schedule(p, {"f", std::move(bindings)}, diags.engine);
  EXPECT_EQ(s.has_value(), diags.text().empty()) << diags.text();
  if (!s) return diags.text();
  EXPECT_TRUE(plan::verify(*s, p).empty()) << plan::verify(*s, p)[0];
  return print(*s, p);
}

TEST(Schedule, TasksViewsInPlaceAndAttributes) {
  EXPECT_EQ(made(R"(weight "w" : stored[4, 8]
func "f" decode (x = %0 : bf16[T, 8]) -> (bf16[T, 4]) {
  %1 = weight {path = "w"} : stored[4, 8]
  %2:y = linear %0, %1, _ : bf16[T, 4] loc(1:4:3+6) path "proj"
  %3 = reshape %2 {shape = [T*4]} : bf16[T*4]
  %4 = silu %3 : bf16[T*4]
  %5 = reshape %4 {shape = [T, 4]} : bf16[T, 4]
  %6 = softmax %5 : bf16[T, 4]
  return %6
}
)",
                 {{"T", 3}}),
            R"(schedule "f" {T = 3} {
  arena 128
  stream "main"
  buffer 0:x : bf16[3, 8] input 0
  buffer 1 : stored[4, 8] weight "w"
  buffer 2:y : bf16[3, 4] arena 0
  buffer 3 : bf16[12] arena 0
  buffer 4 : bf16[12] arena 0
  buffer 5 : bf16[3, 4] arena 0
  buffer 6 : bf16[3, 4] arena 64
  inputs [0]
  outputs [6]
  task 0 linear [0, 1, _] -> [2] {dtype = <bf16>} core aic blocks 1 stream 0 loc(1:4:3+6) path "proj"
  task 1 reshape [2] -> [3] {shape = [12]} core aiv blocks 1 stream 0 view
  task 2 silu [3] -> [4] core aiv blocks 1 stream 0
  task 3 reshape [4] -> [5] {shape = [3, 4]} core aiv blocks 1 stream 0 view
  task 4 softmax [5] -> [6] core aiv blocks 1 stream 0
  call 0 stream 0
  call 1 stream 0
  call 2 stream 0
  call 3 stream 0
  call 4 stream 0
}
)");
}

// Data that crosses streams makes events; what the program orders itself needs none.
TEST(Schedule, StreamsAndEvents) {
  EXPECT_EQ(made(R"(context 0 stream "moe" {"priority" = "0"}
context 1 no_superkernel "" parent 0
state "kv" : f32[2, 2, 8]
func "f" decode (x = %0 : f32[T, 8], slots = %1 : i32[T]) -> (f32[T, 8]) {
  %2 = exp %0 : f32[T, 8]
  %3 = softmax %2 : f32[T, 8] ctx(1)
  %4 = softmax %2 : f32[T, 8]
  record {event = "e"} ctx(0)
  wait {event = "e"}
  %5 = add %4, %3 : f32[T, 8]
  %6 = state {path = "kv"} : f32[2, 2, 8]
  tap %6 {name = "before"} ctx(0)
  scatter_update %6, %1, %5
  return %5
}
)",
                 {{"T", 2}}),
            R"(schedule "f" {T = 2} {
  arena 192
  stream "main"
  stream "moe"
  event "e"
  event "after_0"
  event "after_4"
  buffer 0:x : f32[2, 8] input 0
  buffer 1:slots : i32[2] input 1
  buffer 2 : f32[2, 8] arena 0
  buffer 3 : f32[2, 8] arena 64
  buffer 4 : f32[2, 8] arena 128
  buffer 5 : f32[2, 8] arena 128
  buffer 6 : f32[2, 2, 8] state "kv"
  inputs [0, 1]
  outputs [5]
  task 0 exp [0] -> [2] core aiv blocks 1 stream 0
  task 1 softmax [2] -> [3] core aiv blocks 1 stream 1 ctx(1)
  task 2 softmax [2] -> [4] core aiv blocks 1 stream 0
  task 3 add [4, 3] -> [5] core aiv blocks 1 stream 0
  task 4 tap [6] -> [] {name = "before"} core none blocks 1 stream 1 ctx(0)
  task 5 scatter_update [6, 1, 5] -> [] core aiv blocks 1 stream 0
  call 0 stream 0
  record 1 stream 0
  wait 1 stream 1
  call 1 stream 1
  call 2 stream 0
  record 0 stream 1
  wait 0 stream 0
  call 3 stream 0
  note 4 stream 1
  record 2 stream 1
  wait 2 stream 0
  call 5 stream 0
}
)");
}

// A view that only a note names is taken while its bytes are still there.
TEST(Schedule, ViewsForNotesKeepTheirBytes) {
  const std::string text = made(R"(func "f" decode (x = %0 : f32[T, 8]) -> (f32[T, 8]) {
  %1 = exp %0 : f32[T, 8]
  %2 = softmax %1 : f32[T, 8]
  %3 = softmax %2 : f32[T, 8]
  %4 = reshape %1 {shape = [T*8]} : f32[T*8]
  mark_static %4
  return %3
}
)",
                                {{"T", 2}});
  EXPECT_NE(text.find("arena 192"), std::string::npos) << text;
}

// Inputs, states and literals are handed out as copies.
TEST(Schedule, OutputsAreTheCallers) {
  const std::string text = made(R"(constant 0 : i32[] = [4]
state "kv" : f32[2, 8]
func "f" decode (x = %0 : f32[T, 8]) -> (f32[T, 8], f32[16], i32[], i32[]) {
  %1 = state {path = "kv"} : f32[2, 8]
  %2 = reshape %1 {shape = [16]} : f32[16]
  %3 = constant {data = 0} : i32[]
  %4 = host_int {value = T} : int(T)
  %5 = to_tensor %4 : i32[]
  return %0, %2, %3, %5
}
)",
                                {{"T", 2}});
  EXPECT_NE(text.find("  constant : i32[] = [2]\n"), std::string::npos) << text;
  EXPECT_NE(text.find("outputs [5, 6, 7, 8]"), std::string::npos) << text;
  EXPECT_NE(text.find("task 1 reshape [0] -> [5] {shape = [2, 8]} core aiv blocks 1 stream 0\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("buffer 4 : i32[] constant 1"), std::string::npos) << text;
}

TEST(Schedule, HostArgumentsAreBindings) {
  const std::string text = made(
      "func \"f\" decode (x = %0 : f32[4], n = %1 : int(T)) -> (f32[T]) {\n"
      "  %2 = full {shape = [T], value = 2.0, dtype = <f32>} : f32[T]\n  return %2\n}\n",
      {{"T", 300}});
  EXPECT_NE(text.find("inputs [0, _]"), std::string::npos) << text;
}

TEST(Schedule, BlocksFollowCoresAndTiles) {
  const std::string text = made(R"(context 0 cores "" {"aic" = "8", "aiv" = "16"}
weight "w" : f32[512, 8]
func "f" decode (x = %0 : f32[T, 8]) -> (f32[T, 512], f32[T, 512]) {
  %1 = weight {path = "w"} : f32[512, 8]
  %2 = linear %0, %1, _ : f32[T, 512] ctx(0)
  %3 = linear %0, %1, _ : f32[T, 512]
  %4 = softmax %2 : f32[T, 512] ctx(0)
  %5 = softmax %3 : f32[T, 512]
  return %4, %5
}
)",
                                {{"T", 16}});
  EXPECT_NE(text.find("{dtype = <f32>} core aic blocks 8 stream 0 ctx(0)"), std::string::npos)
      << text;  // 32 tiles, 8 cores
  EXPECT_NE(text.find("{dtype = <f32>} core aic blocks 24 stream 0\n"), std::string::npos)
      << text;  // 32 tiles, 24 cores
  EXPECT_NE(text.find("softmax [2] -> [4] core aiv blocks 8 stream 0 ctx(0)"), std::string::npos)
      << text;  // 8 tiles
}

TEST(Schedule, AttributesInTheFormOfKernels) {
  const auto attr = [](Opcode op, std::string_view name, const plan::Attr& value) {
    const auto a = evaluate_attr(attr_param(info(op), static_cast<size_t>(attr_index(info(op), name))), value,
                                 plan::DType::BF16);
    EXPECT_TRUE(a.has_value());
    return *a;
  };
  EXPECT_EQ(attr(Opcode::Rope, "style", {}).i, 0);
  EXPECT_EQ(attr(Opcode::Rope, "style", std::string("pairs_to_half")).i, 2);
  EXPECT_EQ(attr(Opcode::Rope, "style", std::string("pairs_to_half")).text, "pairs_to_half");
  EXPECT_EQ(attr(Opcode::Linear, "dtype", {}).i, SK_BF16);
  EXPECT_EQ(attr(Opcode::Linear, "dtype", plan::DType::F32).i, SK_F32);
  EXPECT_EQ(attr(Opcode::RmsNorm, "eps", {}).f, 1e-6);
  EXPECT_EQ(attr(Opcode::MoeGatingTopK, "eps", {}).f, 1e-20);
  EXPECT_EQ(attr(Opcode::ReduceSum, "axis", {}).i, -1);
  EXPECT_EQ(attr(Opcode::ReduceSum, "keepdim", {}).i, 0);
  EXPECT_EQ(attr(Opcode::ReduceSum, "keepdim", true).i, 1);
  EXPECT_EQ(attr(Opcode::RandomNormal, "dtype", {}).i, SK_F32);
  EXPECT_EQ(attr(Opcode::AllReduce, "group", {}).text, "world");
  EXPECT_EQ(attr(Opcode::Split, "sizes", std::vector<plan::Dim>{3, 5}).list, (std::vector<int64_t>{3, 5}));
  EXPECT_FALSE(
      evaluate_attr(attr_param(info(Opcode::Slice), 1), plan::Dim::symbol(0), plan::DType::F32).has_value());
}

TEST(Schedule, WhatIsNotStaticIsSaid) {
  EXPECT_EQ(made("func \"g\" decode () -> () {\n  return\n}\n", {}), "SK2001 0:0: unknown name `f`\n");
  EXPECT_EQ(
      made("func \"f\" decode (x = %0 : f32[T, 4]) -> (f32[T, 4]) loc(1:3:1+6) {\n  return %0\n}\n", {}),
      "SK115 3:1: `x` has a shape that depends on values; a static-graph decode is static\n"
      "  note: its type is f32[T, 4]\n"
      "  help: bind every symbol of the phase's parameters, and compute sizes from them alone\n");
  EXPECT_NE(made("func \"f\" decode (x = %0 : f32[4], flag = %1 : bool) -> (f32[4]) {\n  return %0\n}\n", {})
                .find("SK3008"),
            std::string::npos);
  EXPECT_NE(
      made(
          "func \"f\" decode (x = %0 : f32[4]) -> (f32[4]) {\n  print %0 {format = \"{}\"}\n  return %0\n}\n",
          {})
          .find("SK104"),
      std::string::npos);
  EXPECT_NE(made("func \"h\" none (x = %0 : f32[4]) -> (f32[4]) {\n  return %0\n}\nfunc \"f\" decode (x = %0 "
                 ": f32[4]) -> (f32[4]) {\n"
                 "  %1 = call %0 {callee = \"h\"} : f32[4]\n  return %1\n}\n",
                 {})
                .find("SK3090"),
            std::string::npos);
  EXPECT_EQ(made("func \"f\" decode (x = %0 : f32[T, 4]) -> (f32[T, 4]) {\n  check {actual = T, expected = "
                 "4, message = \"rows of `x`\"} loc(1:2:3+4)\n  return %0\n}\n",
                 {{"T", 3}}),
            "SK3007 2:3: rows of `x`: 3 and 4\n");
  EXPECT_NE(made("func \"f\" decode (x = %0 : f32[T, 4]) -> (f32[T, 4]) {\n  return %0\n}\n", {{"T", -1}})
                .find("SK3022"),
            std::string::npos);
  EXPECT_NE(made("func \"f\" decode (x = %0 : f32[T, T]) -> (f32[T, T]) {\n  return %0\n}\n",
                 {{"T", int64_t{1} << 40}})
                .find("SK3022"),
            std::string::npos);
  EXPECT_EQ(made("func \"f\" decode (x = %0 : f32[4]) -> (f32[4]) {\n  wait {event = \"e\"} loc(1:2:3+6)\n  "
                 "record {event = \"e\"}\n  return %0\n}\n",
                 {}),
            "SK401 2:3: `wait e` stands before any `record e`\n  help: record the event on the other stream "
            "first\n");
  EXPECT_NE(made("weight \"w\" : stored[4, 8]\nfunc \"f\" decode () -> (stored[8, 4]) {\n  %0 = weight {path "
                 "= \"w\"} : stored[4, 8]\n"
                 "  %1 = transpose %0 {axis0 = 0, axis1 = 1} : stored[8, 4]\n  return %1\n}\n",
                 {})
                .find("SK3008 0:0: the dtype of what `transpose` gives"),
            std::string::npos);
  EXPECT_NE(made("func \"f\" decode (x = %0 : f32[4], l = %1 : int(T)) -> (f32[4]) {\n  %2 = host_fn %1, %1 "
                 "{fn = \"pow\"} : int(u1)\n"
                 "  %3 = to_tensor %2 : f32[]\n  %4 = mul %0, %3 : f32[4]\n  return %4\n}\n",
                 {{"T", 3}})
                .find("SK3008 0:0: a host number that `mul` reads"),
            std::string::npos);
}

}  // namespace
}  // namespace skdsl::schedule
