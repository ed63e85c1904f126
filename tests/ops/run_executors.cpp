#include "tests/ops/run_executors.h"

#include <gtest/gtest.h>

#include "runtime/exec/graph.h"
#include "runtime/exec/interpreter.h"
#include "runtime/plan/plan.h"
#include "tests/unit/exec/builder.h"
#include "tests/unit/exec/naive_schedule.h"

namespace skdsl::test {
namespace {

plan::Attr plan_attr(const Param& p, const AttrValue& value) {
  if (const auto* i = std::get_if<int64_t>(&value)) {
    if (p.attr == AttrType::Float) return static_cast<double>(*i);
    return plan::Dim(*i);
  }
  if (const auto* f = std::get_if<double>(&value)) return *f;
  if (const auto* b = std::get_if<bool>(&value)) return *b;
  if (const auto* list = std::get_if<std::vector<int64_t>>(&value))
    return std::vector<plan::Dim>(list->begin(), list->end());
  const auto& text = std::get<std::string>(value);
  if (p.attr == AttrType::DType) return *plan::dtype_named(text);
  return text;
}

plan::Type type_of(sk_dtype dtype, const std::vector<int64_t>& shape) {
  return plan::Type::tensor(plan::dtype_of(dtype), {shape.begin(), shape.end()});
}

/// Function "main" of the operands; what an in-place operator writes is a state.
struct OneOp {
  plan::Program program;
  exec::Bindings bindings;
  std::vector<exec::RuntimeValue> args;

  OneOp(Opcode op, const Attrs& attrs, std::span<const Tensor> operands,
        std::span<const TensorType> results) {
    FunctionBuilder b(program, "main");
    const bool in_place = info(op).has(kInPlace);
    std::vector<plan::ValueId> ids;
    for (size_t i = 0; i < operands.size(); ++i) {
      const Tensor& t = operands[i];
      if (!t) {
        ids.push_back(plan::kNone);
      } else if (in_place && i == 0) {
        const plan::Type type = type_of(t.dtype(), t.shape());
        program.states.push_back({"s", type, false, false, {}});
        bindings.states["s"] = t;
        ids.push_back(b.state("s", type));
      } else {
        ids.push_back(b.param("x" + std::to_string(i), type_of(t.dtype(), t.shape())));
        args.push_back(t);
      }
    }
    PlanAttrs named;
    for (const Param& p : info(op).params)
      if (const auto it = attrs.find(p.name); p.is_attr && it != attrs.end())
        named[it->first] = plan_attr(p, it->second);
    EXPECT_EQ(named.size(), attrs.size()) << "an attribute that " << info(op).name << " does not have";
    std::vector<plan::Type> types;
    for (const TensorType& t : results) types.push_back(type_of(t.dtype, t.shape));
    b.done(b.ops(op, ids, named, types));
    EXPECT_EQ(plan::verify(program), std::vector<std::string>{}) << info(op).name;
  }
};

std::vector<Tensor> tensors_of(const Expected<std::vector<exec::RuntimeValue>>& results) {
  std::vector<Tensor> out;
  EXPECT_TRUE(results) << results.error().message;
  if (results)
    for (const exec::RuntimeValue& v : *results) out.push_back(std::get<Tensor>(v));
  return out;
}

}  // namespace

std::vector<Tensor> EagerExecutor::run(Opcode op, const Attrs& attrs, std::span<const Tensor> operands,
                                       std::span<const TensorType> results) {
  OneOp one(op, attrs, operands, results);
  exec::Interpreter interpreter(one.program, one.bindings, workers_, {.poison = true});
  return tensors_of(interpreter.run(*one.program.find("main"), one.args));
}

std::vector<Tensor> GraphExecutor::run(Opcode op, const Attrs& attrs, std::span<const Tensor> operands,
                                       std::span<const TensorType> results) {
  OneOp one(op, attrs, operands, results);
  auto schedule = naive_schedule(one.program, {"main", {}});
  EXPECT_TRUE(schedule);
  auto graph =
      exec::Graph::build(one.program, std::move(*schedule), one.bindings, workers_, {.poison = true});
  EXPECT_TRUE(graph) << graph.error().message;
  if (!graph) return {};
  const auto first = tensors_of((*graph)->run(one.args));
  const auto second = tensors_of((*graph)->run(one.args));
  for (size_t i = 0; i < first.size(); ++i) EXPECT_EQ(bits(first[i]), bits(second[i])) << info(op).name;
  return second;
}

}  // namespace skdsl::test
