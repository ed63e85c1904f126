// expr — expressions: names, members, indices, strings
#include <algorithm>
#include <charconv>

#include "compiler/sema/elaborator.h"

namespace skdsl::sema {

using ast::Kind;
using ast::NodeId;
using plan::Dim;

namespace {
struct MethodName {
  std::string_view method, op;
};
constexpr MethodName kMethods[] = {{"sum", "reduce_sum"},
                                   {"max", "reduce_max"},
                                   {"mean", "reduce_mean"},
                                   {"any", "reduce_any"},
                                   {"all", "reduce_all"}};

std::string without_underscores(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (c != '_') out += c;
  return out;
}
}  // namespace

Value Elaborator::eval(Frame& f, NodeId node) {
  const ast::Ast& a = ast(f);
  if (!budget(a.span(node))) return {};
  switch (a.kind(node)) {
    case Kind::None:
      return Value::none();
    case Kind::Name:
      return eval_name(f, node);
    case Kind::Int: {
      const std::string text = without_underscores(a.text(node));
      int64_t value = 0;
      const bool hex = text.size() > 2 && text[1] == 'x';
      const char* begin = text.data() + (hex ? 2 : 0);
      const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value, hex ? 16 : 10);
      if (error != std::errc() || end != text.data() + text.size()) {
        report(a.span(node), diag::Id::NumberOutOfRange, a.text(node), "64 bits");
        return {};
      }
      return Value::integer(value);
    }
    case Kind::Float: {
      const std::string text = without_underscores(a.text(node));
      double value = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc() || end != text.data() + text.size()) {
        report(a.span(node), diag::Id::NumberOutOfRange, a.text(node), "a double");
        return {};
      }
      return Value::real(value);
    }
    case Kind::Bytes: {
      const std::string text = without_underscores(a.text(node));
      double value = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
      const double scale = unit == "KiB"   ? 1024.0
                           : unit == "MiB" ? 1048576.0
                           : unit == "GiB" ? 1073741824.0
                                           : 1.0;
      if (error != std::errc() || value * scale > 9e18) {
        report(a.span(node), diag::Id::NumberOutOfRange, a.text(node), "64 bits");
        return {};
      }
      return Value::integer(static_cast<int64_t>(value * scale));
    }
    case Kind::Bool:
      return Value::boolean(a.text(node) == "true");
    case Kind::Str:
      return eval_string(f, node);
    case Kind::Paren:
      return eval(f, a.child(node, 0));
    case Kind::List:
    case Kind::Tuple: {
      std::vector<Value> items;
      bool poison = false;
      for (const NodeId c : a.children(node)) {
        items.push_back(eval(f, c));
        poison |= items.back().poison();
      }
      if (poison) return {};
      return Value::list(std::move(items),
                         a.kind(node) == Kind::List ? Value::Kind::List : Value::Kind::Tuple);
    }
    case Kind::Comprehension:
      return eval_comprehension(f, node);
    case Kind::Unary:
      return eval_unary(f, node);
    case Kind::Binary:
      return eval_binary(f, node);
    case Kind::IfExpr:
      return eval_if(f, node);
    case Kind::Call:
      return eval_call(f, node);
    case Kind::Member:
      return eval_member(f, node);
    case Kind::Index:
      return eval_index(f, node);
    case Kind::Range: {
      bool dynamic = false;
      std::vector<Value> values = range_values(f, node, &dynamic, nullptr, nullptr);
      if (dynamic) {
        report(a.span(node), diag::Id::NotStatic, "a range used as a list", "a run-time integer");
        return {};
      }
      return Value::list(std::move(values));
    }
    default:
      break;
  }
  report(a.span(node), diag::Id::Misplaced, fmt::format("{} is no expression", ast::name(a.kind(node))));
  return {};
}

std::optional<Value> Elaborator::lookup(Frame& f, std::string_view name, Span use) {
  if (const auto it = f.locals.find(name); it != f.locals.end()) return it->second;
  if (f.self)
    if (const auto it = f.self->members.find(name); it != f.self->members.end()) return it->second;
  if (const NodeRef decl = modules_.find(f.module, name); decl.node) {
    Value v = Value::make(Value::Kind::Decl);
    v.decl = decl;
    return v;
  }
  if (f.module == 0) {
    if (config_.contains(name)) return config_value(name, use);
    if (config_groups_.contains(name)) return Value::named(Value::Kind::Group, std::string(name));
  }
  if (Value v = builtin_value(name); !v.poison()) return v;
  if (name == "act") return Value::of_dtype(act_);
  if (const auto dtype = plan::dtype_named(name); dtype && *dtype != plan::DType::Stored)
    return Value::of_dtype(*dtype);
  if (std::find(std::begin(kFunctions), std::end(kFunctions), name) != std::end(kFunctions) ||
      find_op(name) != Opcode::kCount)
    return Value::named(Value::Kind::Op, std::string(name));
  return {};
}

