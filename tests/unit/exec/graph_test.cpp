// The graph executor against the interpreter, and what it refuses.
#include "runtime/exec/graph.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/unit/exec/naive_schedule.h"
#include "tests/unit/exec/tiny_model.h"

namespace skdsl {
namespace {

using exec::RuntimeValue;
using plan::Dim;
using plan::kNone;
using plan::ValueId;
using test::f32;
using test::floats;
using test::FunctionBuilder;
using test::i32;
using test::ints;
using Values = std::vector<RuntimeValue>;

struct GraphTest : testing::Test {
  plan::Program program;
  exec::Bindings bindings;
  exec::Workers workers{2};

  /// x -> softmax(x wᵀ + literal), and the sum; the state takes rows of x.
  const plan::Function& example() {
    program.weights.push_back({"w", f32({33, 16}), {{"w"}}, false, {}});
    program.states.push_back({"seen", f32({2, 1, 16}), false, false, {}});
    bindings.weights["w"] = floats({33, 16}, test::noise(2, 33 * 16));
    bindings.states["seen"] = Tensor::zeros(SK_F32, {{2, 1, 16}});
    FunctionBuilder b(program, "f");
    const Dim n = b.dim("n");
    const ValueId x = b.param("x", f32({n, 16}));
    const ValueId slots = b.param("slots", i32({n}));
    const ValueId bias = b.constant<float>(plan::DType::F32, {33}, test::noise(9, 33));
    const ValueId y = b.op(Opcode::Linear, {x, b.weight("w", f32({33, 16})), kNone}, {}, f32({n, 33}));
    const ValueId z =
        b.op(Opcode::Softmax, {b.op(Opcode::Add, {y, bias}, {}, f32({n, 33}))}, {}, f32({n, 33}));
    const ValueId flat =
        b.op(Opcode::Reshape, {z}, {{"shape", std::vector<Dim>{n * Dim(33)}}}, f32({n * Dim(33)}));
    b.next_loc = {1, 9, 2, 3};
    b.effect(Opcode::ScatterUpdate, {b.state("seen", f32({2, 1, 16})), slots, x});
    return b.done({flat, b.op(Opcode::ReduceSum, {y}, {}, f32({n}))});
  }
  plan::Schedule schedule(int64_t n) {
    auto s = test::naive_schedule(program, {"f", {{"n", n}}});
    EXPECT_TRUE(s);
    return *s;
  }
  std::string refusal(plan::Schedule s) {
    auto g = exec::Graph::build(program, std::move(s), bindings, workers);
    return g ? "accepted" : g.error().message;
  }
};

TEST_F(GraphTest, GivesTheBitsOfTheInterpreterForAnyNumberOfWorkers) {
  const auto& f = example();
  const int64_t n = 700;
  std::vector<int32_t> slots(n, -1);
  slots[3] = 1;
  const Values args{floats({n, 16}, test::noise(4, n * 16)), ints(slots)};
  exec::Interpreter interpreter(program, bindings, workers, {.poison = true});
  const auto eager = interpreter.run(f, args);
  ASSERT_TRUE(eager) << eager.error().message;
  std::vector<std::string> want;
  for (const RuntimeValue& v : *eager) want.push_back(test::bits(v));
  const std::string want_state = test::bits(bindings.states["seen"]);
  for (const uint32_t threads : {1u, 2u, 3u}) {
    std::memset(bindings.states["seen"].view.data, 0, 128);
    exec::Workers team(threads);
    auto graph = exec::Graph::build(program, schedule(n), bindings, team, {.poison = true});
    ASSERT_TRUE(graph) << graph.error().message;
    for (int replay = 0; replay < 3; ++replay) {
      const auto r = (*graph)->run(args);
      ASSERT_TRUE(r) << r.error().message;
      for (size_t i = 0; i < want.size(); ++i)
        EXPECT_EQ(test::bits((*r)[i]), want[i]) << threads << " workers, output " << i;
    }
    EXPECT_EQ(test::bits(bindings.states["seen"]), want_state);
    EXPECT_EQ((*graph)->replays(), 3u);
    EXPECT_EQ((*graph)->steps_run(),
              3u * 5);  // linear, add, softmax, scatter_update, reduce_sum; reshape is a view
  }
}

TEST_F(GraphTest, OutputsStayWhenTheGraphRunsAgain) {
  example();
  auto graph = exec::Graph::build(program, schedule(1), bindings, workers);
  ASSERT_TRUE(graph) << graph.error().message;
  const auto first = (*graph)->run({floats({1, 16}, test::noise(1, 16)), ints({0})});
  const std::string before = test::bits((*first)[0]);
  ASSERT_TRUE((*graph)->run({floats({1, 16}, test::noise(2, 16)), ints({0})}));
  EXPECT_EQ(test::bits((*first)[0]), before);
}

TEST_F(GraphTest, ViewsOfInputsShareTheirBytes) {
  FunctionBuilder b(program, "f");
  const Dim n = b.dim("n");
  const ValueId x = b.param("x", f32({n, 2}));
  const ValueId view =
      b.op(Opcode::Reshape, {x}, {{"shape", std::vector<Dim>{n * Dim(2)}}}, f32({n * Dim(2)}));
  b.done({view, b.op(Opcode::Neg, {view}, {}, f32({n * Dim(2)}))});
  auto graph = exec::Graph::build(program, schedule(2), bindings, workers, {.poison = true});
  ASSERT_TRUE(graph) << graph.error().message;
  for (const float first : {1.f, 5.f}) {
    const auto r = (*graph)->run({floats({2, 2}, {first, 2, 3, 4})});
    ASSERT_TRUE(r) << r.error().message;
    EXPECT_EQ(test::values<float>((*r)[0]), (std::vector<float>{first, 2, 3, 4}));
    EXPECT_EQ(test::values<float>((*r)[1]), (std::vector<float>{-first, -2, -3, -4}));
  }
}

TEST_F(GraphTest, InputsMustHaveTheSizesOfTheGraph) {
  example();
  auto graph = exec::Graph::build(program, schedule(2), bindings, workers);
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ((*graph)->run({floats({1, 16}, test::noise(1, 16)), ints({0})}).error().message,
            "graph of `f`: input 0 is f32[1, 16]; the graph was made for f32[2, 16]");
  EXPECT_EQ((*graph)->run({}).error().message, "graph of `f`: takes 2 inputs, 0 were given");
}

TEST_F(GraphTest, FaultsNameTheirPlace) {
  example();
  auto graph = exec::Graph::build(program, schedule(2), bindings, workers);
  ASSERT_TRUE(graph) << graph.error().message;
  const auto r = (*graph)->run({floats({2, 16}, test::noise(1, 32)), ints({0, 2})});
  ASSERT_FALSE(r);
  EXPECT_EQ(
      r.error().message,
      "test.sk:9:2: `scatter_update`: index 2 at row 1 is out of range; it must be at least 0 and below 2");
}

TEST_F(GraphTest, AFaultEndsTheRunBehindItsLaunchOnAnyNumberOfWorkers) {
  example();
  const int64_t n = 700;
  const Values good{floats({n, 16}, test::noise(4, n * 16)), ints(std::vector<int32_t>(n, -1))};
  std::vector<int32_t> slots(n, -1);
  slots[351] = 7, slots[699] = 9, slots[400] = -3;
  const Values bad{good[0], ints(slots)};
  std::string want;
  for (const bool spread : {false, true})
    for (const uint32_t threads : {1u, 2u, 3u, 9u}) {
      exec::Workers team(threads);
      auto graph =
          exec::Graph::build(program, schedule(n), bindings, team, {.poison = true, .spread = spread});
      ASSERT_TRUE(graph) << graph.error().message;
      const uint64_t launches = (*graph)->launches_per_run();
      for (uint64_t turn = 1; turn <= 3; ++turn) {
        const auto failed = (*graph)->run(bad);
        ASSERT_FALSE(failed);
        EXPECT_EQ(failed.error().message,
                  "test.sk:9:2: `scatter_update`: index 7 at row 351 is out of range; it must be at least 0 "
                  "and below 2");
        const uint64_t before = (*graph)->launches_run();
        const auto r = (*graph)->run(good);
        ASSERT_TRUE(r) << r.error().message;
        if (want.empty()) want = test::bits((*r)[0]);
        EXPECT_EQ(test::bits((*r)[0]), want) << threads << " workers";
        EXPECT_EQ((*graph)->launches_run(), before + launches);
        // The launches before the one with the fault count, it and those behind it do not.
        EXPECT_EQ(before, turn * 3 + (turn - 1) * launches);
      }
      EXPECT_EQ((*graph)->replays(), 3u);
    }
}

TEST_F(GraphTest, AnInterruptEndsARunAndTheNextOneIsWhole) {
  example();
  const int64_t n = 700;
  const Values args{floats({n, 16}, test::noise(4, n * 16)), ints(std::vector<int32_t>(n, -1))};
  for (const uint32_t threads : {1u, 2u, 5u}) {
    exec::Workers team(threads);
    std::atomic<bool> interrupt{false};
    auto graph = exec::Graph::build(program, schedule(n), bindings, team,
                                    {.poison = true, .spread = true, .interrupt = &interrupt});
    ASSERT_TRUE(graph) << graph.error().message;
    const std::string want = test::bits((*(*graph)->run(args))[0]);
    interrupt = true;
    EXPECT_EQ((*graph)->run(args).error().message, "interrupted");
    interrupt = false;
    // At any moment of a run, or between two of them.
    std::atomic<bool> over{false};
    std::thread other([&] {
      while (!over) {
        std::this_thread::sleep_for(std::chrono::microseconds(130));
        interrupt = true;
      }
    });
    size_t ended = 0;
    for (int turn = 0; turn < 300; ++turn) {
      interrupt = false;
      const uint64_t before = (*graph)->launches_run();
      const auto r = (*graph)->run(args);
      if (r) {
        ASSERT_EQ(test::bits((*r)[0]), want) << threads << " workers";
        continue;
      }
      ASSERT_EQ(r.error().message, "interrupted");
      ASSERT_LT((*graph)->launches_run(), before + (*graph)->launches_per_run());
      ++ended;
    }
    over = true;
    other.join();
    interrupt = false;
    const auto whole = (*graph)->run(args);
    ASSERT_TRUE(whole) << whole.error().message;
    EXPECT_EQ(test::bits((*whole)[0]), want);
    EXPECT_GT(ended, 0u);
  }
}

TEST_F(GraphTest, RefusesWhatCannotRun) {
  example();
  EXPECT_EQ(refusal(schedule(2)), "accepted");
  plan::Schedule s = schedule(2);
  s.arena_bytes = 64;
  EXPECT_NE(refusal(s).find("graph of `f`: "), std::string::npos);
  s = schedule(2);
  s.steps.erase(s.steps.begin());  // the first task's result is read and was never written
  EXPECT_NE(refusal(s).find("graph of `f`: the schedule is not valid"), std::string::npos);
  bindings.weights["w"] = floats({33, 15}, test::noise(2, 33 * 15));
  EXPECT_EQ(refusal(schedule(2)),
            "graph of `f`: weight `w` is f32[33, 15], the schedule expects f32[33, 16]");
  bindings.weights.clear();
  EXPECT_EQ(refusal(schedule(2)), "graph of `f`: weight `w` is not loaded");
}

TEST_F(GraphTest, RefusesShapesThatTheKernelWouldNotSurvive) {
  example();
  plan::Schedule s = schedule(2);
  for (plan::Task& t : s.tasks)
    if (t.code == Opcode::Linear) std::swap(t.in[0], t.in[1]);
  const std::string message = refusal(s);
  EXPECT_NE(message, "accepted");
}

TEST_F(GraphTest, AStateThatIsAssignedAsAWholeHasNoPlace) {
  example();
  program.states[0].rebound = true;
  EXPECT_EQ(refusal(schedule(1)),
            "graph of `f`: state `seen` is assigned as a whole; a static graph needs it to stay in place");
}

TEST_F(GraphTest, HostScalarsAreCompiledIn) {
  FunctionBuilder b(program, "f");
  const Dim n = b.dim("n");
  b.param("count", plan::Type::host_int(n));
  b.done({b.op(Opcode::Full, {},
               {{"shape", std::vector<Dim>{n}}, {"value", 2.0}, {"dtype", plan::DType::F32}}, f32({n}))});
  auto graph = exec::Graph::build(program, schedule(3), bindings, workers);
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(test::values<float>((*(*graph)->run({int64_t{3}}))[0]), (std::vector<float>{2, 2, 2}));
  EXPECT_EQ((*graph)->run({int64_t{4}}).error().message,
            "graph of `f`: input 0 is 4; the graph was made for 3");
}

}  // namespace
}  // namespace skdsl
