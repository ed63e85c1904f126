// types — declared types against values; symbols in sizes are bound here
#include <cctype>

#include "compiler/sema/elaborator.h"

namespace skdsl::sema {

using ast::Kind;
using ast::NodeId;
using plan::Dim;
using plan::DType;
using plan::Type;

// T, B, W, `n`: one or two letters, or a leading capital. Longer small words are names that must exist, so
// that a typo in a size is found.
bool Elaborator::is_symbol_name(std::string_view name) const {
  return name.size() <= 2 || std::isupper(static_cast<unsigned char>(name[0]));
}

std::optional<DType> Elaborator::dtype_named(Frame& f, NodeId type) {
  const ast::Ast& a = ast(f);
  const std::string_view word = a.text(type);
  if (word.empty()) return DType::Stored;
  const auto v = lookup(f, word, a.span(type));
  if (v && v->is(Value::Kind::DType)) return v->dtype;
  if (v && v->poison()) return {};
  auto r = report(a.name_span(type), diag::Id::UnknownType, word);
  std::vector<std::string> names;
  if (f.self)
    for (const auto& [member, value] : f.self->members)
      if (value.is(Value::Kind::DType)) names.push_back(member);
  for (const char* other : {"act", "int", "float", "bool", "str", "dict", "dtype", "Step"})
    names.emplace_back(other);
  for (const DTypeName& n : kDTypeNames) names.emplace_back(n.skdsl);
  const std::string near = diag::nearest(word, names);
  // The name span of a type with sizes is its first word.
  const Span name = a.name_span(type);
  suggest(r, f.module, {name.file, name.begin, name.begin + static_cast<uint32_t>(word.size())}, word, near);
  return {};
}

std::string Elaborator::type_text(Frame& f, NodeId type) {
  return std::string(diags_.sources().text(span(f, type)));
}

std::optional<Type> Elaborator::declared_tensor(Frame& f, NodeId type, bool bind_symbols, DType untyped) {
  const ast::Ast& a = ast(f);
  if (a.kind(type) != Kind::TypeTensor) {
    report(a.span(type), diag::Id::TypeMismatch, "this type", type_text(f, type),
           "a tensor type such as act[T, 64]");
    return {};
  }
  auto dtype = dtype_named(f, type);
  if (!dtype) return {};
  if (*dtype == DType::Stored) dtype = untyped;
  std::vector<Dim> dims;
  bool ok = true;
  for (const NodeId d : a.children(type)) {
    if (bind_symbols && a.kind(d) == Kind::Name && is_symbol_name(a.text(d)) &&
        !lookup(f, a.text(d), a.span(d))) {
      const Dim symbol = Dim::symbol(program_.symbol(a.text(d)));
      f.locals[std::string(a.text(d))] = Value::integer(symbol);
      dims.push_back(symbol);
      continue;
    }
    const size_t before = diags_.all().size();
    const auto dim = as_dim(eval(f, d), a.span(d), "a size");
    if (!dim && bind_symbols) suggest_alone(f, d, before);
    if (dim && dim->is_constant() && dim->constant() < 0) {
      report(a.span(d), diag::Id::BadValue, fmt::format("size {} is negative", dim->constant()));
      ok = false;
    } else if (dim) {
      dims.push_back(*dim);
    } else {
      ok = false;
    }
  }
  if (!ok) return {};
  return Type::tensor(*dtype, std::move(dims));
}

bool Elaborator::unify(Frame& f, NodeId type, Value& v, Span at,
                       const std::function<void(const std::string&)>& mismatch) {
  using K = Value::Kind;
  if (v.poison() || !type) return !v.poison();
  const ast::Ast& a = ast(f);
  const auto bad = [&] {
    misfit_type_ = type;
    misfit_value_ = v;
    mismatch(type_text(f, type));
    return false;
  };
  switch (a.kind(type)) {
    case Kind::TypeName: {
      const std::string_view word = a.text(type);
      if (word == "int") {
        if (v.is(K::Int)) return true;
        if (v.is(K::Float)) {
          const auto d = as_dim(v, at, "this value");
          if (d) v = Value::integer(*d);
          return d.has_value();
        }
        return bad();
      }
      if (word == "float") {
        if (v.is(K::Float)) return true;
        if (v.is(K::Int) && v.dim.is_constant()) {
          v = Value::real(static_cast<double>(v.dim.constant()));
          return true;
        }
        if (v.is(K::Ir) && f.builder && type_of(f, v.id).kind == plan::Kind::HostFloat) return true;
        return bad();
      }
      if (word == "bool")
        return v.is(K::Bool) || (v.is(K::Ir) && f.builder && type_of(f, v.id).kind == plan::Kind::HostBool)
                   ? true
                   : bad();
      if (word == "str") return v.is(K::Str) ? true : bad();
      if (word == "dict") return v.is(K::Dict) ? true : bad();
      if (word == "dtype") return v.is(K::DType) ? true : bad();
      if (word == "Step") return v.is(K::Step) ? true : bad();
      // A bare dtype name is a scalar tensor of it.
      const auto dtype = dtype_named(f, type);
      if (!dtype) return false;
      if (v.is(K::Ir) && f.builder && type_of(f, v.id) == Type::tensor(*dtype, {})) return true;
      return bad();
    }
    case Kind::TypeList: {
      if (v.is(K::Ir) && f.builder && type_of(f, v.id).kind == plan::Kind::HostList) return true;
      if (!v.is(K::List)) return bad();
      for (Value& item : v.items.edit())
        if (!unify(f, a.child(type, 0), item, at, mismatch)) return false;
      return true;
    }
    case Kind::TypeTuple: {
      if (!v.is(K::Tuple) || v.items.size() != a.children(type).size()) return bad();
      for (size_t i = 0; i < v.items.size(); ++i)
        if (!unify(f, a.child(type, i), v.items.edit()[i], at, mismatch)) return false;
      return true;
    }
    case Kind::TypeTensor:
      break;
    default:
      return bad();
  }

  if (!f.builder || (!is_tensor(f, v) && !v.is(K::List))) return bad();
  const auto dtype = dtype_named(f, type);
  if (!dtype) return false;
  const plan::ValueId id = to_tensor(f, v, at, *dtype);
  if (id == plan::kNone) return false;
  const Type actual = type_of(f, id);
  const auto dims = a.children(type);
  if ((actual.dtype != *dtype && *dtype != DType::Stored) || actual.rank() != dims.size()) return bad();
  std::vector<ops::DeferredCheck> checks;
  for (size_t i = 0; i < dims.size(); ++i) {
    const NodeId d = dims[i];
    if (a.kind(d) == Kind::Name && is_symbol_name(a.text(d)) && !lookup(f, a.text(d), a.span(d))) {
      f.locals[std::string(a.text(d))] = Value::integer(actual.dims[i]);
      continue;
    }
    const size_t before = diags_.all().size();
    const auto want = as_dim(eval(f, d), a.span(d), "a size");
    if (!want) suggest_alone(f, d, before);
    if (!want) return false;
    if (*want == actual.dims[i]) continue;
    bool unknown = false;
    for (const Dim* x : {&*want, &actual.dims[i]})
      for (const plan::SymbolId s : x->symbols()) unknown |= unbacked_.contains(s);
    if (!unknown) {
      // Say both the declared words and what they amount to.
      std::string sizes;
      for (size_t k = 0; k < dims.size(); ++k) {
        const auto it = a.kind(dims[k]) == Kind::Name ? lookup(f, a.text(dims[k]), a.span(dims[k]))
                                                      : std::optional<Value>(eval(f, dims[k]));
        sizes +=
            (k ? ", " : "") + (it && it->is(K::Int) ? program_.text(it->dim)
                                                    : std::string(diags_.sources().text(a.span(dims[k]))));
      }
      const std::string expected = fmt::format("{}[{}]", plan::name(*dtype), sizes);
      const std::string written = type_text(f, type);
      misfit_type_ = type;
      misfit_value_ = v;
      mismatch(expected == written ? written : fmt::format("{} (`{}`)", expected, written));
      return false;
    }
    checks.push_back({actual.dims[i], *want, fmt::format("size {} of {}", i, type_text(f, type))});
  }
  emit_checks(f, checks, at);
  v = Value::ir(id, v.origin);
  return true;
}

}  // namespace skdsl::sema
