// if and while on host values and on tensors; interruption.
#include <gtest/gtest.h>

#include <thread>

#include "runtime/plan/plan.h"
#include "tests/unit/exec/builder.h"

namespace skdsl {
namespace {

using exec::RuntimeValue;
using plan::Dim;
using plan::Type;
using plan::ValueId;
using test::boolean;
using test::f32;
using test::floats;
using test::FunctionBuilder;
using Ids = std::vector<ValueId>;

Expected<std::vector<RuntimeValue>> run(const plan::Program& program, const plan::Function& f,
                                        std::vector<RuntimeValue> args,
                                        const std::atomic<bool>* interrupt = nullptr) {
  EXPECT_EQ(plan::verify(program), std::vector<std::string>{});
  exec::Bindings bindings;
  exec::Workers workers(2);
  exec::Interpreter interpreter(program, bindings, workers, {.poison = true, .interrupt = interrupt});
  return interpreter.run(f, std::move(args));
}

TEST(If, ATensorConditionChoosesOneRegion) {
  plan::Program program;
  FunctionBuilder b(program, "main");
  const Dim n = b.dim("n"), m = b.dim("m");
  const ValueId x = b.param("x", f32({n})), limit = b.param("limit", f32({}));
  const ValueId sum = b.op(Opcode::ReduceSum, {x}, {}, f32({}));
  const ValueId cond = b.op(Opcode::Gt, {sum, limit}, {}, boolean({}));
  const auto then = b.region({}, [&](const Ids&) { return Ids{b.op(Opcode::Neg, {x}, {}, f32({n}))}; });
  const auto otherwise = b.region({}, [&](const Ids&) {
    return Ids{b.op(Opcode::Slice, {x}, {{"axis", Dim(0)}, {"begin", Dim(0)}, {"end", Dim(1)}}, f32({1}))};
  });
  const ValueId y = b.op(Opcode::If, {cond}, {}, f32({m}), {then, otherwise});
  const auto& f = b.done({b.op(Opcode::Concat, {y, y}, {}, f32({m + m}))});
  exec::Bindings bindings;
  exec::Workers workers(1);
  exec::Interpreter interpreter(program, bindings, workers);
  const Tensor x3 = floats({3}, {1, 2, 3});
  EXPECT_EQ(test::values<float>((*interpreter.run(f, {x3, floats({}, {5})}))[0]),
            (std::vector<float>{-1, -2, -3, -1, -2, -3}));
  EXPECT_EQ(test::values<float>((*interpreter.run(f, {x3, floats({}, {6})}))[0]), (std::vector<float>{1, 1}));
}

TEST(If, AConditionOfManyElementsIsAnError) {
  plan::Program program;
  FunctionBuilder b(program, "main");
  const ValueId x = b.param("x", boolean({b.dim("n")}));
  b.next_loc = {1, 7, 3, 2};
  const auto empty = [&] { return b.region({}, [](const Ids&) { return Ids{}; }); };
  const auto then = empty(), otherwise = empty();
  b.ops(Opcode::If, {x}, {}, {}, {then, otherwise});
  const auto& f = b.done({});
  exec::Bindings bindings;
  exec::Workers workers(1);
  exec::Interpreter interpreter(program, bindings, workers);
  const auto r = interpreter.run(f, {test::tensor<uint8_t>(SK_BOOL, {2}, {1, 0})});
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().message, "test.sk:7:3: `if`: the condition is bool[2]; it must be one truth value");
}

// while sum(x) < limit { x = x + x; n = n + 1 }
TEST(While, RunsUntilATensorSaysStop) {
  plan::Program program;
  FunctionBuilder b(program, "main");
  const Dim n = b.dim("n"), k = b.dim("k"), k2 = b.dim("k2"), k3 = b.dim("k3");
  const ValueId x = b.param("x", f32({n})), limit = b.param("limit", f32({}));
  const ValueId zero = b.host(0);
  const std::vector<Type> carried{f32({n}), Type::host_int(k)};
  const auto cond = b.region(carried, [&](const Ids& a) {
    const ValueId sum = b.op(Opcode::ReduceSum, {a[0]}, {}, f32({}));
    return Ids{b.op(Opcode::Lt, {sum, limit}, {}, boolean({}))};
  });
  const auto body = b.region({f32({n}), Type::host_int(k2)}, [&](const Ids& a) {
    return Ids{b.op(Opcode::Add, {a[0], a[0]}, {}, f32({n})),
               b.op(Opcode::HostInt, {}, {{"value", k2 + Dim(1)}}, Type::host_int(k2 + Dim(1)))};
  });
  const auto r0 = b.ops(Opcode::While, {x, zero}, {}, {f32({n}), Type::host_int(k3)}, {cond, body});
  const auto& f = b.done({r0[0], r0[1]});
  const auto r = run(program, f, {floats({2}, {1, 2}), floats({}, {20})});
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(test::values<float>((*r)[0]), (std::vector<float>{8, 16}));
  EXPECT_EQ(std::get<int64_t>((*r)[1]), 3);
  EXPECT_EQ(std::get<int64_t>((*run(program, f, {floats({2}, {1, 2}), floats({}, {2})}))[1]), 0);
}

// Each turn makes the carried tensor one longer: sizes are bound anew.
TEST(While, CarriedTensorsMayGrow) {
  plan::Program program;
  FunctionBuilder b(program, "main");
  const Dim a = b.dim("a"), c = b.dim("c"), out = b.dim("out"), len = b.dim("len");
  const ValueId x = b.param("x", f32({1}));
  b.param("len", Type::host_int(len));
  const auto cond = b.region({f32({a})}, [&](const Ids&) {
    const ValueId n = b.op(Opcode::HostInt, {}, {{"value", a}}, Type::host_int(a));
    const ValueId limit = b.op(Opcode::HostInt, {}, {{"value", len}}, Type::host_int(len));
    return Ids{b.op(Opcode::HostFn, {n, limit}, {{"fn", "lt"}}, test::host_bool())};
  });
  const auto body = b.region(
      {f32({c})}, [&](const Ids& v) { return Ids{b.op(Opcode::Concat, {v[0], x}, {}, f32({c + Dim(1)}))}; });
  const ValueId y = b.op(Opcode::While, {x}, {}, f32({out}), {cond, body});
  const auto& f = b.done({b.op(Opcode::Neg, {y}, {}, f32({out}))});
  exec::Bindings bindings;
  exec::Workers workers(1);
  exec::Interpreter interpreter(program, bindings, workers, {.poison = true});
  const auto r = interpreter.run(f, {floats({1}, {2}), int64_t{300}});
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(test::values<float>((*r)[0]), std::vector<float>(300, -2));
  EXPECT_LT(interpreter.pool().peak_bytes(), 20000u);
}

TEST(While, EndlessLoopsCanBeInterrupted) {
  plan::Program program;
  FunctionBuilder b(program, "main");
  const auto cond = b.region({}, [&](const Ids&) {
    const ValueId one = b.host(1);
    return Ids{b.op(Opcode::HostFn, {one, one}, {{"fn", "eq"}}, test::host_bool())};
  });
  const auto body = b.region({}, [](const Ids&) { return Ids{}; });
  b.ops(Opcode::While, {}, {}, {}, {cond, body});
  const auto& f = b.done({});
  std::atomic<bool> stop{false};
  std::thread user([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    stop = true;
  });
  const auto r = run(program, f, {}, &stop);
  user.join();
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().message, "interrupted");
}

