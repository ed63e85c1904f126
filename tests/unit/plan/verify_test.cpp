// Each rule of the program verifier, provoked once.
#include <gtest/gtest.h>

#include <functional>

#include "runtime/plan/plan.h"

namespace skdsl::plan {
namespace {

constexpr std::string_view kGood = R"(program
file 1 "a.sk"
symbol T
symbol u1
context 0 stream "1"
context 1 cores "" {"aic" = "8"} parent 0
constant 0 : f32[2] = [1, 2]
weight "w" : f32[4, 4]
const "c" : f32[4] = "make_c" 0
state "kv" : f32[2, 2, 4]
func "make_c" none () -> (f32[4]) {
  %0 = full {shape = [4], value = 1.0, dtype = <f32>} : f32[4]
  return %0
}
func "layer" none (x = %0 : f32[T, 4]) -> (f32[T, 4]) {
  return %0
}
func "M.decode" decode (x = %0 : f32[T, 4], slots = %1 : i32[T], n = %2 : int(u1), flag = %3 : bool) -> (f32[T, 4]) loc(1:2:3+4) {
  %4 = weight {path = "w"} : f32[4, 4]
  %5 = linear %0, %4, _ {dtype = <f32>} : f32[T, 4] ctx(1) loc(1:4:5+6)
  %6 = state {path = "kv"} : f32[2, 2, 4]
  scatter_update %6, %1, %5
  %7 = call %5 {callee = "layer"} : f32[T, 4]
  %8 = constant {data = 0} : f32[2]
  %9 = if %3 : f32[T, 4] region {
    yield %7
  } region {
    %10 = exp %7 : f32[T, 4]
    yield %10
  }
  %11, %12 = while %2, %9 : int(u1), f32[T, 4] region(%13 : int(u1), %14 : f32[T, 4]) {
    yield %3
  } region(%15 : int(u1), %16 : f32[T, 4]) {
    yield %15, %16
  }
  return %12
}
)";

class VerifyProgram : public ::testing::Test {
 protected:
  void SetUp() override {
    auto p = parse_program(kGood);
    ASSERT_TRUE(p.has_value()) << p.error().message;
    good_ = std::move(*p);
    const auto wrong = verify(good_);
    ASSERT_TRUE(wrong.empty()) << wrong[0];
  }

  // The first op of a code in the phase.
  static Op& op(Program& p, Opcode code) {
    for (Op& op : p.functions[2].ops)
      if (op.code == code) return op;
    ADD_FAILURE() << "no such op";
    return p.functions[2].ops[0];
  }
  static Value& value_of(Program& p, Opcode code) { return p.functions[2].values[op(p, code).results[0]]; }

  void refuses(const std::string& part, const std::function<void(Program&)>& change) {
    Program p = good_;
    change(p);
    const auto wrong = verify(p);
    ASSERT_FALSE(wrong.empty()) << "accepted, expected: " << part;
    bool found = false;
    for (const std::string& m : wrong) found |= m.find(part) != std::string::npos;
    EXPECT_TRUE(found) << "expected: " << part << "\nfirst: " << wrong[0];
    print(p);  // and it still prints
  }

