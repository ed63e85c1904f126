// Operators of the host: reading tensors, printing, lists, arithmetic of scalars, the mailbox.
#include <gtest/gtest.h>

#include "runtime/exec/host_math.h"
#include "runtime/plan/plan.h"
#include "tests/unit/exec/builder.h"

namespace skdsl {
namespace {

using exec::RuntimeValue;
using plan::Dim;
using plan::Kind;
using plan::Type;
using plan::ValueId;
using test::boolean;
using test::f32;
using test::floats;
using test::FunctionBuilder;
using test::i32;
using test::ints;
using Values = std::vector<RuntimeValue>;

struct HostOps : testing::Test {
  plan::Program program;
  FunctionBuilder b{program, "main"};
  std::string printed;

  Expected<Values> run(std::vector<ValueId> results, Values args) {
    const auto& f = b.done(std::move(results));
    EXPECT_EQ(plan::verify(program), std::vector<std::string>{});
    exec::Bindings bindings;
    exec::Workers workers(1);
    exec::InterpreterOptions options;
    options.print = [&](std::string_view s) { printed += s; };
    exec::Interpreter interpreter(program, bindings, workers, options);
    return interpreter.run(f, std::move(args));
  }
};

TEST_F(HostOps, ItemBindsTheSymbolOfItsType) {
  const Dim n = b.dim("n");
  const ValueId x = b.param("x", i32({1}));
  b.op(Opcode::Item, {x}, {}, Type::host_int(n));
  const ValueId y =
      b.op(Opcode::Full, {}, {{"shape", std::vector<Dim>{n, 2}}, {"value", 1.5}, {"dtype", plan::DType::F32}},
           f32({n, 2}));
  const auto r = run({y}, {ints({3})});
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(test::values<float>((*r)[0]), std::vector<float>(6, 1.5));
}

TEST_F(HostOps, ItemOfManyElementsIsAnError) {
  const ValueId x = b.param("x", f32({b.dim("n")}));
  const auto r = run({b.op(Opcode::Item, {x}, {}, Type::host(Kind::HostFloat))}, {floats({2}, {1, 2})});
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().message, "`item`: item of f32[2]; it must have exactly one element");
}

TEST_F(HostOps, ListsCanBeTakenApart) {
  const ValueId x = b.param("x", i32({b.dim("n")}));
  const ValueId list = b.op(Opcode::ToList, {x}, {}, Type::host(Kind::HostList));
  const ValueId last = b.op(Opcode::HostElement, {list}, {{"index", Dim(-1)}}, Type::host_int(b.dim("a")));
  const ValueId length =
      b.op(Opcode::HostElement, {list}, {{"index", Dim(0)}, {"length", true}}, Type::host_int(b.dim("l")));
  const ValueId back = b.op(Opcode::ToTensor, {list}, {}, i32({b.dim("m")}));
  const auto r = run({last, length, back}, {ints({4, 5, 6})});
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(std::get<int64_t>((*r)[0]), 6);
  EXPECT_EQ(std::get<int64_t>((*r)[1]), 3);
  EXPECT_EQ(test::values<int32_t>((*r)[2]), (std::vector<int32_t>{4, 5, 6}));
}

TEST_F(HostOps, AnElementOutsideAListIsAnError) {
  const ValueId x = b.param("x", Type::host(Kind::HostList));
  const auto r = run({b.op(Opcode::HostElement, {x}, {{"index", Dim(3)}}, Type::host_int(b.dim("a")))},
                     {std::vector<int64_t>{1, 2}});
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().message, "`host_element`: element 3 of a list of 2");
}

TEST_F(HostOps, PrintShowsValues) {
  const ValueId x = b.param("x", f32({2, 2})), s = b.param("s", f32({}));
  const ValueId n = b.param("n", Type::host_int(b.dim("n"))), c = b.param("c", test::host_bool());
  const ValueId l = b.param("l", Type::host(Kind::HostList)), e = b.param("e", f32({0}));
  b.effect(Opcode::Print, {x, s, n, c, l, e}, {{"format", "x = {}, s = {}; {} {} {} {}"}});
  b.effect(Opcode::Print, {n, n}, {{"format", "{{{}}}{} times {{}}"}});
  b.effect(Opcode::Print, {}, {{"format", "done"}});
  ASSERT_TRUE(run({}, {floats({2, 2}, {1, 0.1f, -3, 1e10f}), floats({}, {2.5}), int64_t{7}, true,
                       std::vector<int64_t>{1, 2}, floats({0}, {})}));
  EXPECT_EQ(printed,
            "x = f32[2, 2] [[1, 0.100000001], [-3, 1e+10]], s = 2.5; 7 true [1, 2] f32[0] []\n{7}7 times "
            "{}\ndone\n");
}