void Elaborator::report_unknown_name(Frame& f, std::string_view name, Span at) {
  // What is near comes first: of equally similar names the first is taken.
  std::vector<std::string> candidates;
  for (const auto& [local, value] : f.locals) candidates.push_back(local);
  if (f.self)
    for (const auto& [member, value] : f.self->members) candidates.push_back(member);
  for (std::string& declared : modules_.names(f.module)) candidates.push_back(std::move(declared));
  if (f.module == 0) candidates.insert(candidates.end(), config_order_.begin(), config_order_.end());
  candidates.insert(candidates.end(), std::begin(config::kBuiltinNames), std::end(config::kBuiltinNames));
  for (const OpInfo& op : kOps) candidates.emplace_back(op.name);
  for (const std::string_view fn : kFunctions) candidates.emplace_back(fn);
  for (const DTypeName& dtype : kDTypeNames) candidates.emplace_back(dtype.skdsl);
  candidates.emplace_back("act");
  if (known_unknown(f.module, name)) return;
  auto r = report(at, diag::Id::UnknownName, name);
  if (f.one_branch.contains(std::string(name))) {
    r.note(
        fmt::format("`{}` is set in one branch of an `if` on tensor values only; set it before the `if` or "
                    "in both branches",
                    name));
  } else if (const std::string home = modules_.shipped_home_of(name); !home.empty()) {
    r.help(fmt::format("the standard library has it: import \"{}\"", home));
  } else {
    suggest(r, f.module, at, name, diag::nearest(name, candidates));
  }
}

Value Elaborator::eval_name(Frame& f, NodeId node) {
  const ast::Ast& a = ast(f);
  if (auto v = lookup(f, a.text(node), a.span(node))) return *v;
  report_unknown_name(f, a.text(node), a.span(node));
  return {};
}

Value Elaborator::eval_string(Frame& f, NodeId node) {
  const ast::Ast& a = ast(f);
  std::string out;
  for (const NodeId part : a.children(node)) {
    if (a.kind(part) == Kind::StrPart) {
      out += a.text(part);
      continue;
    }
    const Value v = eval(f, part);
    if (v.poison()) return {};
    const bool run_time = v.is(Value::Kind::Int) && !v.dim.is_constant();
    switch (run_time ? Value::Kind::Ir : v.kind) {
      case Value::Kind::Int:
      case Value::Kind::Float:
      case Value::Kind::Bool:
      case Value::Kind::Str:
      case Value::Kind::DType:
        out += text_of(v);
        break;
      default:
        report(a.span(part), diag::Id::NotStatic, "a value in a string", describe(&f, v));
        return {};
    }
  }
  return Value::string(std::move(out));
}

