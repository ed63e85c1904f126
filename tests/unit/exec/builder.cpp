#include "tests/unit/exec/builder.h"

#include <cstdlib>

#include "runtime/base/assert.h"

namespace skdsl::test {

namespace {
plan::Attr default_attr(const Param& p) {
  const std::string text(p.default_text);
  SK_ASSERT(!text.empty(), "a test leaves out a required attribute");
  if (text == "none") return std::monostate{};
  switch (p.attr) {
    case AttrType::Int:
      return plan::Dim(std::atoll(text.c_str()));
    case AttrType::Float:
      return std::atof(text.c_str());
    case AttrType::Bool:
      return text == "true";
    case AttrType::DType:
      return *plan::dtype_named(text);
    case AttrType::Str:
    case AttrType::Choice:
      return text;
    case AttrType::IntList:
      break;
  }
  return std::monostate{};
}
}  // namespace

FunctionBuilder::FunctionBuilder(plan::Program& p, std::string name, plan::Phase phase)
    : program(p), index_(p.functions.size()) {
  if (program.files.empty()) program.files = {"", "test.sk"};
  plan::Function& f = program.functions.emplace_back();
  f.name = std::move(name);
  f.phase = phase;
  f.body = current_ = f.add_region();
}

plan::ValueId FunctionBuilder::param(std::string name, plan::Type type) {
  plan::Function& f = function();
  const plan::ValueId v = f.add_value(std::move(type), name);
  f.param_names.push_back(std::move(name));
  f.regions[f.body].args.push_back(v);
  return v;
}

std::vector<plan::ValueId> FunctionBuilder::ops(Opcode code, std::vector<plan::ValueId> operands,
                                                const PlanAttrs& attrs, std::vector<plan::Type> results,
                                                std::vector<plan::RegionId> regions) {
  plan::Op op;
  op.code = code;
  op.operands = std::move(operands);
  op.regions = std::move(regions);
  op.loc = next_loc;
  op.path = next_path;
  size_t known = 0;
  for (const Param& p : info(code).params) {
    if (!p.is_attr) continue;
    const auto it = attrs.find(std::string(p.name));
    known += it != attrs.end();
    op.attrs.push_back(it != attrs.end() ? it->second : default_attr(p));
  }
  SK_ASSERT(known == attrs.size(), "a test names an attribute that the operator has not");
  const plan::OpId id = function().add_op(current_, std::move(op), results);
  return function().ops[id].results;
}

const plan::Function& FunctionBuilder::done(std::vector<plan::ValueId> results) {
  for (const plan::ValueId v : results) function().results.push_back(function().values[v].type);
  effect(Opcode::Return, std::move(results));
  return function();
}

std::string bits(const exec::RuntimeValue& v) {
  const auto* t = std::get_if<Tensor>(&v);
  if (!t) return exec::describe(v);
  return describe(t->view) + " " + std::string(t->data<char>(), static_cast<size_t>(t->bytes()));
}

std::vector<float> noise(uint64_t seed, size_t n) {
  std::vector<float> out(n);
  for (float& x : out) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    x = static_cast<float>(static_cast<int64_t>(seed >> 33) - (int64_t{1} << 30)) /
        static_cast<float>(int64_t{1} << 30);
  }
  return out;
}

}  // namespace skdsl::test
