// builder — small programs written in C++, for tests of the executors
#pragma once
#include <cstring>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "runtime/exec/interpreter.h"
#include "runtime/plan/program.h"

namespace skdsl::test {

using PlanAttrs = std::map<std::string, plan::Attr>;

/// Builds one function; ops go to the current region.
class FunctionBuilder {
 public:
  FunctionBuilder(plan::Program& program, std::string name, plan::Phase phase = plan::Phase::None);

  plan::Dim dim(std::string_view symbol) { return plan::Dim::symbol(program.symbol(symbol)); }
  plan::ValueId param(std::string name, plan::Type type);
  /// Attributes that are not named take the table's default.
  std::vector<plan::ValueId> ops(Opcode code, std::vector<plan::ValueId> operands, const PlanAttrs& attrs,
                                 std::vector<plan::Type> results, std::vector<plan::RegionId> regions = {});
  plan::ValueId op(Opcode code, std::vector<plan::ValueId> operands, const PlanAttrs& attrs,
                   plan::Type result, std::vector<plan::RegionId> regions = {}) {
    return ops(code, std::move(operands), attrs, {std::move(result)}, std::move(regions)).at(0);
  }
  void effect(Opcode code, std::vector<plan::ValueId> operands, const PlanAttrs& attrs = {}) {
    ops(code, std::move(operands), attrs, {});
  }
  template <class T>
  plan::ValueId constant(plan::DType dtype, std::vector<int64_t> shape, const std::vector<T>& data) {
    plan::ConstantData c{dtype, shape, std::vector<uint8_t>(data.size() * sizeof(T))};
    if (!data.empty()) std::memcpy(c.bytes.data(), data.data(), c.bytes.size());
    program.constants.push_back(c);
    std::vector<plan::Dim> dims(shape.begin(), shape.end());
    return op(Opcode::Constant, {}, {{"data", plan::Dim(static_cast<int64_t>(program.constants.size()) - 1)}},
              plan::Type::tensor(dtype, dims));
  }
  plan::ValueId host(int64_t value) {
    return op(Opcode::HostInt, {}, {{"value", plan::Dim(value)}}, plan::Type::host_int(value));
  }
  plan::ValueId weight(const std::string& path, plan::Type type) {
    return op(Opcode::Weight, {}, {{"path", path}}, std::move(type));
  }
  plan::ValueId state(const std::string& path, plan::Type type) {
    return op(Opcode::State, {}, {{"path", path}}, std::move(type));
  }

  /// A nested region; `body` adds its ops and gives what it yields.
  template <class Body>
  plan::RegionId region(std::vector<plan::Type> args, Body body) {
    const plan::RegionId id = function().add_region();
    std::vector<plan::ValueId> values;
    for (plan::Type& t : args) values.push_back(function().add_value(std::move(t)));
    function().regions[id].args = values;
    const plan::RegionId outer = std::exchange(current_, id);
    effect(Opcode::Yield, body(values));
    current_ = outer;
    return id;
  }
  const plan::Function& done(std::vector<plan::ValueId> results);
  plan::Function& function() { return program.functions[index_]; }

  plan::Program& program;
  Loc next_loc;  // given to the ops that follow
  std::string next_path;

 private:
  size_t index_;
  plan::RegionId current_;
};

inline plan::Type f32(std::vector<plan::Dim> dims) {
  return plan::Type::tensor(plan::DType::F32, std::move(dims));
}
inline plan::Type i32(std::vector<plan::Dim> dims) {
  return plan::Type::tensor(plan::DType::I32, std::move(dims));
}
inline plan::Type boolean(std::vector<plan::Dim> dims) {
  return plan::Type::tensor(plan::DType::Bool, std::move(dims));
}
inline plan::Type host_bool() { return plan::Type::host(plan::Kind::HostBool); }

template <class T>
Tensor tensor(sk_dtype dtype, std::vector<int64_t> shape, const std::vector<T>& data) {
  Tensor t = Tensor::empty(dtype, shape);
  if (!data.empty()) std::memcpy(t.view.data, data.data(), data.size() * sizeof(T));
  return t;
}
inline Tensor floats(std::vector<int64_t> shape, const std::vector<float>& data) {
  return tensor(SK_F32, std::move(shape), data);
}
inline Tensor ints(const std::vector<int32_t>& data) {
  return tensor(SK_I32, {static_cast<int64_t>(data.size())}, data);
}
template <class T>
std::vector<T> values(const exec::RuntimeValue& v) {
  const Tensor& t = std::get<Tensor>(v);
  return {t.data<T>(), t.data<T>() + t.elements()};
}
/// Shape, dtype and bytes; two results are the same when these are.
std::string bits(const exec::RuntimeValue& v);
/// Deterministic numbers in [-1, 1).
std::vector<float> noise(uint64_t seed, size_t n);

}  // namespace skdsl::test
