// The text form: what it looks like, that it reads back, and what the parser says about wrong texts.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <limits>

#include "runtime/plan/plan.h"

namespace skdsl::plan {
namespace {

constexpr std::string_view kProgram = R"(program
file 1 "examples/a \"b\".sk"
symbol T
symbol `odd symbol`
symbol u2
context 0 superkernel "scope_0" {"stream-fusion" = "1"} loc(1:3:5+11)
context 1 stream "1" parent 0
constant 0 : f32[2] = [0.1, -0]
constant 1 : i64[] = [-9223372036854775808]
constant 2 : f16[2] = [65504, nan(0x7e01)]
weight "w" : stored[8, 64] from ["a"], ["b"] stacked loc(1:4:3+9)
const "table" : f32[4] = "make_table" 0
state "kv" : bf16[9, 4, 8] uninitialized
unused "model.mtp.*"
func "make_table" none () -> (f32[4]) {
  %0 = full {shape = [4], value = 1.0, dtype = <f32>} : f32[4]
  return %0
}
func "M.decode" decode (x = %0:h : f32[T, `odd symbol`*2+1], n = %1 : int(T)) -> (f32[T, `odd symbol`*2+1]) loc(1:9:1+6) {
  %2 = host_int {value = T*T-2} : int(T*T-2)
  %3 = host_fn %1, %2 {fn = "lt"} : bool
  %4:"odd name" = if %3 : f32[T, `odd symbol`*2+1] ctx(1) loc(1:10:3+2) path "layers.0" region {
    %5 = exp %0 : f32[T, `odd symbol`*2+1]
    yield %5
  } region {
    yield %0
  }
  %6, %7 = while %1, %4 : int(u2), f32[T, `odd symbol`*2+1] region(%8 : int(u2), %9 : f32[T, `odd symbol`*2+1]) {
    yield %3
  } region(%10:i : int(u2), %11 : f32[T, `odd symbol`*2+1]) {
    yield %10, %11
  }
  return %7
}
)";

TEST(Text, ReadsBackAsItWasPrinted) {
  const auto p = parse_program(kProgram);
  ASSERT_TRUE(p.has_value()) << p.error().message;
  EXPECT_EQ(print(*p), kProgram);
  EXPECT_TRUE(verify(*p).empty()) << verify(*p)[0];
  EXPECT_EQ(p->find("M.decode")->values.size(), 12u);
}

TEST(Text, NumbersOfTheTextDoNotMatter) {
  const auto a =
      parse_program("program\nfunc \"f\" none (x = %7 : f32[]) -> (f32[]) { %3 = exp %7 : f32[] return %3 }");
  const auto b = parse_program(
      "program\nfunc \"f\" none (x = %0 : f32[]) -> (f32[]) {\n  // a comment\n  %1 = exp %0 : f32[]\n  "
      "return %1\n}");
  ASSERT_TRUE(a && b);
  EXPECT_TRUE(equal(*a, *b));
  EXPECT_EQ(print(*a), print(*b));
}

TEST(Text, EqualSeesEveryPart) {
  const Program base = *parse_program(kProgram);
  const auto differs = [&](auto change) {
    Program other = base;
    change(other);
    return !equal(base, other) && !equal(other, base);
  };
  EXPECT_TRUE(differs([](Program& p) { p.files[1] = "b.sk"; }));
  EXPECT_TRUE(differs([](Program& p) { p.symbols[0] = "S"; }));
  EXPECT_TRUE(differs([](Program& p) { p.contexts[1].parent = kNone; }));
  EXPECT_TRUE(differs([](Program& p) { p.constants[0].bytes[0] ^= 1; }));
  EXPECT_TRUE(differs([](Program& p) { p.weights[0].stacked = false; }));
  EXPECT_TRUE(differs([](Program& p) { p.consts[0].result = 1; }));
  EXPECT_TRUE(differs([](Program& p) { p.states[0].rebound = true; }));
  EXPECT_TRUE(differs([](Program& p) { p.unused_sources.clear(); }));
  EXPECT_TRUE(differs([](Program& p) { p.functions[1].phase = Phase::Prefill; }));
  EXPECT_TRUE(differs([](Program& p) { p.functions[1].param_names[0] = "y"; }));
  EXPECT_TRUE(differs([](Program& p) { p.functions[1].values[0].type.dtype = DType::BF16; }));
  EXPECT_TRUE(differs([](Program& p) { p.functions[0].ops[0].attrs[1] = 2.0; }));
  EXPECT_TRUE(differs([](Program& p) { p.functions[1].ops.back().operands[0] = 0; }));
  EXPECT_TRUE(differs([](Program& p) { p.functions.pop_back(); }));
  EXPECT_FALSE(differs([](Program&) {}));
}

// Every float of every width reads back with the same bits.
TEST(Text, FloatsKeepTheirBits) {
  uint64_t state = 1;
  const auto next = [&] { return state = state * 6364136223846793005u + 1442695040888963407u; };
  Program p;
  ConstantData f32{DType::F32, {64}, std::vector<uint8_t>(256)},
      half{DType::F16, {64}, std::vector<uint8_t>(128)};
  for (int round = 0; round < 400; ++round) {
    for (auto& b : f32.bytes) b = static_cast<uint8_t>(next() >> 56);
    for (auto& b : half.bytes) b = static_cast<uint8_t>(next() >> 56);
    // Subnormals, infinities and the extremes.
    const float edges[] = {1e-45f, -1.1754942e-38f, std::numeric_limits<float>::infinity(),
                           std::numeric_limits<float>::max(), -0.0f};
    std::memcpy(f32.bytes.data(), edges, sizeof edges);
    ConstantData bf = half;
    bf.dtype = DType::BF16;
    p.constants = {f32, half, bf};
    const auto back = parse_program(print(p));
    ASSERT_TRUE(back.has_value()) << back.error().message;
    ASSERT_TRUE(back->constants == p.constants) << print(p);
  }
}

TEST(Text, FloatAttributesKeepTheirBits) {
  uint64_t state = 7;
  Program p;
  Function& f = p.functions.emplace_back();
  f.name = "f";
  f.body = f.add_region();
  for (int i = 0; i < 3000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    Op op;
    op.code = Opcode::HostFloat;
    op.attrs = {std::bit_cast<double>(i == 0   ? 0x8000000000000000u
                                      : i == 1 ? 0x7ff0000000000000u
                                      : i == 2 ? 1u
                                               : state)};
    f.add_op(f.body, op, {Type::host(Kind::HostFloat)});
  }
  Op end;
  end.code = Opcode::Return;
  f.add_op(f.body, end, {});
  const auto back = parse_program(print(p));
  ASSERT_TRUE(back.has_value()) << back.error().message;
  EXPECT_TRUE(equal(*back, p));
}

TEST(Text, LargeConstantsAreHex) {
  Program p;
  p.constants.push_back({DType::I8, {65}, std::vector<uint8_t>(65, 0xab)});
  EXPECT_NE(print(p).find("constant 0 : i8[65] = hex \"abab"), std::string::npos);
  EXPECT_TRUE(equal(*parse_program(print(p)), p));
}

struct Wrong {
  std::string_view text;
  std::string_view message;
};

TEST(Text, ErrorsNameTheLineAndWhatWasExpected) {
  const Wrong kWrong[] = {
      {"", "line 1: expected `program`, found the end"},
      {"program\nfunk",
       "line 2: expected `file`, `symbol`, `context`, `constant`, `weight`, `const`, `state`, `unused` or "
       "`func`, found `funk`"},
      {"program\nsymbol T\nsymbol T", "line 3: symbol `T` stands twice"},
      {"program\ncontext 1 stream \"a\"", "line 2: context 1 stands where number 0 is due"},
      {"program\ncontext 0 lane \"a\"",
       "line 2: expected `superkernel`, `no_superkernel`, `stream` or `cores`, found `lane`"},
      {"program\nconstant 0 : i8[1] = [128]", "line 2: 128 does not fit i8"},
      {"program\nconstant 0 : f32[1] = hex \"0\"", "line 2: an odd number of hex digits"},
      {"program\nweight \"w\" : f99[2]", "line 2: expected a type, found `f99`"},
      {"program\nstate \"s\" : f32[T]", "line 2: `T` is not a symbol of the program"},
      {"program\nunused \"a\\q\"",
       "line 2: expected a string, found a string that does not end or has an unknown escape"},
      {"program\nunused \"open\nx\"",
       "line 2: expected a string, found a string that does not end or has an unknown escape"},
      {"program\nfunc \"f\" late",
       "line 2: expected a phase: `none`, `prefill`, `decode`, `draft_prefill` or `draft_decode`, found "
       "`late`"},
      {"program\nfunc \"f\" none () -> () {\n  %0 = rmsnorm",
       "line 3: expected an operator, found `rmsnorm`"},
      {"program\nfunc \"f\" none () -> () {\n  return %3\n}", "line 4: %3 is not defined before it is used"},
      {"program\nfunc \"f\" none (x = %0 : f32[]) -> () {\n  %0 = exp %0 : f32[]\n}",
       "line 4: %0 is defined twice"},
      {"program\nfunc \"f\" none (x = %0 : f32[]) -> () {\n  %1 = exp %0\n}",
       "line 4: `exp` has 1 results and 0 types"},
      {"program\nfunc \"f\" none () -> () {\n  tap {nme = 3}",
       "line 3: expected an attribute of `tap`, found `nme`"},
      {"program\nfunc \"f\" none () -> () {", "line 2: expected an operator, found the end"},
      {"program\nsymbol T\nstate \"s\" : f32[T*T*T*T*T*T*T*T*T*T*T*T*T*T*T*T*T]",
       "line 3: a product has more than 16 factors"},
      {"program\nstate \"s\" : f32[99999999999999999999]",
       "line 2: `99999999999999999999` does not fit 64 bits"},
  };
  for (const Wrong& w : kWrong) {
    const auto p = parse_program(w.text);
    ASSERT_FALSE(p.has_value()) << w.text;
    EXPECT_EQ(p.error().message, "plan text, " + std::string(w.message)) << w.text;
  }
}

TEST(Text, EveryPhaseReadsBack) {
  for (const Phase phase :
       {Phase::None, Phase::Prefill, Phase::Decode, Phase::DraftPrefill, Phase::DraftDecode}) {
    const auto p =
        parse_program("program\nfunc \"f\" " + std::string(name(phase)) + " () -> () {\n  return\n}");
    ASSERT_TRUE(p.has_value()) << p.error().message;
    EXPECT_EQ(p->functions[0].phase, phase);
    EXPECT_EQ(is_decode(phase), phase == Phase::Decode || phase == Phase::DraftDecode);
    const auto again = parse_program(print(*p));
    ASSERT_TRUE(again.has_value()) << print(*p);
    EXPECT_EQ(again->functions[0].phase, phase);
  }
}

TEST(Text, DeepRegionsAreAnError) {
  std::string text = "program\nfunc \"f\" none (c = %0 : bool) -> () {";
  for (int i = 0; i < 100000; ++i) text += "if %0 region {";
  const auto p = parse_program(text);
  ASSERT_FALSE(p.has_value());
  EXPECT_NE(p.error().message.find("nested deeper than 512"), std::string::npos) << p.error().message;
}

constexpr std::string_view kPlan = R"(program
symbol T
constant 0 : f32[] = [2]
weight "w" : f32[4, 4]
state "kv" : f32[2, 2, 4]
func "f" decode (x = %0 : f32[T, 4]) -> (f32[T, 4]) {
  return %0
}
schedule "f" {T = 2} {
  arena 64
  stream "main"
  stream "1"
  event "e"
  constant : i32[2] = [1, 2]
  buffer 0:x : f32[2, 4] input 0
  buffer 1:h : f32[2, 4] arena 0
  buffer 2 : f32[4, 4] weight "w"
  buffer 3 : i32[2] constant 1
  buffer 4 : f32[2, 2, 4] state "kv"
  buffer 5 : f32[8] arena 0
  inputs [0]
  outputs [1]
  task 0 linear [0, 2, _] -> [1] {dtype = <f32>} core aic blocks 24 stream 0 ctx(3) loc(0:1:2+3) path "layers.0"
  task 1 scatter_update [4, 3, 1] -> [] core aiv blocks 1 stream 1
  task 2 reshape [1] -> [5] {shape = [8]} core aiv blocks 1 stream 0 view
  task 3 rope_table [] -> [] {length = 4, dim = 2, theta = 10000.0, scaling = choice(1, "linear"), factor = 0.5} core aiv blocks 1 stream 0
  task 4 reduce_any [1] -> [1] {axis = -1, keepdim = true} core aiv blocks 1 stream 0
  call 0 stream 0
  record 0 stream 0
  wait 0 stream 1
  call 1 stream 1
}
)";

TEST(Text, PlansReadBack) {
  const auto plan = parse_plan(kPlan);
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  EXPECT_EQ(print(*plan), kPlan);
  EXPECT_TRUE(equal(*plan, *plan));
  Plan other = *plan;
  other.schedules[0].tasks[3].attrs[2].f = 1;
  EXPECT_FALSE(equal(*plan, other));
  EXPECT_FALSE(parse_program(kPlan).has_value());
}

}  // namespace
}  // namespace skdsl::plan
