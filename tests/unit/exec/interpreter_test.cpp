// Straight-line programs: arithmetic, symbols, states, weights, memory, faults, workers.
#include <gtest/gtest.h>

#include "runtime/plan/plan.h"
#include "tests/unit/exec/builder.h"

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

struct Fixture : testing::Test {
  plan::Program program;
  exec::Bindings bindings;

  Expected<Values> run(const plan::Function& f, Values args, uint32_t threads = 1) {
    EXPECT_EQ(plan::verify(program), std::vector<std::string>{});
    exec::Workers workers(threads);
    exec::Interpreter interpreter(program, bindings, workers, {.poison = true});
    auto results = interpreter.run(f, std::move(args));
    peak = interpreter.pool().peak_bytes();
    return results;
  }
  std::string error(const plan::Function& f, Values args, uint32_t threads = 1) {
    auto r = run(f, std::move(args), threads);
    return r ? "no error" : r.error().message;
  }
  uint64_t peak = 0;
};
using Interpreter = Fixture;

TEST_F(Interpreter, ComputesWithSymbolicSizes) {
  FunctionBuilder b(program, "main");
  const Dim n = b.dim("n");
  const ValueId x = b.param("x", f32({n, 2}));
  const ValueId y =
      b.op(Opcode::Mul, {x, b.constant<float>(plan::DType::F32, {2}, {10, 100})}, {}, f32({n, 2}));
  const ValueId z = b.op(Opcode::Concat, {x, y}, {{"axis", Dim(0)}}, f32({n * Dim(2), 2}));
  const ValueId flat =
      b.op(Opcode::Reshape, {z}, {{"shape", std::vector<Dim>{n * Dim(4)}}}, f32({n * Dim(4)}));
  const auto& f = b.done({flat});
  const auto r = run(f, {floats({1, 2}, {3, 4})});
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(test::values<float>((*r)[0]), (std::vector<float>{3, 4, 30, 400}));
  EXPECT_EQ(test::values<float>((*run(f, {floats({2, 2}, {1, 2, 3, 4})}))[0]).size(), 8u);
}

TEST_F(Interpreter, ArgumentsMustAgreeWithTheirTypesAndEachOther) {
  FunctionBuilder b(program, "main");
  const Dim n = b.dim("n");
  const ValueId x = b.param("x", f32({n})), y = b.param("y", f32({n}));
  const auto& f = b.done({b.op(Opcode::Add, {x, y}, {}, f32({n}))});
  EXPECT_EQ(error(f, {floats({2}, {1, 2})}), "`main` takes 2 arguments, 1 were given");
  EXPECT_EQ(error(f, {floats({2}, {1, 2}), floats({3}, {1, 2, 3})}),
            "`main`: argument `y` is f32[3] where f32[n] is declared, n being 2 here");
  EXPECT_EQ(error(f, {floats({2}, {1, 2}), ints({1, 2})}),
            "`main`: argument `y` is i32[2] where f32[n] is declared");
  EXPECT_EQ(error(f, {floats({2}, {1, 2}), int64_t{4}}),
            "`main`: argument `y` is int 4 where f32[n] is declared");
  Tensor strided = floats({2, 2}, {1, 2, 3, 4});
  strided.view.rank = 1;
  strided.view.stride[0] = 2;
  EXPECT_EQ(error(f, {strided, floats({2}, {1, 2})}), "`main`: argument `x` is not contiguous");
}

TEST_F(Interpreter, CallsHaveTheirOwnSymbols) {
  FunctionBuilder g(program, "twice");
  const Dim n = g.dim("n");
  const ValueId x = g.param("x", f32({n}));
  g.done({g.op(Opcode::Concat, {x, x}, {}, f32({n * Dim(2)}))});
  FunctionBuilder b(program, "main");
  const ValueId a = b.param("a", f32({n}));
  const auto call = [&](ValueId v, Dim size) {
    return b.op(Opcode::Call, {v}, {{"callee", "twice"}}, f32({size}));
  };
  const auto& f = b.done({call(call(a, n * Dim(2)), n * Dim(4)), a});
  const auto r = run(f, {floats({1}, {5})});
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(test::values<float>((*r)[0]), (std::vector<float>{5, 5, 5, 5}));
}

TEST_F(Interpreter, EndlessRecursionIsAnError) {
  FunctionBuilder b(program, "main");
  const ValueId x = b.param("x", f32({}));
  const auto& f = b.done({b.op(Opcode::Call, {x}, {{"callee", "main"}}, f32({}))});
  // The verifier refuses this; the interpreter does not rely on it.
  exec::Workers workers(1);
  exec::Interpreter interpreter(program, bindings, workers);
  const std::string message = interpreter.run(f, {floats({}, {1})}).error().message;
  EXPECT_EQ(message.substr(0, 48), "`main`: calls and blocks are nested too deeply (");
}