TEST(Text, LongTensorsAreCut) {
  std::vector<float> data(1200);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
  EXPECT_EQ(exec::text(floats({1200}, data)), "f32[1200] [0, 1, 2, …, 1197, 1198, 1199]");
  EXPECT_EQ(exec::text(floats({2, 600}, data)),
            "f32[2, 600] [[0, 1, 2, …, 597, 598, 599], [600, 601, 602, …, 1197, 1198, 1199]]");
}

TEST_F(HostOps, NonzeroAndMaskedSelectDecideTheirSizes) {
  const Dim k = b.dim("k"), m = b.dim("m");
  const ValueId x = b.param("x", f32({2, 3})), rows = b.param("rows", boolean({2}));
  const ValueId zero = b.constant<float>(plan::DType::F32, {}, {0});
  const ValueId positive = b.op(Opcode::Gt, {x, zero}, {}, boolean({2, 3}));
  const ValueId where = b.op(Opcode::Nonzero, {positive}, {}, i32({k, 2}));
  const ValueId picked = b.op(Opcode::MaskedSelect, {x, positive}, {}, f32({b.dim("p")}));
  const ValueId row = b.op(Opcode::MaskedSelect, {x, rows}, {}, f32({m, 3}));
  const ValueId twice = b.op(Opcode::Add, {row, row}, {}, f32({m, 3}));
  const auto r = run({where, picked, twice},
                     {floats({2, 3}, {0, 1, -1, 2, 0, 3}), test::tensor<uint8_t>(SK_BOOL, {2}, {0, 1})});
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(test::values<int32_t>((*r)[0]), (std::vector<int32_t>{0, 1, 1, 0, 1, 2}));
  EXPECT_EQ(test::values<float>((*r)[1]), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(test::values<float>((*r)[2]), (std::vector<float>{4, 0, 6}));
}

TEST_F(HostOps, WhatIsSentIsReceivedInOrder) {
  const ValueId x = b.param("x", f32({2})), y = b.param("y", f32({2}));
  b.effect(Opcode::Send, {x}, {{"tag", Dim(5)}});
  b.effect(Opcode::Send, {y}, {{"tag", Dim(5)}});
  const plan::Attr shape = std::vector<Dim>{2};
  const auto recv = [&](int64_t tag) {
    return b.op(Opcode::Recv, {}, {{"shape", shape}, {"dtype", plan::DType::F32}, {"tag", Dim(tag)}},
                f32({2}));
  };
  const ValueId first = recv(5), second = recv(5);
  const auto r = run({first, second}, {floats({2}, {1, 2}), floats({2}, {3, 4})});
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(test::values<float>((*r)[0]), (std::vector<float>{1, 2}));
  EXPECT_EQ(test::values<float>((*r)[1]), (std::vector<float>{3, 4}));
}

TEST_F(HostOps, AReceiveWithoutASendDoesNotHang) {
  const auto r =
      run({b.op(Opcode::Recv, {},
                {{"shape", std::vector<Dim>{2}}, {"dtype", plan::DType::F32}, {"tag", Dim(9)}}, f32({2}))},
          {});
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().message,
            "`recv`: nothing was sent with tag 9: with one rank the `send` must come first");
}

TEST_F(HostOps, CheckComparesSizes) {
  const ValueId x = b.param("x", f32({b.dim("n")})), y = b.param("y", f32({b.dim("m")}));
  (void)x, (void)y;
  b.effect(Opcode::Check, {},
           {{"actual", b.dim("n")}, {"expected", b.dim("m")}, {"message", "rows of `add`"}});
  const auto r = run({}, {floats({2}, {1, 2}), floats({1}, {1})});
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().message, "`check`: rows of `add`: 2 is not 1");
}

