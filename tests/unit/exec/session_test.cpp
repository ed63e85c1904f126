// Loading: weights, consts, states; who runs a call.
#include "runtime/model/session.h"

#include <gtest/gtest.h>

#include "tests/unit/exec/naive_schedule.h"
#include "tests/unit/exec/tiny_model.h"

namespace skdsl {
namespace {

using exec::RuntimeValue;
using model::Session;
using plan::Dim;
using plan::kNone;
using plan::ValueId;
using test::f32;
using test::floats;
using test::FunctionBuilder;
using Weights = std::map<std::string, Tensor>;

Expected<std::unique_ptr<Session>> create(plan::Program program, const Weights& weights,
                                          model::SessionOptions options = {}) {
  return Session::create(
      std::move(program),
      [&](const std::string& path) {
        const auto it = weights.find(path);
        return it == weights.end() ? nullptr : &it->second;
      },
      std::move(options));
}

plan::Program with_weight() {
  plan::Program program;
  program.weights.push_back({"a", f32({2}), {{"a"}}, false, {}});
  return program;
}

ValueId add_const(plan::Program& program, const std::string& path, const std::string& of, Opcode op) {
  FunctionBuilder b(program, "const " + path);
  const ValueId v = b.op(op, {b.weight(of, f32({2}))}, {}, f32({2}));
  b.done({v});
  program.consts.push_back({path, f32({2}), "const " + path, 0, {}});
  return v;
}

TEST(Session, EvaluatesConstsInAnyOrderAndDropsTheirSources) {
  plan::Program program = with_weight();
  add_const(program, "c", "b", Opcode::Exp);  // reads b, declared below
  add_const(program, "b", "a", Opcode::Neg);
  FunctionBuilder m(program, "main");
  m.done({m.weight("c", f32({2}))});
  auto s = create(program, {{"a", floats({2}, {0, -1})}});
  ASSERT_TRUE(s) << s.error().message;
  const auto r = (*s)->call("main", {});
  ASSERT_TRUE(r) << r.error().message;
  const auto c = test::values<float>((*r)[0]);
  EXPECT_EQ(c[0], 1);
  EXPECT_NEAR(c[1], 2.718281828, 1e-6);
  EXPECT_EQ((*s)->bindings().weights.size(), 1u);
  EXPECT_EQ((*s)->resident_bytes(), 8u);
}

TEST(Session, ASourceThatSomebodyElseReadsStays) {
  plan::Program program = with_weight();
  add_const(program, "b", "a", Opcode::Neg);
  FunctionBuilder m(program, "main");
  m.done({m.weight("a", f32({2})), m.weight("b", f32({2}))});
  auto s = create(program, {{"a", floats({2}, {1, 2})}});
  ASSERT_TRUE(s) << s.error().message;
  EXPECT_EQ(test::values<float>((*(*s)->call("main", {}))[1]), (std::vector<float>{-1, -2}));
}

TEST(Session, RefusesWhatDoesNotFitTogether) {
  EXPECT_EQ(create(with_weight(), {}).error().message, "weight `a` is not loaded");
  EXPECT_EQ(create(with_weight(), {{"a", floats({3}, {1, 2, 3})}}).error().message,
            "`a` is f32[3], declared f32[2]");
  plan::Program circular = with_weight();
  add_const(circular, "b", "c", Opcode::Neg);
  add_const(circular, "c", "b", Opcode::Neg);
  const auto r = create(circular, {{"a", floats({2}, {1, 2})}});
  ASSERT_FALSE(r);
  EXPECT_EQ(create({}, {}, {.mode = "fast"}).error().kind, ErrorKind::Usage);
  auto s = create({}, {});
  ASSERT_TRUE(s) << s.error().message;
  EXPECT_EQ((*s)->call("main", {}).error().message, "the program has no function `main`");
  EXPECT_EQ((*s)->phase(plan::Phase::Decode), nullptr);
}

TEST(Session, StatesThatDoNotFitMemoryAreAnError) {
  plan::Program program;
  program.states.push_back({"kv", f32({int64_t{1} << 40, 16}), false, false, {}});
  const auto s = create(program, {});
  ASSERT_FALSE(s);
  EXPECT_NE(s.error().message.find("state `kv`: no memory for a tensor f32[1099511627776, 16]"),
            std::string::npos)
      << s.error().message;
  EXPECT_NE(s.error().notes.back().find("--kv-blocks"), std::string::npos);
}

TEST(Session, PoisonsUninitializedStatesButNotTheNullBlock) {
  auto s = create(test::tiny_program(), test::tiny_weights(), {.poison = true});
  ASSERT_TRUE(s) << s.error().message;
  const auto k = test::values<float>((*s)->bindings().states["k"]);
  const size_t block = 4 * 8;
  for (size_t i = 0; i < k.size(); ++i) EXPECT_EQ(k[i] != k[i], i >= block) << i;
  auto clean = create(test::tiny_program(), test::tiny_weights(), {.poison = false});
  for (const float x : test::values<float>((*clean)->bindings().states["k"])) EXPECT_EQ(x, 0);
}

TEST(Session, ResetRestoresReboundStatesInPlace) {
  plan::Program program;
  program.states.push_back({"s", f32({1}), false, true, {}});
  FunctionBuilder b(program, "main");
  const Dim k = b.dim("k");
  const ValueId x = b.param("x", f32({2}));
  const ValueId old = b.state("s", f32({k}));
  b.effect(Opcode::StateAssign, {x}, {{"path", "s"}});
  b.done({old});
  auto s = create(program, {});
  ASSERT_TRUE(s) << s.error().message;
  ASSERT_TRUE((*s)->call("main", {floats({2}, {1, 2})}));
  EXPECT_EQ(test::values<float>((*(*s)->call("main", {floats({2}, {1, 2})}))[0]), (std::vector<float>{1, 2}));
  (*s)->reset_states();
  EXPECT_EQ(test::values<float>((*(*s)->call("main", {floats({2}, {1, 2})}))[0]), (std::vector<float>{0}));
}

// A script calls a decode phase: the session's mode serves it.
TEST(Session, ScriptsReachTheGraphs) {
  const auto build = [] {
    plan::Program program;
    FunctionBuilder d(program, "M.decode", plan::Phase::Decode);
    const Dim n = d.dim("n");
    const ValueId x = d.param("x", f32({n}));
    d.done({d.op(Opcode::Neg, {x}, {}, f32({n}))});
    FunctionBuilder b(program, "main");
    const ValueId y = b.param("y", f32({2}));
    const auto call = [&](ValueId v) { return b.op(Opcode::Call, {v}, {{"callee", "M.decode"}}, f32({2})); };
    const ValueId one =
        b.op(Opcode::Slice, {y}, {{"axis", Dim(0)}, {"begin", Dim(0)}, {"end", Dim(1)}}, f32({1}));
    const ValueId short_call = b.op(Opcode::Call, {one}, {{"callee", "M.decode"}}, f32({1}));
    b.done({call(call(call(y))), short_call});
    return program;
  };
  const Tensor y = floats({2}, {1, 2});
  auto eager = create(build(), {});
  EXPECT_EQ(test::values<float>((*(*eager)->call("main", {y}))[0]), (std::vector<float>{-1, -2}));
  EXPECT_EQ((*eager)->counters().interpreted_decode_steps, 4u);
  EXPECT_EQ((*eager)->counters().captures, 0u);
  auto graph = create(build(), {}, {.mode = "ge_graph", .compile = test::naive_schedule});
  const auto r = (*graph)->call("main", {y});
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(test::values<float>((*r)[0]), (std::vector<float>{-1, -2}));
  EXPECT_EQ((*graph)->counters().interpreted_decode_steps, 0u);
  EXPECT_EQ((*graph)->counters().replays, 4u);
  EXPECT_EQ((*graph)->counters().captures, 2u);
  EXPECT_EQ((*graph)->counters().recompiles, 1u);
  EXPECT_GT((*graph)->timings().compile_ms, 0);
}

TEST(Session, ACompileThatFailsIsTheCallsError) {
  plan::Program program;
  FunctionBuilder d(program, "M.decode", plan::Phase::Decode);
  const ValueId x = d.param("x", f32({1}));
  d.done({d.op(Opcode::Item, {x}, {}, plan::Type::host(plan::Kind::HostFloat))});
  auto s = create(program, {}, {.mode = "ge_graph", .compile = test::naive_schedule});
  ASSERT_TRUE(s) << s.error().message;
  EXPECT_EQ((*s)->call("M.decode", {floats({1}, {1})}).error().message, "`item` cannot be in a graph");
}

}  // namespace
}  // namespace skdsl
