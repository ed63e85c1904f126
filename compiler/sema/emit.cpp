// emit — operations into the function being built
#include <cstring>

#include "compiler/sema/elaborator.h"

namespace skdsl::sema {

using plan::Dim;
using plan::DType;
using plan::OpId;
using plan::Type;
using plan::ValueId;

Loc Elaborator::loc(Span at) const {
  if (!at) return {};
  Loc l = diags_.sources().loc(at);
  return l;
}

OpId Elaborator::emit(Frame& f, Opcode code, std::vector<ValueId> operands, std::vector<plan::Attr> attrs,
                      const std::vector<Type>& results, Span at) {
  Builder& b = *f.builder;
  plan::Op op;
  op.code = code;
  op.operands = std::move(operands);
  op.attrs = std::move(attrs);
  op.context = b.context;
  op.loc = loc(at);
  if (f.self) op.path = f.self->path;
  const OpId id = b.fn->add_op(b.region, std::move(op), results);
  b.origins.resize(b.fn->values.size(), at);
  return id;
}

plan::Type Elaborator::with_fresh_symbols(Type t) {
  for (Dim& d : t.dims)
    if (d == Dim(-1)) {
      const plan::SymbolId s = program_.fresh_symbol("u");
      unbacked_.insert(s);
      d = Dim::symbol(s);
    }
  return t;
}

void Elaborator::emit_checks(Frame& f, const std::vector<ops::DeferredCheck>& checks, Span at) {
  for (const ops::DeferredCheck& c : checks)
    emit(f, Opcode::Check, {}, {c.actual, c.expected, c.message}, {}, at);
}

Value Elaborator::emit_inferred(Frame& f, Opcode code, std::vector<ValueId> operands,
                                std::vector<plan::Attr> attrs, Span at, std::vector<Span> operand_spans,
                                std::vector<Span> attr_spans) {
  Builder& b = *f.builder;
  if (b.const_only && !info(code).has(kPure)) {
    report(at, diag::Id::ConstNotPure, b.const_name, fmt::format("`{}`", info(code).name));
    return {};
  }
  std::vector<Type> held;  // copies: the function's value table may move
  held.reserve(operands.size());
  for (const ValueId id : operands) held.push_back(id == plan::kNone ? Type{} : b.fn->values[id].type);
  ops::InferCall call;
  call.op = code;
  for (size_t i = 0; i < operands.size(); ++i) {
    call.operands.push_back(operands[i] == plan::kNone ? nullptr : &held[i]);
    call.operand_origins.push_back(
        operands[i] == plan::kNone || operands[i] >= b.origins.size() ? Span{} : b.origins[operands[i]]);
  }
  call.attrs = &attrs;
  call.act = act_;
  call.program = &program_;
  call.is_unbacked = [this](plan::SymbolId s) { return unbacked_.contains(s); };
  call.diags = &diags_;
  call.span = at;
  call.operand_spans = std::move(operand_spans);
  call.attr_spans = std::move(attr_spans);
  // What does not fit in one instance of a layer does not fit in the others.
  const bool told = told_ops_.contains({at.file, at.begin, at.end});
  const size_t before = diags_.all().size();
  std::optional<std::vector<Type>> types;
  if (told) {
    const diag::Engine::Quiet quiet(diags_);
    types = ops::infer(call);
  } else {
    types = ops::infer(call);
  }
  if (!types && !diags_.quiet() && diags_.all().size() > before) {
    told_ops_.insert({at.file, at.begin, at.end});
    note_declared(f, operands, before);
  }
  if (!types) return {};
  for (Type& t : *types) t = with_fresh_symbols(std::move(t));
  emit_checks(f, call.checks, at);
  const OpId op = emit(f, code, std::move(operands), std::move(attrs), *types, at);
  const auto& results = b.fn->ops[op].results;
  // A host integer is its size expression from here on.
  const auto as_value = [&](ValueId id) {
    const Type& t = b.fn->values[id].type;
    if (t.kind != plan::Kind::HostInt) return Value::ir(id, at);
    Value v = Value::integer(t.dims[0]);
    v.origin = at;
    return v;
  };
  if (results.empty()) return Value::none();
  if (results.size() == 1 && info(code).results[0] != "ys…") return as_value(results[0]);
  std::vector<Value> items;
  for (const ValueId id : results) items.push_back(as_value(id));
  return Value::list(std::move(items), Value::Kind::Tuple);
}

ValueId Elaborator::constant(Frame& f, plan::ConstantData data, Span at) {
  std::vector<Dim> dims;
  for (const int64_t d : data.shape) dims.emplace_back(d);
  const Type t = Type::tensor(data.dtype, std::move(dims));
  // Scalars recur (`* q_scale` in every layer): the pool keeps one of each among the recent ones.
  size_t index = program_.constants.size();
  for (size_t i = 0; i < program_.constants.size() && i < 64; ++i)
    if (program_.constants[i] == data) index = i;
  if (index == program_.constants.size()) program_.constants.push_back(std::move(data));
  const OpId op = emit(f, Opcode::Constant, {}, {Dim(static_cast<int64_t>(index))}, {t}, at);
  return f.builder->fn->ops[op].results[0];
}

void append_element(plan::ConstantData& data, double number, int64_t integer) {
  const auto put = [&](auto x) {
    const size_t at = data.bytes.size();
    data.bytes.resize(at + sizeof x);
    std::memcpy(data.bytes.data() + at, &x, sizeof x);
  };
  switch (data.dtype) {
    case DType::I8:
      put(static_cast<int8_t>(integer));
      break;
    case DType::I32:
      put(static_cast<int32_t>(integer));
      break;
    case DType::I64:
      put(integer);
      break;
    case DType::Bool:
      put(static_cast<uint8_t>(integer != 0));
      break;
    default:
      put(static_cast<float>(number));
      break;
  }
}

bool fits(DType dtype, int64_t integer) {
  if (dtype == DType::I8) return integer == static_cast<int8_t>(integer);
  if (dtype == DType::I32) return integer == static_cast<int32_t>(integer);
  return true;
}

ValueId Elaborator::scalar_constant(Frame& f, DType dtype, double value, int64_t integer, Span at) {
  plan::ConstantData data;
  data.dtype = dtype;
  append_element(data, value, integer);
  return constant(f, std::move(data), at);
}

ValueId Elaborator::load_weight(Frame& f, const std::string& path, Span at) {
  Builder& b = *f.builder;
  const auto key = std::make_pair(b.region, path);
  if (const auto it = b.weights.find(key); it != b.weights.end()) return it->second;
  const OpId op = emit(f, Opcode::Weight, {}, {path}, {weight_types_.at(path)}, at);
  const ValueId id = b.fn->ops[op].results[0];
  b.weights[key] = id;
  return id;
}

}  // namespace skdsl::sema