// Python's results.
TEST(HostMath, ComputesAsPythonDoes) {
  const struct {
    const char* fn;
    Values xs;
    Kind result;
    const char* want;
  } cases[] = {
      {"add", {int64_t{2}, int64_t{3}}, Kind::HostInt, "int 5"},
      {"add", {int64_t{2}, 0.5}, Kind::HostFloat, "float 2.5"},
      {"floordiv", {int64_t{-7}, int64_t{2}}, Kind::HostInt, "int -4"},
      {"floordiv", {int64_t{7}, int64_t{-2}}, Kind::HostInt, "int -4"},
      {"mod", {int64_t{-7}, int64_t{2}}, Kind::HostInt, "int 1"},
      {"mod", {int64_t{7}, int64_t{-2}}, Kind::HostInt, "int -1"},
      {"mod", {-7.5, 2.0}, Kind::HostFloat, "float 0.5"},
      {"div", {int64_t{7}, int64_t{2}}, Kind::HostFloat, "float 3.5"},
      {"div", {int64_t{8}, int64_t{2}}, Kind::HostInt, "int 4"},
      {"pow", {int64_t{3}, int64_t{4}}, Kind::HostInt, "int 81"},
      {"pow", {int64_t{2}, int64_t{62}}, Kind::HostInt, "int 4611686018427387904"},
      {"pow", {int64_t{-2}, int64_t{63}}, Kind::HostInt, "int -9223372036854775808"},
      {"pow", {int64_t{2}, int64_t{-1}}, Kind::HostFloat, "float 0.5"},
      {"min", {int64_t{2}, int64_t{3}}, Kind::HostInt, "int 2"},
      {"max", {2.0, int64_t{3}}, Kind::HostFloat, "float 3"},
      {"lt", {int64_t{2}, 2.5}, Kind::HostBool, "bool true"},
      {"ne", {int64_t{2}, int64_t{2}}, Kind::HostBool, "bool false"},
      {"eq", {std::vector<int64_t>{1}, std::vector<int64_t>{1}}, Kind::HostBool, "bool true"},
      {"and", {true, int64_t{0}}, Kind::HostBool, "bool false"},
      {"or", {false, int64_t{3}}, Kind::HostBool, "bool true"},
      {"not", {false}, Kind::HostBool, "bool true"},
      {"neg", {int64_t{4}}, Kind::HostInt, "int -4"},
      {"select", {false, int64_t{4}, int64_t{5}}, Kind::HostInt, "int 5"},
      {"to_int", {-2.9}, Kind::HostInt, "int -2"},
      {"to_float", {int64_t{3}}, Kind::HostFloat, "float 3"},
  };
  for (const auto& c : cases) {
    const auto r = exec::host_function(c.fn, c.xs, c.result);
    EXPECT_EQ(r ? exec::describe(*r) : r.error().message, c.want) << c.fn;
  }
}

TEST(HostMath, RefusesWhatHasNoValue) {
  const auto message = [](const char* fn, Values xs, Kind result) {
    const auto r = exec::host_function(fn, xs, result);
    return r ? exec::describe(*r) : r.error().message;
  };
  constexpr int64_t kMax = INT64_MAX, kMin = INT64_MIN;
  for (const char* fn : {"div", "floordiv", "mod"}) {
    EXPECT_EQ(message(fn, {int64_t{1}, int64_t{0}}, Kind::HostInt),
              std::string(fn) + "(1, 0): division by zero");
    EXPECT_EQ(message(fn, {1.0, 0.0}, Kind::HostFloat), std::string(fn) + "(1, 0): division by zero");
  }
  EXPECT_EQ(message("div", {int64_t{7}, int64_t{2}}, Kind::HostInt),
            "div(7, 2): an integer is wanted here and the division leaves 1");
  EXPECT_EQ(message("add", {kMax, int64_t{1}}, Kind::HostInt),
            "add(9223372036854775807, 1): the result does not fit 64 bits");
  EXPECT_EQ(message("floordiv", {kMin, int64_t{-1}}, Kind::HostInt),
            "floordiv(-9223372036854775808, -1): the result does not fit 64 bits");
  EXPECT_EQ(message("mod", {kMin, int64_t{-1}}, Kind::HostInt), "int 0");
  EXPECT_EQ(message("neg", {kMin}, Kind::HostInt),
            "neg(-9223372036854775808): the result does not fit 64 bits");
  EXPECT_EQ(message("pow", {int64_t{10}, int64_t{19}}, Kind::HostInt),
            "pow(10, 19): the result does not fit 64 bits");
  EXPECT_EQ(message("to_int", {1e300}, Kind::HostInt), "to_int(1e+300): the result does not fit 64 bits");
  EXPECT_EQ(message("add", {std::vector<int64_t>{1}, int64_t{1}}, Kind::HostInt),
            "add([1], 1): the operands must be host numbers");
}

}  // namespace
}  // namespace skdsl