  Program good_;
};

TEST_F(VerifyProgram, Tables) {
  refuses("must be empty (nowhere)", [](Program& p) { p.files[0] = "x"; });
  refuses("symbol `T` is empty or stands twice", [](Program& p) { p.symbols.push_back("T"); });
  refuses("a parent stands before its child", [](Program& p) { p.contexts[0].parent = 1; });
  refuses("a parent stands before its child", [](Program& p) { p.contexts[1].parent = 1; });
  refuses("constant 0 has 7 bytes", [](Program& p) { p.constants[0].bytes.pop_back(); });
  refuses("constant 0 has 8 bytes", [](Program& p) { p.constants[0].shape = {-2}; });
  refuses("constant 0 has 8 bytes",
          [](Program& p) { p.constants[0].shape = {int64_t{1} << 40, int64_t{1} << 40}; });
  refuses("one that stands twice", [](Program& p) { p.weights.push_back(p.weights[0]); });
  refuses("its sizes must be constants", [](Program& p) { p.states[0].type.dims[0] = Dim::symbol(0); });
  refuses("is not a tensor", [](Program& p) { p.weights[0].type = Type::host(Kind::HostBool); });
  refuses("is not a function of the program", [](Program& p) { p.consts[0].function = "nobody"; });
  refuses("has no such result", [](Program& p) { p.consts[0].result = 1; });
  refuses("function `layer` is empty or stands twice",
          [](Program& p) { p.functions.push_back(p.functions[1]); });
  refuses("state stands in file 9 of 2", [](Program& p) { p.states[0].loc = {9, 1, 1, 1}; });
}

TEST_F(VerifyProgram, IdsInRange) {
  refuses("body region 99", [](Program& p) { p.functions[2].body = 99; });
  refuses("reads value 999", [](Program& p) { op(p, Opcode::Linear).operands[0] = 999; });
  refuses("defines value 999", [](Program& p) { op(p, Opcode::Linear).results[0] = 999; });
  refuses("has region 99", [](Program& p) { op(p, Opcode::If).regions[0] = 99; });
  refuses("belongs to several ops",
          [](Program& p) { op(p, Opcode::If).regions[0] = op(p, Opcode::While).regions[0]; });
  refuses("belongs to several ops", [](Program& p) { op(p, Opcode::If).regions[0] = p.functions[2].body; });
  refuses("has context 9", [](Program& p) { op(p, Opcode::Linear).context = 9; });
  refuses("has unknown code", [](Program& p) { op(p, Opcode::Linear).code = Opcode::kCount; });
  refuses("has op 999", [](Program& p) { p.functions[2].regions[0].ops[0] = 999; });
  refuses("stands in regions twice",
          [](Program& p) { p.functions[2].regions[0].ops.push_back(p.functions[2].regions[0].ops[0]); });
  refuses("has argument 999", [](Program& p) { p.functions[2].regions[0].args[0] = 999; });
  refuses("malformed type", [](Program& p) { p.functions[2].values[0].type.dims[0] = Dim::symbol(77); });
  refuses("malformed type", [](Program& p) { p.functions[2].values[0].type.dims.resize(9); });
  refuses("malformed type", [](Program& p) { p.functions[2].values[2].type.dims.clear(); });
  refuses("unknown symbol in an attribute",
          [](Program& p) { op(p, Opcode::Constant).attrs[0] = Dim::symbol(50); });
  refuses("stands in file 5", [](Program& p) { op(p, Opcode::Linear).loc.file = 5; });
}

TEST_F(VerifyProgram, OperandsAndAttributes) {
  refuses("`linear` at 4:5 has 2 operands, it takes 3",
          [](Program& p) { op(p, Opcode::Linear).operands.pop_back(); });
  refuses("lacks its operand `weight`", [](Program& p) { op(p, Opcode::Linear).operands[1] = kNone; });
  refuses("operand `x` of `linear` at 4:5 is i32[T], a float tensor is needed",
          [](Program& p) { op(p, Opcode::Linear).operands[0] = 1; });
  refuses("operand `slots` of `scatter_update` is f32[T, 4]",
          [](Program& p) { op(p, Opcode::ScatterUpdate).operands[1] = 0; });
  refuses("has 0 attributes, it takes 1", [](Program& p) { op(p, Opcode::Linear).attrs.clear(); });
  refuses("attribute `dtype` of `linear`", [](Program& p) { op(p, Opcode::Linear).attrs[0] = Dim(3); });
  refuses("attribute `path` of `weight` is missing",
          [](Program& p) { op(p, Opcode::Weight).attrs[0] = Attr{}; });
  refuses("attribute `data` of `constant`",
          [](Program& p) { op(p, Opcode::Constant).attrs[0] = std::string("0"); });
  refuses("has 0 results, it gives 1", [](Program& p) { op(p, Opcode::Constant).results.clear(); });
  refuses("has 0 regions, it takes 2", [](Program& p) { op(p, Opcode::If).regions.clear(); });
}

TEST_F(VerifyProgram, ChoicesAreOfTheTable) {
  auto p = parse_program(R"(program
func "f" none (n = %0 : int(3)) -> () {
  %1 = host_fn %0, %0 {fn = "plus"} : bool
  return
})");
  ASSERT_TRUE(p.has_value());
  EXPECT_NE(verify(*p)[0].find("attribute `fn` of `host_fn`"), std::string::npos);
  p->functions[0].ops[0].attrs[0] = std::string("add|sub");
  EXPECT_FALSE(verify(*p).empty());
  p->functions[0].ops[0].attrs[0] = std::string("eq");
  EXPECT_TRUE(verify(*p).empty());
}

TEST_F(VerifyProgram, DefinitionBeforeUse) {
  refuses("is not defined before it or not visible there", [](Program& p) {
    auto& ops = p.functions[2].regions[p.functions[2].body].ops;
    std::swap(ops[0], ops[1]);
  });
  // A value of one branch is not visible behind the `if`.
  refuses("is not defined before it or not visible there", [](Program& p) {
    const ValueId inner = value_of(p, Opcode::Exp).type.dims.empty() ? 0 : op(p, Opcode::Exp).results[0];
    op(p, Opcode::While).operands[1] = inner;
  });
  refuses("is defined twice", [](Program& p) { op(p, Opcode::Exp).results[0] = 0; });
}

TEST_F(VerifyProgram, RegionsEnd) {
  refuses("does not end in `return`",
          [](Program& p) { p.functions[2].regions[p.functions[2].body].ops.pop_back(); });
  refuses("does not end in `yield`",
          [](Program& p) { p.functions[2].regions[op(p, Opcode::If).regions[0]].ops.clear(); });
  refuses("`yield` ends a region that `return` must end",
          [](Program& p) { p.functions[2].ops.back().code = Opcode::Yield; });
  refuses("stands before the end", [](Program& p) {
    auto& ops = p.functions[2].regions[p.functions[2].body].ops;
    std::swap(ops[ops.size() - 1], ops[ops.size() - 2]);
  });
  refuses("result 0 is f32[T, 4], declared f32[T, 5]",
          [](Program& p) { p.functions[2].results[0].dims[1] = Dim(5); });
  refuses("1 values are returned, 2 are declared",
          [](Program& p) { p.functions[2].results.push_back(p.functions[2].results[0]); });
  refuses("parameter names", [](Program& p) { p.functions[2].param_names.pop_back(); });
}

TEST_F(VerifyProgram, ControlFlow) {
  refuses("condition of type f32[T, 4], bool or bool[] is needed",
          [](Program& p) { op(p, Opcode::If).operands[0] = 0; });
  refuses("region 0 of `if` has arguments", [](Program& p) {
    Function& f = p.functions[2];
    f.regions[op(p, Opcode::If).regions[0]].args.push_back(f.add_value(Type::host(Kind::HostBool)));
  });
  refuses("`if` gives 1 values, a region yields 0", [](Program& p) {
    Function& f = p.functions[2];
    f.ops[f.regions[op(p, Opcode::If).regions[0]].ops.back()].operands.clear();
  });
  refuses("result 0 of `if` is f32[T, 9], a region yields f32[T, 4]",
          [](Program& p) { value_of(p, Opcode::If).type.dims[1] = Dim(9); });
  refuses("the condition region of `while` must yield one bool", [](Program& p) {
    Function& f = p.functions[2];
    f.ops[f.regions[op(p, Opcode::While).regions[0]].ops.back()].operands[0] = 0;
  });
  refuses("region 1 takes 1", [](Program& p) {
    Function& f = p.functions[2];
    f.regions[op(p, Opcode::While).regions[1]].args.pop_back();
  });
  refuses("argument 1 of region 0 of `while` is bf16[T, 4]", [](Program& p) {
    Function& f = p.functions[2];
    f.values[f.regions[op(p, Opcode::While).regions[0]].args[1]].type.dtype = DType::BF16;
  });
}

TEST_F(VerifyProgram, NamesOfTheProgram) {
  refuses("names no constant", [](Program& p) { op(p, Opcode::Constant).attrs[0] = Dim(1); });
  refuses("names no constant", [](Program& p) { op(p, Opcode::Constant).attrs[0] = Dim(-1); });
  refuses("`constant` gives f32[3], constant 0 is f32[2]",
          [](Program& p) { value_of(p, Opcode::Constant).type.dims[0] = Dim(3); });
  refuses("names `v`, which is not a weight or const",
          [](Program& p) { op(p, Opcode::Weight).attrs[0] = std::string("v"); });
  refuses("`w` is declared f32[4, 4]",
          [](Program& p) { value_of(p, Opcode::Weight).type.dtype = DType::BF16; });
  refuses("names `w`, which is not a state",
          [](Program& p) { op(p, Opcode::State).attrs[0] = std::string("w"); });
  refuses("writes a value that is not a state",
          [](Program& p) { op(p, Opcode::ScatterUpdate).operands[0] = op(p, Opcode::Linear).results[0]; });
  refuses("names `nobody`, which is not a function",
          [](Program& p) { op(p, Opcode::Call).attrs[0] = std::string("nobody"); });
  refuses("does not match the parameters or results of `layer`",
          [](Program& p) { op(p, Opcode::Call).operands[0] = 1; });
  refuses("does not match the parameters or results of `make_c`",
          [](Program& p) { op(p, Opcode::Call).attrs[0] = std::string("make_c"); });
  refuses("` calls itself", [](Program& p) {
    p.functions[2].phase = Phase::None;
    Function& layer = p.functions[1];
    Op call;
    call.code = Opcode::Call;
    call.attrs = {std::string("M.decode")};
    layer.ops.push_back(call);
    layer.regions[0].ops.insert(layer.regions[0].ops.begin(), static_cast<OpId>(layer.ops.size() - 1));
  });
}

TEST_F(VerifyProgram, DepthIsLimited) {
  refuses("nested deeper than 512", [](Program& p) {
    Function& f = p.functions[2];
    RegionId inside = f.body;
    for (int i = 0; i < 100000; ++i) {
      Op op;
      op.code = Opcode::If;
      op.operands = {3};
      op.regions = {f.add_region(), f.add_region()};
      const RegionId next = op.regions[0];
      f.ops.push_back(op);
      f.regions[inside].ops.insert(f.regions[inside].ops.begin(), static_cast<OpId>(f.ops.size() - 1));
      inside = next;
    }
  });
}

}  // namespace
}  // namespace skdsl::plan