TEST_F(Interpreter, StatesKeepWhatWasWritten) {
  program.states.push_back({"cache", f32({2, 2, 1}), false, false, {}});
  bindings.states["cache"] = Tensor::zeros(SK_F32, {{2, 2, 1}});
  FunctionBuilder b(program, "main");
  const Dim n = b.dim("n");
  const ValueId slots = b.param("slots", i32({n})), rows = b.param("rows", f32({n, 1}));
  b.effect(Opcode::ScatterUpdate, {b.state("cache", f32({2, 2, 1})), slots, rows});
  const auto& f = b.done({b.state("cache", f32({2, 2, 1}))});
  ASSERT_TRUE(run(f, {ints({3}), floats({1, 1}, {7})}));
  const auto r = run(f, {ints({0, -1}), floats({2, 1}, {5, 6})});
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(test::values<float>((*r)[0]), (std::vector<float>{5, 0, 0, 7}));
}

TEST_F(Interpreter, AGrownStateHasItsNewSizeNextTime) {
  program.states.push_back({"log", f32({1}), false, true, {}});
  bindings.states["log"] = Tensor::zeros(SK_F32, {{1}});
  FunctionBuilder b(program, "main");
  const Dim k = b.dim("k"), m = b.dim("m");
  const ValueId x = b.param("x", f32({1}));
  const ValueId old = b.state("log", f32({k}));
  const ValueId grown = b.op(Opcode::Concat, {old, x}, {}, f32({k + Dim(1)}));
  b.effect(Opcode::StateAssign, {grown}, {{"path", "log"}});
  const auto& f = b.done({b.state("log", f32({m})), old});
  run(f, {floats({1}, {1})});
  const auto r = run(f, {floats({1}, {2})});
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(test::values<float>((*r)[0]), (std::vector<float>{0, 1, 2}));
  EXPECT_EQ(test::values<float>((*r)[1]), (std::vector<float>{0, 1}));
}

TEST_F(Interpreter, WeightsAndLiteralsAreNeverWritten) {
  bindings.weights["w"] = Tensor::zeros(SK_F32, {{2, 2, 1}});
  program.weights.push_back({"w", f32({2, 2, 1}), {{"w"}}, false, {}});
  FunctionBuilder b(program, "main");
  const ValueId slots = b.param("slots", i32({1})), rows = b.param("rows", f32({1, 1}));
  const ValueId w = b.weight("w", f32({2, 2, 1}));
  const ValueId view = b.op(Opcode::Reshape, {w}, {{"shape", std::vector<Dim>{4, 1, 1}}}, f32({4, 1, 1}));
  b.effect(Opcode::ScatterUpdate, {view, slots, rows});
  const auto& f = b.done({w});
  // The verifier may refuse this already; the interpreter does in any case.
  exec::Workers workers(1);
  exec::Interpreter interpreter(program, bindings, workers);
  const auto r = interpreter.run(f, {ints({0}), floats({1, 1}, {5})});
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().message,
            "`scatter_update`: `cache` is a weight or a literal; only states may be written");
}

TEST_F(Interpreter, StoredWeightsKeepTheirDtypeThroughLayoutOps) {
  bindings.weights["w"] = test::tensor<bf16>(SK_BF16, {1, 2}, {from_f32<bf16>(2), from_f32<bf16>(3)});
  const plan::Type stored = plan::Type::tensor(plan::DType::Stored, {1, 2});
  program.weights.push_back({"w", stored, {{"w"}}, false, {}});
  FunctionBuilder b(program, "main");
  const ValueId t = b.op(Opcode::Transpose, {b.weight("w", stored)}, {{"axis0", Dim(0)}, {"axis1", Dim(1)}},
                         plan::Type::tensor(plan::DType::Stored, {2, 1}));
  const auto& f = b.done({t});
  const auto r = run(f, {});
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(describe(std::get<Tensor>((*r)[0]).view), "bf16[2, 1]");
}

TEST_F(Interpreter, HostListsServeAsIndexOperands) {
  FunctionBuilder b(program, "main");
  const ValueId x = b.param("x", f32({4}));
  const ValueId list = b.param("list", plan::Type::host(plan::Kind::HostList));
  const auto& f = b.done({b.op(Opcode::IndexSelect, {x, list}, {{"axis", Dim(0)}}, f32({2}))});
  const auto r = run(f, {floats({4}, {1, 2, 3, 4}), std::vector<int64_t>{3, 0}});
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(test::values<float>((*r)[0]), (std::vector<float>{4, 1}));
  EXPECT_EQ(error(f, {floats({4}, {1, 2, 3, 4}), std::vector<int64_t>{3, int64_t{1} << 40}}),
            "`index_select`: `index` holds 1099511627776, which does not fit i32");
}