TEST(Calls, DecodePhasesOfScriptsGoThroughTheHook) {
  plan::Program program;
  FunctionBuilder d(program, "M.decode", plan::Phase::Decode);
  const ValueId x = d.param("x", f32({1}));
  d.done({d.op(Opcode::Neg, {x}, {}, f32({1}))});
  FunctionBuilder b(program, "main");
  const ValueId y = b.param("y", f32({1}));
  const auto& f = b.done({b.op(Opcode::Call, {y}, {{"callee", "M.decode"}}, f32({1}))});
  exec::Bindings bindings;
  exec::Workers workers(1);
  std::string called;
  exec::InterpreterOptions options;
  options.decode_hook = [&](const plan::Function& g, std::vector<RuntimeValue> args,
                            const exec::CallSite&) -> Expected<std::vector<RuntimeValue>> {
    called = g.name;
    return args;
  };
  exec::Interpreter hooked(program, bindings, workers, options);
  EXPECT_EQ(test::values<float>((*hooked.run(f, {floats({1}, {3})}))[0])[0], 3);
  EXPECT_EQ(called, "M.decode");
  exec::Interpreter plain(program, bindings, workers);
  EXPECT_EQ(test::values<float>((*plain.run(f, {floats({1}, {3})}))[0])[0], -3);
}

}  // namespace
}  // namespace skdsl
