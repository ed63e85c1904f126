// convert — a value where something more precise is expected
#include <cmath>
#include <cstring>

#include "compiler/sema/elaborator.h"
#include "runtime/base/assert.h"

namespace skdsl::sema {

using plan::Dim;
using plan::DType;

bool same(const Value& a, const Value& b) {
  if (a.kind != b.kind || a.id != b.id || a.flag != b.flag || a.text != b.text || a.dtype != b.dtype ||
      a.instance != b.instance || !(a.dim == b.dim) || !(a.decl == b.decl) ||
      std::memcmp(&a.number, &b.number, sizeof a.number) != 0 || a.items.size() != b.items.size())
    return false;
  for (size_t i = 0; i < a.items.size(); ++i)
    if (!same(a.items[i], b.items[i])) return false;
  return true;
}

std::string Elaborator::text_of(const Value& v) const {
  switch (v.kind) {
    case Value::Kind::Int:
      return program_.text(v.dim);
    case Value::Kind::Float:
      return fmt::format("{}", v.number);
    case Value::Kind::Bool:
      return v.flag ? "true" : "false";
    case Value::Kind::DType:
      return std::string(plan::name(v.dtype));
    case Value::Kind::List:
    case Value::Kind::Tuple: {
      std::string out = v.is(Value::Kind::List) ? "[" : "(";
      for (size_t i = 0; i < v.items.size(); ++i) out += (i ? ", " : "") + text_of(v.items[i]);
      return out + (v.is(Value::Kind::List) ? "]" : ")");
    }
    case Value::Kind::Dict: {
      std::string out = "{";
      for (size_t i = 0; i + 1 < v.items.size(); i += 2)
        out += fmt::format("{}{}: {}", i ? ", " : "", v.items[i].text, text_of(v.items[i + 1]));
      return out + "}";
    }
    case Value::Kind::None:
      return "none";
    default:
      return v.text;
  }
}

std::string Elaborator::describe(const Frame* f, const Value& v) const {
  switch (v.kind) {
    case Value::Kind::Poison:
      return "an invalid value";
    case Value::Kind::None:
      return "no value";
    case Value::Kind::Int:
      return v.dim.is_constant() ? fmt::format("the integer {}", v.dim.constant())
                                 : fmt::format("the run-time integer {}", program_.text(v.dim));
    case Value::Kind::Float:
      return fmt::format("the number {}", v.number);
    case Value::Kind::Bool:
      return v.flag ? "true" : "false";
    case Value::Kind::Str:
      return fmt::format("the string \"{}\"", v.text);
    case Value::Kind::DType:
      return fmt::format("the dtype {}", plan::name(v.dtype));
    case Value::Kind::List:
      return fmt::format("a list of {}", v.items.size());
    case Value::Kind::Dict:
      return fmt::format("a dict of {}", v.items.size() / 2);
    case Value::Kind::Tuple:
      return fmt::format("{} values", v.items.size());
    case Value::Kind::Ir:
      return f && f->builder ? program_.text(type_of(*f, v.id)) : "a tensor";
    case Value::Kind::Weight: {
      const auto it = weight_types_.find(v.text);
      return it == weight_types_.end() ? "a weight" : fmt::format("weight {}", program_.text(it->second));
    }
    case Value::Kind::State: {
      const auto it = state_types_.find(v.text);
      return it == state_types_.end() ? "a state" : fmt::format("state {}", program_.text(it->second));
    }
    case Value::Kind::Step:
      return "a Step";
    case Value::Kind::Event:
      return "an event";
    case Value::Kind::Instance:
      return fmt::format("an instance of `{}`",
                         modules_[v.instance->decl.module].ast.text(v.instance->decl.node));
    case Value::Kind::Decl:
      return fmt::format("`{}`", modules_[v.decl.module].ast.text(v.decl.node));
    case Value::Kind::Method:
      return "a phase or function";
    case Value::Kind::Group:
      return "a configuration group";
    case Value::Kind::Op:
    case Value::Kind::TensorMethod:
      return fmt::format("the operator `{}`", v.text);
  }
  return "a value";
}

bool Elaborator::is_tensor(const Frame& f, const Value& v) const {
  if (v.is(Value::Kind::Weight) || v.is(Value::Kind::State)) return true;
  return v.is(Value::Kind::Ir) && f.builder && type_of(f, v.id).is_tensor();
}

std::optional<Dim> Elaborator::as_dim(const Value& v, Span at, std::string_view what) {
  if (v.poison()) return {};
  if (v.is(Value::Kind::Int)) return v.dim;
  if (v.is(Value::Kind::Float)) {
    if (v.number == std::floor(v.number) && std::abs(v.number) < 9e15)
      return Dim(static_cast<int64_t>(v.number));
    report(at, diag::Id::NotAnInteger, what, v.number);
    return {};
  }
  report(at, diag::Id::TypeMismatch, what, describe(nullptr, v), "an integer");
  return {};
}

std::optional<int64_t> Elaborator::constant_int(const Value& v, Span at, std::string_view what) {
  const auto d = as_dim(v, at, what);
  if (!d) return {};
  if (d->is_constant()) return d->constant();
  report(at, diag::Id::NotStatic, what, program_.text(*d));
  return {};
}

std::optional<double> Elaborator::as_number(const Value& v, Span at, std::string_view what) {
  if (v.poison()) return {};
  if (v.is(Value::Kind::Float)) return v.number;
  if (v.is(Value::Kind::Int) && v.dim.is_constant()) return static_cast<double>(v.dim.constant());
  if (v.is(Value::Kind::Int) || v.is(Value::Kind::Ir))
    report(at, diag::Id::NotStatic, what, describe(nullptr, v));
  else
    report(at, diag::Id::TypeMismatch, what, describe(nullptr, v), "a number");
  return {};
}

std::optional<bool> Elaborator::static_bool(const Value& v, Span at, std::string_view what) {
  if (v.poison()) return {};
  if (v.is(Value::Kind::Bool)) return v.flag;
  if (v.is(Value::Kind::Ir))
    report(at, diag::Id::NotStatic, what, "a run-time value");
  else
    report(at, diag::Id::TypeMismatch, what, describe(nullptr, v), "true or false");
  return {};
}

std::optional<std::string> Elaborator::static_string(const Value& v, Span at, std::string_view what) {
  if (v.poison()) return {};
  if (v.is(Value::Kind::Str)) return v.text;
  report(at, diag::Id::TypeMismatch, what, describe(nullptr, v), "a string");
  return {};
}

plan::ValueId Elaborator::to_ir(Frame& f, const Value& v, Span at) {
  if (v.poison()) return plan::kNone;
  SK_ASSERT(f.builder, "static contexts hold no IR");
  switch (v.kind) {
    case Value::Kind::Ir:
      return v.id;
    case Value::Kind::Weight:
      return load_weight(f, v.text, at);
    case Value::Kind::State: {
      if (f.builder->const_only) {
        report(at, diag::Id::ConstNotPure, f.builder->const_name, fmt::format("the state `{}`", v.text));
        return plan::kNone;
      }
      plan::Type t = state_types_.at(v.text);
      if (rebound_states_.contains(v.text))
        for (Dim& d : t.dims) {
          const plan::SymbolId s = program_.fresh_symbol("u");
          unbacked_.insert(s);
          d = Dim::symbol(s);
        }
      const plan::OpId op = emit(f, Opcode::State, {}, {v.text}, {t}, at);
      return f.builder->fn->ops[op].results[0];
    }
    case Value::Kind::Int: {
      const plan::OpId op = emit(f, Opcode::HostInt, {}, {v.dim}, {plan::Type::host_int(v.dim)}, at);
      return f.builder->fn->ops[op].results[0];
    }
    case Value::Kind::Float: {
      const plan::OpId op =
          emit(f, Opcode::HostFloat, {}, {v.number}, {plan::Type::host(plan::Kind::HostFloat)}, at);
      return f.builder->fn->ops[op].results[0];
    }
    case Value::Kind::Bool: {  // 1 == 1 or 1 == 0: the program has no literal booleans
      const plan::ValueId one = to_ir(f, Value::integer(1), at),
                          other = to_ir(f, Value::integer(v.flag ? 1 : 0), at);
      const Value r = emit_inferred(f, Opcode::HostFn, {one, other}, {std::string("eq")}, at, {}, {});
      return r.id;
    }
    default:
      break;
  }
  report(at, diag::Id::TypeMismatch, "this value", describe(&f, v), "a tensor or a number");
  return plan::kNone;
}

plan::ValueId Elaborator::to_tensor(Frame& f, const Value& v, Span at, DType like) {
  using K = Value::Kind;
  if (v.poison()) return plan::kNone;
  const bool like_int = like == DType::I8 || like == DType::I32 || like == DType::I64;
  if (v.is(K::Int) && v.dim.is_constant()) {
    const int64_t value = v.dim.constant();
    if (like_int) {
      if (!fits(like, value)) {
        report(at, diag::Id::NumberOutOfRange, value, plan::name(like));
        return plan::kNone;
      }
      return scalar_constant(f, like, 0, value, at);
    }
    if (like == DType::Bool) {
      report(at, diag::Id::DTypeMismatch, "a bool tensor and a number", "bool", "int");
      return plan::kNone;
    }
    return scalar_constant(f, like == DType::None ? DType::I32 : DType::F32, static_cast<double>(value),
                           value, at);
  }
  if (v.is(K::Float)) {
    if (like_int || like == DType::Bool) {
      report(at, diag::Id::TypeMismatch, fmt::format("a number beside {} tensor", plan::name(like)),
             fmt::format("{}", v.number), "an integer");
      return plan::kNone;
    }
    return scalar_constant(f, DType::F32, v.number, 0, at);
  }
  if (v.is(K::Bool)) return scalar_constant(f, DType::Bool, 0, v.flag, at);
  if (v.is(K::List)) {
    // Nested lists of numbers are literals; `like` decides between integers and floats.
    std::vector<int64_t> shape;
    std::vector<const Value*> leaves;
    bool ok = true, any_float = false, any_bool = false;
    const std::function<void(const Value&, size_t)> walk = [&](const Value& x, size_t depth) {
      if (x.is(K::List)) {
        const auto n = static_cast<int64_t>(x.items.size());
        if (depth == shape.size())
          shape.push_back(n);
        else
          ok &= depth < shape.size() && shape[depth] == n;
        for (const Value& y : x.items)
          if (ok) walk(y, depth + 1);
        return;
      }
      ok &=
          depth == shape.size() && ((x.is(K::Int) && x.dim.is_constant()) || x.is(K::Float) || x.is(K::Bool));
      any_float |= x.is(K::Float);
      any_bool |= x.is(K::Bool);
      leaves.push_back(&x);
    };
    walk(v, 0);
    int64_t count = 1;
    for (const int64_t d : shape) count *= d;
    if (!ok || count != static_cast<int64_t>(leaves.size()) || shape.size() > SK_MAX_RANK) {
      report(at, diag::Id::TypeMismatch, "this list", text_of(v).substr(0, 60),
             "a regular list of numbers that are known when compiled");
      return plan::kNone;
    }
    plan::ConstantData data;
    data.dtype = any_bool                                          ? DType::Bool
                 : any_float || (like != DType::None && !like_int) ? DType::F32
                 : like_int                                        ? like
                                                                   : DType::I32;
    data.shape = shape;
    for (const Value* leaf : leaves) {
      const Value& x = *leaf;
      const double number = x.is(K::Float)  ? x.number
                            : x.is(K::Bool) ? x.flag
                                            : static_cast<double>(x.dim.constant());
      const int64_t integer = x.is(K::Int) ? x.dim.constant() : x.flag;
      if (!fits(data.dtype, integer)) {
        report(at, diag::Id::NumberOutOfRange, integer, plan::name(data.dtype));
        return plan::kNone;
      }
      append_element(data, number, integer);
    }
    return constant(f, std::move(data), at);
  }
  const plan::ValueId id = to_ir(f, v, at);
  if (id == plan::kNone || type_of(f, id).is_tensor()) return id;
  const Value tensor = emit_inferred(f, Opcode::ToTensor, {id}, {}, at, {at}, {});
  if (tensor.poison()) return plan::kNone;
  // A host number beside a tensor of another integer width takes that width.
  if (like_int && type_of(f, tensor.id).dtype == DType::I32 && like != DType::I32) {
    const Value cast = emit_inferred(f, Opcode::Cast, {tensor.id}, {like}, at, {at}, {});
    return cast.poison() ? plan::kNone : cast.id;
  }
  if (!like_int && like != DType::None && like != DType::Bool && type_of(f, tensor.id).dtype == DType::I32) {
    const Value cast = emit_inferred(f, Opcode::Cast, {tensor.id}, {DType::F32}, at, {at}, {});
    return cast.poison() ? plan::kNone : cast.id;
  }
  return tensor.id;
}

}  // namespace skdsl::sema