Value Elaborator::eval_member(Frame& f, NodeId node) {
  const ast::Ast& a = ast(f);
  const Value base = eval(f, a.child(node, 0));
  if (base.poison()) return {};
  const std::string_view name = a.text(node);
  const auto unknown = [&](const std::string& what, const std::vector<std::string>& candidates,
                           std::optional<uint32_t> home = {}) {
    auto r = report(a.name_span(node), diag::Id::UnknownMember, what, name);
    const std::string near = diag::nearest(name, candidates);
    if (home)
      suggest(r, *home, a.name_span(node), name, near);
    else
      r.did_you_mean(a.name_span(node), near);
    return Value{};
  };
  switch (base.kind) {
    case Value::Kind::Instance: {
      Instance& i = *base.instance;
      if (const auto it = i.members.find(name); it != i.members.end()) return it->second;
      if (name == "prefill" || name == "decode" || name == "forward") {
        if (const NodeId phase = phase_node(i, name)) {
          Value v = Value::make(Value::Kind::Method);
          v.instance = &i;
          v.decl = {i.decl.module, phase};
          return v;
        }
      }
      std::vector<std::string> names{"prefill", "decode", "forward"};
      for (const auto& [member, value] : i.members) names.push_back(member);
      return unknown(fmt::format("layer `{}`", modules_[i.decl.module].ast.text(i.decl.node)), names,
                     i.decl.module);
    }
    case Value::Kind::Step: {
      size_t index = 0;
      std::vector<std::string> names;
#define SK_STEP_FIELD(field, dtype, dims, text) \
  if (name == #field) return base.items[index]; \
  ++index;                                      \
  names.emplace_back(#field);
#define SK_STEP_LIST(field, of)                                              \
  if (name == #field && index < base.items.size()) return base.items[index]; \
  ++index;                                                                   \
  if (name == #field) {                                                      \
    report(a.name_span(node), diag::Id::ListFieldOutsideCapture, name)       \
        .help("read `step." #of "`, an i32[B] tensor");                      \
    return {};                                                               \
  }
#include "runtime/plan/step_fields.def"
#undef SK_STEP_FIELD
#undef SK_STEP_LIST
      return unknown("Step", names);
    }
    case Value::Kind::Group: {
      const std::string key = base.text + "." + std::string(name);
      if (config_.contains(key)) return config_value(key, a.span(node));
      std::vector<std::string> names;
      for (const std::string& k : config_order_)
        if (k.starts_with(base.text + ".")) names.push_back(k.substr(base.text.size() + 1));
      return unknown(fmt::format("configuration group `{}`", base.text), names, 0);
    }
    case Value::Kind::Dict:
      return dict_member(base, name, a.name_span(node));
    case Value::Kind::Ir:
    case Value::Kind::Weight:
    case Value::Kind::State: {
      if (!f.builder) break;
      if (name == "shape" || name == "dtype") {
        const plan::ValueId id = to_ir(f, base, a.span(node));
        if (id == plan::kNone) return {};
        if (name == "dtype") return Value::of_dtype(type_of(f, id).dtype);
        std::vector<Value> dims;
        for (const Dim& d : type_of(f, id).dims) dims.push_back(Value::integer(d));
        return Value::list(std::move(dims));
      }
      std::string op(name);
      for (const MethodName& m : kMethods)
        if (m.method == name) op = m.op;
      if (find_op(op) == Opcode::kCount) {
        std::vector<std::string> names{"shape", "dtype"};
        for (const MethodName& m : kMethods) names.emplace_back(m.method);
        for (const OpInfo& o : kOps) names.emplace_back(o.name);
        return unknown("a tensor", names);
      }
      Value v = Value::named(Value::Kind::TensorMethod, op);
      v.items = std::vector<Value>{base};
      return v;
    }
    default:
      break;
  }
  report(a.name_span(node), diag::Id::UnknownMember, describe(&f, base), name);
  return {};
}

Value Elaborator::eval_index(Frame& f, NodeId node) {
  const ast::Ast& a = ast(f);
  Value base = eval(f, a.child(node, 0));
  if (base.poison()) return {};
  if (base.is(Value::Kind::Dict) && a.children(node).size() == 2) {
    const NodeId item = a.child(node, 1);
    const auto key = static_string(eval(f, item), a.span(item), "a key");
    return key ? dict_member(base, *key, a.span(item)) : Value{};
  }
  if (base.is(Value::Kind::List) || base.is(Value::Kind::Tuple)) {
    if (a.children(node).size() != 2 || a.kind(a.child(node, 1)) == Kind::Range) {
      report(a.span(node), diag::Id::BadValue, "a list takes one index");
      return {};
    }
    const NodeId item = a.child(node, 1);
    const auto i = constant_int(eval(f, item), a.span(item), "a list index");
    if (!i) return {};
    const auto n = static_cast<int64_t>(base.items.size());
    const int64_t at = *i < 0 ? *i + n : *i;
    if (at < 0 || at >= n) {
      report(a.span(item), diag::Id::IndexOutOfRange, *i, "a list", fmt::format("{} elements", n));
      return {};
    }
    return base.items[static_cast<size_t>(at)];
  }
  if (base.is(Value::Kind::Ir) && f.builder && type_of(f, base.id).kind == plan::Kind::HostList) {
    const NodeId item = a.child(node, 1);
    const auto i = as_dim(eval(f, item), a.span(item), "a list index");
    if (!i) return {};
    return emit_inferred(f, Opcode::HostElement, {base.id}, {*i, false}, a.span(node), {}, {});
  }
  if (f.builder && (base.is(Value::Kind::Ir) || base.is(Value::Kind::Weight) || base.is(Value::Kind::State)))
    return index_tensor(f, std::move(base), node);
  report(a.span(a.child(node, 0)), diag::Id::TypeMismatch, "what is indexed", describe(&f, base),
         "a tensor or a list");
  return {};
}

Value Elaborator::index_tensor(Frame& f, Value base, NodeId node) {
  const ast::Ast& a = ast(f);
  plan::ValueId x = to_ir(f, base, a.span(node));
  if (x == plan::kNone) return {};
  int64_t axis = 0;
  const auto items = a.children(node).subspan(1);
  if (items.size() > type_of(f, x).rank()) {
    report(a.span(node), diag::Id::BadValue,
           fmt::format("{} indices for a tensor of shape {}", items.size(), program_.text(type_of(f, x))));
    return {};
  }
  for (const NodeId item : items) {
    if (a.kind(item) == Kind::Range) {
      const NodeId lo = a.child(item, 0), hi = a.child(item, 1);
      if (!lo && !hi) {
        ++axis;
        continue;
      }
      const Dim size = type_of(f, x).dims[static_cast<size_t>(axis)];
      const auto begin = lo ? as_dim(eval(f, lo), a.span(lo), "a slice bound") : std::optional<Dim>(Dim(0));
      const auto end = hi ? as_dim(eval(f, hi), a.span(hi), "a slice bound") : std::optional<Dim>(size);
      if (!begin || !end) return {};
      const Value v = emit_inferred(f, Opcode::Slice, {x}, {Dim(axis), *begin, *end}, a.span(item),
                                    {a.span(a.child(node, 0))}, {});
      if (v.poison()) return {};
      x = v.id;
      ++axis;
      continue;
    }
    const Value index = eval(f, item);
    if (index.poison()) return {};
    Value v;
    if (index.is(Value::Kind::Int)) {
      v = emit_inferred(f, Opcode::Take, {x}, {Dim(axis), index.dim}, a.span(item),
                        {a.span(a.child(node, 0))}, {});
    } else if (is_tensor(f, index) && type_of(f, to_ir(f, index, a.span(item))).dtype == plan::DType::Bool) {
      if (axis != 0 || items.size() != 1) {
        report(a.span(item), diag::Id::BadValue, "a boolean mask must be the only index");
        return {};
      }
      v = emit_inferred(f, Opcode::MaskedSelect, {x, to_ir(f, index, a.span(item))}, {}, a.span(node),
                        {a.span(a.child(node, 0)), a.span(item)}, {});
    } else if (is_tensor(f, index)) {
      v = emit_inferred(f, Opcode::IndexSelect, {x, to_ir(f, index, a.span(item))}, {Dim(axis)}, a.span(node),
                        {a.span(a.child(node, 0)), a.span(item)}, {});
      ++axis;
    } else {
      report(a.span(item), diag::Id::TypeMismatch, "an index", describe(&f, index),
             "an integer, a range, an integer tensor or a boolean mask");
    }
    if (v.poison()) return {};
    x = v.id;
  }
  return Value::ir(x, a.span(node));
}

Value Elaborator::eval_comprehension(Frame& f, NodeId node) {
  const ast::Ast& a = ast(f);
  bool dynamic = false;
  const std::vector<Value> over = range_values(f, a.child(node, 1), &dynamic, nullptr, nullptr);
  if (dynamic) {
    report(a.span(a.child(node, 1)), diag::Id::NotStatic, "the range of a comprehension",
           "a run-time integer");
    return {};
  }
  const std::string var(a.text(node));
  const auto old = f.locals.find(var) == f.locals.end() ? std::optional<Value>() : f.locals[var];
  std::vector<Value> items;
  bool poison = false;
  for (const Value& v : over) {
    f.locals[var] = v;
    items.push_back(eval(f, a.child(node, 0)));
    poison |= items.back().poison();
    // The next one would fail for the same reason.
    if (poison || !budget(a.span(node))) break;
  }
  if (old)
    f.locals[var] = *old;
  else
    f.locals.erase(var);
  return poison ? Value{} : Value::list(std::move(items));
}

Value Elaborator::eval_if(Frame& f, NodeId node) {
  const ast::Ast& a = ast(f);
  const Value cond = eval(f, a.child(node, 0));
  if (cond.poison()) return {};
  if (cond.is(Value::Kind::Bool)) return eval(f, a.child(node, cond.flag ? 1 : 2));
  if (is_tensor(f, cond)) {
    report(a.span(a.child(node, 0)), diag::Id::NotStatic, "the condition of `if … then … else`",
           "tensor values")
        .help("choose elementwise with `where(cond, x, y)`, or use an `if` statement");
    return {};
  }
  if (cond.is(Value::Kind::Ir)) {
    const plan::ValueId c = to_ir(f, cond, a.span(node));
    const Value x = eval(f, a.child(node, 1)), y = eval(f, a.child(node, 2));
    if (x.poison() || y.poison()) return {};
    const plan::ValueId xi = to_ir(f, x, a.span(a.child(node, 1))),
                        yi = to_ir(f, y, a.span(a.child(node, 2)));
    if (xi == plan::kNone || yi == plan::kNone) return {};
    if (!type_of(f, xi).is_tensor() && !type_of(f, yi).is_tensor())
      return emit_inferred(f, Opcode::HostFn, {c, xi, yi}, {std::string("select")}, a.span(node), {}, {});
  }
  report(a.span(a.child(node, 0)), diag::Id::TypeMismatch, "the condition", describe(&f, cond),
         "a boolean known when compiled");
  return {};
}

Value Elaborator::eval_unary(Frame& f, NodeId node) {
  const ast::Ast& a = ast(f);
  const Value x = eval(f, a.child(node, 0));
  if (x.poison()) return {};
  const bool negate = a.text(node) == "-";
  if (negate && x.is(Value::Kind::Int)) return Value::integer(Dim(0) - x.dim);
  if (negate && x.is(Value::Kind::Float)) return Value::real(-x.number);
  if (!negate && x.is(Value::Kind::Bool)) return Value::boolean(!x.flag);
  if (f.builder && (x.is(Value::Kind::Ir) || x.is(Value::Kind::Weight) || x.is(Value::Kind::State))) {
    const plan::ValueId id = to_ir(f, x, a.span(node));
    if (id == plan::kNone) return {};
    if (type_of(f, id).is_tensor())
      return emit_inferred(f, negate ? Opcode::Neg : Opcode::LogicalNot, {id}, {}, a.span(node),
                           {a.span(a.child(node, 0))}, {});
    if (negate ? type_of(f, id).kind == plan::Kind::HostFloat : type_of(f, id).kind == plan::Kind::HostBool)
      return emit_inferred(f, Opcode::HostFn, {id}, {std::string(negate ? "neg" : "not")}, a.span(node), {},
                           {});
  }
  report(a.span(a.child(node, 0)), diag::Id::TypeMismatch, fmt::format("the operand of `{}`", a.text(node)),
         describe(&f, x), negate ? "a number or a tensor" : "a boolean");
  return {};
}

Value Elaborator::eval_short_circuit(Frame& f, NodeId node) {
  const ast::Ast& a = ast(f);
  const bool is_and = a.text(node) == "and";
  const NodeId ln = a.child(node, 0), rn = a.child(node, 1);
  const Value l = eval(f, ln);
  if (l.poison()) return {};
  if (l.is(Value::Kind::Bool) && l.flag != is_and) return l;
  const Value r = eval(f, rn);
  if (r.poison()) return {};
  if (l.is(Value::Kind::Bool)) {
    if (r.is(Value::Kind::Bool) || r.is(Value::Kind::Ir)) return r;
  } else if (f.builder && l.is(Value::Kind::Ir)) {
    if (is_tensor(f, l)) {
      const plan::ValueId x = to_ir(f, l, a.span(ln)), y = to_tensor(f, r, a.span(rn), plan::DType::Bool);
      if (x == plan::kNone || y == plan::kNone) return {};
      return emit_inferred(f, is_and ? Opcode::LogicalAnd : Opcode::LogicalOr, {x, y}, {}, a.span(node),
                           {a.span(ln), a.span(rn)}, {});
    }
    return host_binary(f, a.text(node), l, r, a.span(node));
  }
  const bool left_bad = !l.is(Value::Kind::Bool) && !l.is(Value::Kind::Ir);
  report(a.span(left_bad ? ln : rn), diag::Id::TypeMismatch, fmt::format("an operand of `{}`", a.text(node)),
         describe(&f, left_bad ? l : r), "a boolean");
  return {};
}

Value Elaborator::eval_binary(Frame& f, NodeId node) {
  const ast::Ast& a = ast(f);
  const std::string_view op = a.text(node);
  if (op == "and" || op == "or") return eval_short_circuit(f, node);
  // A chain a + b + c … is deep on its left side only: walk it with a list instead of the call stack.
  std::vector<NodeId> chain{node};
  while (a.kind(a.child(chain.back(), 0)) == Kind::Binary) {
    const NodeId left = a.child(chain.back(), 0);
    if (a.text(left) == "and" || a.text(left) == "or") break;
    chain.push_back(left);
  }
  Value left = eval(f, a.child(chain.back(), 0));
  for (size_t i = chain.size(); i-- > 0;) {
    const NodeId n = chain[i];
    Value right = eval(f, a.child(n, 1));
    if (left.poison() || right.poison())
      left = {};
    else
      left = binary(f, a.text(n), std::move(left), std::move(right), a.span(n), a.span(a.child(n, 0)),
                    a.span(a.child(n, 1)));
  }
  return left;
}

}  // namespace skdsl::sema