TEST_F(Interpreter, AFaultNamesOpInstancePlaceValueAndLimit) {
  FunctionBuilder b(program, "main");
  const Dim n = b.dim("n");
  const ValueId ids = b.param("ids", i32({n})), w = b.param("w", f32({5, 700}));
  b.next_loc = {1, 12, 5, 9};
  b.next_path = "layers.0.embed";
  const auto& f = b.done({b.op(Opcode::Embedding, {ids, w}, {}, f32({n, 700}))});
  std::vector<int32_t> index(64, 1);
  index[40] = 77;
  index[63] = 99;
  const Values args{ints(index), floats({5, 700}, test::noise(1, 3500))};
  for (const uint32_t threads : {1u, 2u, 3u})
    for (int i = 0; i < 20; ++i)
      ASSERT_EQ(error(f, args, threads),
                "test.sk:12:5: `embedding` (layers.0.embed): index 77 at row 40 is out of range; it must be "
                "at least 0 and below 5");
}

TEST_F(Interpreter, SizesThatOnlyARunKnowsAreChecked) {
  FunctionBuilder b(program, "main");
  const Dim n = b.dim("n"), k = b.dim("k");
  const ValueId x = b.param("x", f32({n}));
  b.param("count", plan::Type::host_int(k));
  b.next_loc = {1, 3, 1, 4};
  const auto& f =
      b.done({b.op(Opcode::Slice, {x}, {{"axis", Dim(0)}, {"begin", Dim(0)}, {"end", k}}, f32({k}))});
  const Tensor x3 = floats({3}, {1, 2, 3});
  EXPECT_EQ(test::values<float>((*run(f, {x3, int64_t{2}}))[0]), (std::vector<float>{1, 2}));
  EXPECT_EQ(error(f, {x3, int64_t{4}}),
            "test.sk:3:1: `slice`: [0..4] of axis 0 of f32[3]; 0 ≤ begin ≤ end ≤ size must hold");
  EXPECT_EQ(error(f, {x3, int64_t{-1}}),
            "test.sk:3:1: `slice`: a tensor of shape [-1] was asked for; sizes must not be negative");
  EXPECT_NE(error(f, {x3, int64_t{1} << 60}).find("no memory for a tensor"), std::string::npos);
}

TEST_F(Interpreter, MemoryStaysBoundedInLongPrograms) {
  FunctionBuilder b(program, "main");
  ValueId x = b.param("x", f32({1000}));
  for (int i = 0; i < 200; ++i) {
    b.op(Opcode::Exp, {x}, {}, f32({1000}));  // nobody reads it
    x = b.op(Opcode::Neg, {x}, {}, f32({1000}));
  }
  const auto& f = b.done({x});
  ASSERT_TRUE(run(f, {floats({1000}, test::noise(3, 1000))}));
  EXPECT_LE(peak, 4u * 4096);
}

TEST_F(Interpreter, AnyNumberOfWorkersGivesTheSameBits) {
  FunctionBuilder b(program, "main");
  const Dim n = b.dim("n");
  const ValueId x = b.param("x", f32({n, 96})), w = b.param("w", f32({130, 96}));
  const ValueId y = b.op(Opcode::Linear, {x, w, kNone}, {}, f32({n, 130}));
  const ValueId s = b.op(Opcode::Softmax, {y}, {}, f32({n, 130}));
  const auto& f = b.done({s, b.op(Opcode::ReduceSum, {y}, {}, f32({n}))});
  const Values args{floats({67, 96}, test::noise(5, 67 * 96)), floats({130, 96}, test::noise(6, 130 * 96))};
  const auto one = run(f, args, 1);
  ASSERT_TRUE(one) << one.error().message;
  for (const uint32_t threads : {2u, 3u, 5u}) {
    const auto many = run(f, args, threads);
    for (size_t i = 0; i < 2; ++i)
      EXPECT_EQ(test::bits((*one)[i]), test::bits((*many)[i])) << threads << " workers";
  }
}

TEST_F(Interpreter, MissingWeightsAndStatesAreNamed) {
  FunctionBuilder b(program, "main");
  program.weights.push_back({"norm.w", f32({2}), {{"x"}}, false, {}});
  const auto& f = b.done({b.weight("norm.w", f32({2}))});
  EXPECT_EQ(error(f, {}), "`weight`: weight `norm.w` is not loaded");
  bindings.weights["norm.w"] = floats({3}, {1, 2, 3});
  EXPECT_EQ(error(f, {}), "`weight`: the result is f32[3] where f32[2] is declared");
}

TEST_F(Interpreter, ScheduleOpsChangeNothing) {
  FunctionBuilder b(program, "main");
  const ValueId x = b.param("x", f32({2}));
  b.effect(Opcode::RecordEvent, {}, {{"event", "e"}});
  b.effect(Opcode::WaitEvent, {}, {{"event", "e"}});
  b.effect(Opcode::WaitTensor, {x, x});
  b.effect(Opcode::Prefetch, {x}, {{"target", "w"}, {"after_path", ""}});
  b.effect(Opcode::Tap, {x}, {{"name", "t"}});
  b.effect(Opcode::MarkStatic, {x});
  const auto& f = b.done({x});
  EXPECT_EQ(test::values<float>((*run(f, {floats({2}, {1, 2})}))[0]), (std::vector<float>{1, 2}));
}

}  // namespace
}  // namespace skdsl
