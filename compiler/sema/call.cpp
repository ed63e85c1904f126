// call — operators, functions, layers and phases being called
#include <algorithm>

#include "compiler/sema/elaborator.h"
#include "runtime/base/assert.h"

namespace skdsl::sema {

using ast::Kind;
using ast::NodeId;
using plan::Dim;
using plan::Type;
using plan::ValueId;

namespace {
constexpr int kMaxCallDepth = 200;

/// Operators that a source text cannot call by name: statements or the elaborator itself make them.
bool callable(const OpInfo& op) {
  static constexpr std::string_view kStatements[] = {"record", "wait", "prefetch", "gears", "tap", "scope_begin", "scope_end"};
  return op.category != "structure" && std::find(std::begin(kStatements), std::end(kStatements), op.name) == std::end(kStatements);
}
}  // namespace

std::vector<CallArg> Elaborator::eval_args(Frame& f, NodeId call) {
  const ast::Ast& a = ast(f);
  std::vector<CallArg> args;
  for (const NodeId node : a.children(call).subspan(1)) {
    const NodeId value = a.child(node, 0);
    args.push_back({std::string(a.text(node)), eval(f, value), a.span(value), a.name_span(node)});
  }
  return args;
}

Value Elaborator::eval_call(Frame& f, NodeId node) {
  const ast::Ast& a = ast(f);
  const NodeId callee_node = a.child(node, 0);
  const Span at = a.span(node);
  Value callee;
  if (a.kind(callee_node) == Kind::Name) {
    auto found = lookup(f, a.text(callee_node), a.span(callee_node));
    if (!found) {
      eval_args(f, node);
      const std::string_view name = a.text(callee_node);
      auto r = report(a.span(callee_node), diag::Id::UnknownOp, name);
      std::vector<std::string> candidates = modules_.names(f.module);
      for (const OpInfo& op : kOps)
        if (callable(op)) candidates.emplace_back(op.name);
      if (f.self)
        for (const auto& [member, value] : f.self->members) candidates.push_back(member);
      if (const std::string home = modules_.shipped_home_of(name); !home.empty())
        r.help(fmt::format("the standard library has it: import \"{}\"", home));
      else if (const std::string near = diag::nearest(name, candidates); !near.empty())
        r.help(fmt::format("did you mean `{}`?", near));
      return {};
    }
    callee = std::move(*found);
  } else {
    callee = eval(f, callee_node);
  }
  std::vector<CallArg> args = eval_args(f, node);
  if (callee.poison()) return {};
  const bool poison = std::any_of(args.begin(), args.end(), [](const CallArg& x) { return x.value.poison(); });

  switch (callee.kind) {
    case Value::Kind::Op: {
      if (poison) return {};
      const Opcode op = find_op(callee.text);
      if (callee.text == "print") return f.builder ? call_print(f, std::move(args), at) : Value{};
      static constexpr std::string_view kBuiltins[] = {"sqrt", "min", "floordiv", "ceildiv", "len", "int", "float", "exp", "log", "Step", "str"};
      if (std::find(std::begin(kBuiltins), std::end(kBuiltins), callee.text) != std::end(kBuiltins)) return builtin_function(f, callee.text, std::move(args), at);
      return call_op(f, op, std::move(args), at);
    }
    case Value::Kind::DType:  // f32(x) is cast(x, f32)
      if (poison) return {};
      args.push_back({"dtype", callee, a.span(callee_node), {}});
      return call_op(f, Opcode::Cast, std::move(args), at);
    case Value::Kind::TensorMethod: {
      if (poison) return {};
      args.insert(args.begin(), CallArg{"", callee.items[0], a.span(a.kind(callee_node) == Kind::Member ? a.child(callee_node, 0) : callee_node), {}});
      return call_op(f, find_op(callee.text), std::move(args), at);
    }
    case Value::Kind::Instance: {
      if (poison) return {};
      const NodeId phase = resolve_phase(f, callee.instance, at);
      return phase ? call_instance(f, callee.instance, phase, std::move(args), at) : Value{};
    }
    case Value::Kind::Method: {
      if (poison) return {};
      const ast::Ast& home = modules_[callee.decl.module].ast;
      if (home.kind(callee.decl.node) == Kind::Fn) return call_function(f, callee.decl, callee.instance, std::move(args), at);
      const std::string_view word = home.text(callee.decl.node);
      if (f.builder && f.builder->phase != plan::Phase::None && word != "forward" && word != plan::name(f.builder->phase)) {
        report(a.name_span(callee_node), diag::Id::WrongPhase, word, plan::name(f.builder->phase)).help("call the layer without a phase: `layer(x)` takes the phase being built");
        return {};
      }
      return call_instance(f, callee.instance, callee.decl.node, std::move(args), at);
    }
    case Value::Kind::Decl: {
      if (poison) return {};
      const ast::Ast& home = modules_[callee.decl.module].ast;
      switch (home.kind(callee.decl.node)) {
        case Kind::Fn: return call_function(f, callee.decl, nullptr, std::move(args), at);
        case Kind::Layer:
        case Kind::Model: {
          if (!f.is_script) {
            report(at, diag::Id::Misplaced, fmt::format("layer `{}` is made while a phase runs", home.text(callee.decl.node))).help("make it a member of the layer and call the member");
            return {};
          }
          Value v = Value::make(Value::Kind::Instance);
          v.instance = instantiate(f, callee.decl, std::move(args), unique_name(std::string(home.text(callee.decl.node))), "", at);
          return v.instance ? v : Value{};
        }
        case Kind::Extern:
          report(at, diag::Id::BadValue, fmt::format("`{}` is an extern operator: it has a shape rule and no kernel here", home.text(callee.decl.node)))
              .help("write it as a `fn` of operators from `skdsl ops` to run it");
          return {};
        default: break;
      }
      break;
    }
    default: break;
  }
  report(a.span(callee_node), diag::Id::TypeMismatch, "what is called", describe(&f, callee), "an operator, a function, a layer or a phase");
  return {};
}

// ---- operators

std::optional<plan::Attr> Elaborator::to_attr(Frame& f, const OpInfo& op, const Param& p, const Value& v, Span at) {
  const std::string what = fmt::format("`{}` of `{}`", p.name, op.name);
  switch (p.attr) {
    case AttrType::Int: {
      const auto d = as_dim(v, at, what);
      return d ? std::optional<plan::Attr>(*d) : std::nullopt;
    }
    case AttrType::Float: {
      const auto x = as_number(v, at, what);
      return x ? std::optional<plan::Attr>(*x) : std::nullopt;
    }
    case AttrType::Bool: {
      const auto b = static_bool(v, at, what);
      return b ? std::optional<plan::Attr>(*b) : std::nullopt;
    }
    case AttrType::Str: {
      const auto s = static_string(v, at, what);
      return s ? std::optional<plan::Attr>(*s) : std::nullopt;
    }
    case AttrType::DType:
      if (v.is(Value::Kind::DType)) return v.dtype;
      report(at, diag::Id::TypeMismatch, what, describe(&f, v), "a dtype such as f32");
      return {};
    case AttrType::IntList: {
      if (!v.is(Value::Kind::List)) {
        report(at, diag::Id::TypeMismatch, what, describe(&f, v), "a list of integers");
        return {};
      }
      std::vector<Dim> dims;
      for (const Value& item : v.items) {
        const auto d = as_dim(item, at, what);
        if (!d) return {};
        dims.push_back(*d);
      }
      return dims;
    }
    case AttrType::Choice: {
      const auto s = static_string(v, at, what);
      if (!s) return {};
      std::vector<std::string> choices;
      for (std::string_view rest = p.choices; !rest.empty();) {
        const size_t bar = rest.find('|');
        choices.emplace_back(rest.substr(0, bar));
        rest = bar == std::string_view::npos ? std::string_view{} : rest.substr(bar + 1);
      }
      if (std::find(choices.begin(), choices.end(), *s) != choices.end()) return *s;
      auto r = report(at, diag::Id::BadValue, fmt::format("{} is \"{}\"", what, *s));
      r.note(fmt::format("it can be {}", fmt::join(choices, ", ")));
      if (const std::string near = diag::nearest(*s, choices); !near.empty()) r.help(fmt::format("did you mean \"{}\"?", near));
      return {};
    }
  }
  return {};
}

namespace {
/// The table's default of an attribute.
plan::Attr default_attr(const Param& p) {
  const std::string text(p.default_text);
  if (text == "none") return std::monostate{};
  switch (p.attr) {
    case AttrType::Int: return Dim(std::stoll(text));
    case AttrType::Float: return std::stod(text);
    case AttrType::Bool: return text == "true";
    case AttrType::DType: return *plan::dtype_named(text);
    default: return text;
  }
}
}  // namespace

Value Elaborator::call_op(Frame& f, Opcode code, std::vector<CallArg> args, Span at) {
  const OpInfo& op = info(code);
  if (!callable(op)) {
    report(at, diag::Id::UnknownOp, op.name);
    return {};
  }
  if (!f.builder) {
    report(at, diag::Id::NotStatic, fmt::format("`{}` here", op.name), "a tensor");
    return {};
  }
  const bool variadic = op.n_operands() > 0 && operand_param(op, op.n_operands() - 1).variadic;
  std::vector<const CallArg*> given(op.params.size(), nullptr);
  std::vector<const CallArg*> rest;
  size_t position = 0;
  bool ok = true;
  for (const CallArg& a : args) {
    if (a.name.empty()) {
      if (variadic) {
        rest.push_back(&a);
      } else if (position >= op.params.size()) {
        report(a.span, diag::Id::TooManyArguments, fmt::format("`{}`", op.name), op.params.size(), args.size());
        return {};
      } else {
        given[position++] = &a;
      }
      continue;
    }
    const auto* const p = std::find_if(op.params.begin(), op.params.end(), [&](const Param& x) { return x.name == a.name; });
    if (p == op.params.end()) {
      auto r = report(a.name_span, diag::Id::UnknownArgument, fmt::format("`{}`", op.name), a.name);
      std::vector<std::string> names;
      for (const Param& x : op.params) names.emplace_back(x.name);
      if (const std::string near = diag::nearest(a.name, names); !near.empty())
        r.help(fmt::format("did you mean `{}`?", near));
      else
        r.note(fmt::format("its parameters are {}", fmt::join(names, ", ")));
      ok = false;
      continue;
    }
    const auto index = static_cast<size_t>(p - op.params.begin());
    if (given[index]) {
      report(a.name_span ? a.name_span : a.span, diag::Id::RepeatedArgument, a.name);
      ok = false;
    }
    given[index] = &a;
  }
  if (!ok) return {};

  std::vector<ValueId> operands;
  std::vector<plan::Attr> attrs;
  std::vector<Span> operand_spans, attr_spans;
  // Numbers and lists beside tensors take the dtype of the first tensor operand.
  plan::DType like = plan::DType::None;
  for (size_t i = 0; i < op.params.size(); ++i)
    if (given[i] && !op.params[i].is_attr && is_tensor(f, given[i]->value) && like == plan::DType::None) {
      const ValueId id = to_ir(f, given[i]->value, given[i]->span);
      if (id == plan::kNone) return {};
      like = type_of(f, id).dtype;
    }
  for (size_t i = 0; i < op.params.size(); ++i) {
    const Param& p = op.params[i];
    const CallArg* a = given[i];
    if (p.variadic) {
      std::vector<CallArg> flat;
      for (const CallArg* x : rest) {
        if (x->value.is(Value::Kind::List) || x->value.is(Value::Kind::Tuple))
          for (const Value& item : x->value.items) flat.push_back({"", item, x->span, {}});
        else
          flat.push_back(*x);
      }
      for (const CallArg& x : flat) {
        const ValueId id = to_tensor(f, x.value, x.span);
        if (id == plan::kNone) return {};
        operands.push_back(id);
        operand_spans.push_back(x.span);
      }
      continue;
    }
    if (p.is_attr) {
      if (!a || (a->value.is(Value::Kind::None) && p.default_text == "none")) {
        if (p.default_text.empty()) {
          report(at, diag::Id::MissingArgument, fmt::format("`{}`", op.name), p.name);
          return {};
        }
        attrs.push_back(default_attr(p));
        attr_spans.emplace_back();
        continue;
      }
      auto attr = to_attr(f, op, p, a->value, a->span);
      if (!attr) return {};
      attrs.push_back(std::move(*attr));
      attr_spans.push_back(a->span);
      continue;
    }
    if (!a || (p.optional && a->value.is(Value::Kind::None))) {
      if (!p.optional) {
        report(at, diag::Id::MissingArgument, fmt::format("`{}`", op.name), p.name);
        return {};
      }
      operands.push_back(plan::kNone);
      operand_spans.emplace_back();
      continue;
    }
    ValueId id = plan::kNone;
    if (p.types == Types::HostAny)
      id = to_ir(f, a->value, a->span);
    else
      id = to_tensor(f, a->value, a->span,
                     p.types == Types::Index || p.types == Types::Int ? plan::DType::I32 : p.types == Types::Bool ? plan::DType::Bool : like);
    if (id == plan::kNone) return {};
    operands.push_back(id);
    operand_spans.push_back(a->span);
  }
  if (op.has(kInPlace) && given[0] && !given[0]->value.is(Value::Kind::State)) {
    report(given[0]->span, diag::Id::TypeMismatch, fmt::format("`{}` of `{}`", op.params[0].name, op.name), describe(&f, given[0]->value), "a state; only states are written in place");
    return {};
  }
  return emit_inferred(f, code, std::move(operands), std::move(attrs), at, std::move(operand_spans), std::move(attr_spans));
}

Value Elaborator::call_print(Frame& f, std::vector<CallArg> args, Span at) {
  // Values known now become text; the others are filled in by the run at {}.
  std::string format;
  std::vector<ValueId> operands;
  for (const CallArg& a : args) {
    if (!format.empty()) format += ' ';
    if (a.value.is(Value::Kind::Ir) || a.value.is(Value::Kind::Weight) || a.value.is(Value::Kind::State) || (a.value.is(Value::Kind::Int) && !a.value.dim.is_constant())) {
      const ValueId id = to_ir(f, a.value, a.span);
      if (id == plan::kNone) return {};
      operands.push_back(id);
      format += "{}";
    } else {
      for (const char c : text_of(a.value)) format += c == '{' ? "{{" : c == '}' ? "}}" : std::string(1, c);
    }
  }
  if (f.builder->const_only) {
    report(at, diag::Id::ConstNotPure, f.builder->const_name, "`print`");
    return {};
  }
  emit(f, Opcode::Print, std::move(operands), {format}, {}, at);
  return Value::none();
}

// ---- functions and layers

std::optional<std::vector<std::optional<CallArg>>> Elaborator::match_params(const ast::Ast& a, NodeId params, std::vector<CallArg> args, Span at, const std::string& what) {
  const auto declared = a.children(params);
  std::vector<std::optional<CallArg>> out(declared.size());
  size_t position = 0;
  bool ok = true;
  const size_t n_given = args.size();
  for (CallArg& arg : args) {
    size_t index = 0;
    if (arg.name.empty()) {
      if (position >= declared.size()) {
        report(arg.span, diag::Id::TooManyArguments, what, declared.size(), n_given);
        return {};
      }
      index = position++;
    } else {
      while (index < declared.size() && a.text(declared[index]) != arg.name) ++index;
      if (index == declared.size()) {
        auto r = report(arg.name_span, diag::Id::UnknownArgument, what, arg.name);
        std::vector<std::string> names;
        for (const NodeId p : declared) names.emplace_back(a.text(p));
        if (const std::string near = diag::nearest(arg.name, names); !near.empty()) r.help(fmt::format("did you mean `{}`?", near));
        ok = false;
        continue;
      }
    }
    if (out[index]) {
      report(arg.name_span ? arg.name_span : arg.span, diag::Id::RepeatedArgument, a.text(declared[index]));
      ok = false;
      continue;
    }
    out[index] = std::move(arg);
  }
  (void)at;
  if (!ok) return {};
  return out;
}

bool Elaborator::bind_param(Frame& callee, NodeId param, std::optional<CallArg> arg, Span at, const std::string& what, bool from_config) {
  const ast::Ast& a = ast(callee);
  const std::string name(a.text(param));
  const NodeId type = a.child(param, 0), initial = a.child(param, 1);
  Value v;
  Span where = at;
  if (arg) {
    v = std::move(arg->value);
    where = arg->span;
  } else if (initial) {
    v = eval(callee, initial);
    where = a.span(initial);
  } else if (from_config && config_.contains(name)) {
    v = config_value(name, at);
  } else {
    auto r = report(at, diag::Id::MissingArgument, what, name);
    if (from_config) r.note(fmt::format("it has no default, and the configuration has no key `{}` either", name));
    return false;
  }
  const bool ok = unify(callee, type, v, where, [&](const std::string& expected) {
    auto r = report(where, diag::Id::ArgumentShape, name, what, describe(&callee, v), expected);
    if (v.origin && v.origin != where) r.note(v.origin, "the value comes from here");
    r.note(a.span(param), "declared here");
  });
  callee.locals[name] = ok ? v : Value{};
  return ok;
}

bool Elaborator::check_result(Frame& callee, NodeId result_type, NodeId decl, const std::string& what) {
  const ast::Ast& a = ast(callee);
  if (!result_type) return !callee.result.poison();
  if (!callee.returned) {
    report(a.name_span(decl), diag::Id::MissingReturn, what, type_text(callee, result_type));
    return false;
  }
  const Value before = callee.result;
  return unify(callee, result_type, callee.result, before.origin ? before.origin : a.span(result_type), [&](const std::string& expected) {
    std::string found = describe(&callee, before);
    if (before.is(Value::Kind::Tuple)) {
      found.clear();
      for (const Value& item : before.items) found += (found.empty() ? "(" : ", ") + describe(&callee, item);
      found += ")";
    }
    report(before.origin ? before.origin : a.span(decl), diag::Id::ResultShape, what, found, expected).note(a.span(result_type), "declared here");
  });
}

Value Elaborator::call_function(Frame& f, NodeRef decl, Instance* self, std::vector<CallArg> args, Span at) {
  const ast::Ast& a = modules_[decl.module].ast;
  const std::string what = fmt::format("`{}`", a.text(decl.node));
  if (call_depth_ >= kMaxCallDepth) {
    report(at, diag::Id::RecursiveCall, what);
    return {};
  }
  auto matched = match_params(a, a.child(decl.node, 0), std::move(args), at, what);
  if (!matched) return {};
  Frame callee;
  callee.module = decl.module;
  callee.builder = f.builder;
  callee.self = self;
  callee.is_script = f.is_script && !self;
  callee.dynamic_depth = f.builder ? f.builder->dynamic_depth : 0;
  bool ok = true;
  const auto params = a.children(a.child(decl.node, 0));
  for (size_t i = 0; i < params.size(); ++i) ok &= bind_param(callee, params[i], std::move((*matched)[i]), at, what, false);
  if (!ok) return {};
  ++call_depth_;
  exec_block(callee, a.child(decl.node, 2));
  --call_depth_;
  if (!check_result(callee, a.child(decl.node, 1), decl.node, what)) return {};
  return callee.result;
}

NodeId Elaborator::phase_node(const Instance& instance, std::string_view word) const {
  const ast::Ast& a = modules_[instance.decl.module].ast;
  for (const NodeId m : a.children(instance.decl.node))
    if (a.kind(m) == Kind::PhaseDecl && a.text(m) == word) return m;
  return 0;
}

NodeId Elaborator::resolve_phase(Frame& f, Instance* callee, Span at) {
  if (const NodeId n = phase_node(*callee, "forward")) return n;
  const std::string layer(modules_[callee->decl.module].ast.text(callee->decl.node));
  const plan::Phase phase = f.builder ? f.builder->phase : plan::Phase::None;
  if (phase == plan::Phase::None) {
    report(at, diag::Id::NoPhase, fmt::format("layer `{}`", layer), "forward").help("name the phase: `.prefill(…)` or `.decode(…)`");
    return 0;
  }
  if (const NodeId n = phase_node(*callee, plan::name(phase))) return n;
  report(at, diag::Id::NoPhase, fmt::format("layer `{}`", layer), plan::name(phase)).help("give it a `forward`, which serves both phases");
  return 0;
}

std::string Elaborator::unique_name(const std::string& base) {
  const int n = name_counts_[base]++;
  return n == 0 ? base : fmt::format("{}#{}", base, n);
}

Value Elaborator::call_instance(Frame& f, Instance* callee, NodeId phase, std::vector<CallArg> args, Span at) {
  const ast::Ast& a = modules_[callee->decl.module].ast;
  const std::string_view word = a.text(phase);
  const std::string what = fmt::format("`{}` of `{}`", word, a.text(callee->decl.node));
  if (!f.builder) {
    report(at, diag::Id::NotStatic, "this call", "a tensor");
    return {};
  }
  if (f.builder->const_only) {
    report(at, diag::Id::ConstNotPure, f.builder->const_name, fmt::format("the layer `{}`", a.text(callee->decl.node)));
    return {};
  }
  if (call_depth_ >= kMaxCallDepth) {
    report(at, diag::Id::RecursiveCall, what);
    return {};
  }
  auto matched = match_params(a, a.child(phase, 0), std::move(args), at, what);
  if (!matched) return {};

  // A phase that a script names is a function of its own, shared by calls with equal types; other calls are inlined.
  const bool root = f.builder->phase == plan::Phase::None && word != "forward";
  const plan::Phase built = !root ? f.builder->phase : word == "decode" ? plan::Phase::Decode : plan::Phase::Prefill;
  const auto params = a.children(a.child(phase, 0));
  std::vector<ValueId> operands;
  std::string key = fmt::format("{}|{}", callee->path, word);
  for (auto& arg : *matched) {
    if (!arg) continue;
    Value& v = arg->value;
    const auto add = [&](ValueId id) {
      operands.push_back(id);
      key += "|" + program_.text(type_of(f, id));
    };
    if (v.is(Value::Kind::List)) {  // a literal tensor
      const ValueId id = to_tensor(f, v, arg->span);
      if (id == plan::kNone) return {};
      v = Value::ir(id, arg->span);
    }
    if (v.is(Value::Kind::Ir)) {
      add(v.id);
    } else if (v.is(Value::Kind::State)) {
      const ValueId id = to_ir(f, v, arg->span);
      v = Value::ir(id, arg->span);
      add(id);
    } else if (v.is(Value::Kind::Step)) {
      for (const Value& field : v.items) add(field.id);
    } else {
      key += "|" + text_of(v);
    }
  }
  std::vector<Type> result_types;
  std::string name;
  bool tuple = false;
  const auto cached = root ? phase_functions_.find(key) : phase_functions_.end();
  if (cached != phase_functions_.end()) {
    name = cached->second;
    const plan::Function* fn = program_.find(name);
    result_types = fn->results;
    tuple = result_types.size() != 1;
  } else {
    name = unique_name(root ? callee->path + "." + std::string(word) : join_path(callee->path, std::string(word)));
    plan::Function& fn = new_function(name, root ? built : plan::Phase::None, a.span(phase));
    Builder b;
    b.fn = &fn;
    b.region = fn.body;
    b.phase = built;
    Frame inner;
    inner.module = callee->decl.module;
    inner.builder = &b;
    inner.self = callee;
    inner.phase_word = word;
    const auto add_param = [&](ValueId outer, const std::string& param_name, Span origin) {
      const ValueId id = fn.add_value(type_of(f, outer), param_name);
      fn.regions[fn.body].args.push_back(id);
      fn.param_names.push_back(param_name);
      b.origins.resize(fn.values.size(), origin);
      return Value::ir(id, origin);
    };
    bool ok = true;
    for (size_t i = 0; i < params.size(); ++i) {
      auto& arg = (*matched)[i];
      const std::string param_name(a.text(params[i]));
      if (arg && arg->value.is(Value::Kind::Ir)) arg->value = add_param(arg->value.id, param_name, arg->value.origin ? arg->value.origin : arg->span);
      if (arg && arg->value.is(Value::Kind::Step)) {
        size_t k = 0;
#define SK_STEP_FIELD(field, dtype, dims, text) \
  arg->value.items[k] = add_param(arg->value.items[k].id, param_name + "." #field, arg->span), ++k;
#define SK_STEP_LIST(field, of)
#include "runtime/plan/step_fields.def"
#undef SK_STEP_FIELD
#undef SK_STEP_LIST
      }
      ok &= bind_param(inner, params[i], std::move(arg), at, what, false);
    }
    if (!ok) {
      program_.functions.pop_back();
      return {};
    }
    ++call_depth_;
    exec_block(inner, a.child(phase, 2));
    --call_depth_;
    if (!check_result(inner, a.child(phase, 1), phase, what)) return {};
    finish_function(inner, a.span(phase));
    result_types = fn.results;
    tuple = inner.result.is(Value::Kind::Tuple);
    if (root) phase_functions_[key] = name;
  }
  std::vector<plan::Attr> attrs{name};
  const plan::OpId op = emit(f, Opcode::Call, std::move(operands), std::move(attrs), result_types, at);
  f.builder->fn->ops[op].path = callee->path;
  const auto& results = f.builder->fn->ops[op].results;
  if (results.empty()) return Value::none();
  if (!tuple) return Value::ir(results[0], at);
  std::vector<Value> items;
  for (const ValueId id : results) items.push_back(Value::ir(id, at));
  return Value::list(std::move(items), Value::Kind::Tuple);
}

Value Elaborator::make_step(Frame& f, std::vector<CallArg> args, Span at) {
  if (!f.builder) return {};
  std::optional<std::vector<int64_t>> kv, q;
  const auto ints = [&](const CallArg& a) -> std::optional<std::vector<int64_t>> {
    if (!a.value.is(Value::Kind::List)) {
      report(a.span, diag::Id::TypeMismatch, fmt::format("`{}` of Step", a.name), describe(&f, a.value), "a list of integers");
      return {};
    }
    std::vector<int64_t> out;
    for (const Value& v : a.value.items) {
      const auto i = constant_int(v, a.span, fmt::format("`{}` of Step", a.name));
      if (!i) return {};
      out.push_back(*i);
    }
    return out;
  };
  for (CallArg& a : args) {
    if (a.name.empty()) a.name = "kv_len";
    if (a.name == "kv_len" || a.name == "actual_seq_lengths_kv") {
      kv = ints(a);
      if (!kv) return {};
    } else if (a.name == "q_len" || a.name == "actual_seq_lengths_q") {
      q = ints(a);
      if (!q) return {};
    } else {
      auto r = report(a.name_span, diag::Id::UnknownArgument, "`Step`", a.name);
      const std::string near = diag::nearest(a.name, {"kv_len", "q_len", "actual_seq_lengths_kv", "actual_seq_lengths_q"});
      r.help(near.empty() ? "it takes kv_len = […] and q_len = […]" : fmt::format("did you mean `{}`?", near));
      return {};
    }
  }
  if (!kv) {
    report(at, diag::Id::MissingArgument, "`Step`", "kv_len");
    return {};
  }
  const config::Builtins& built = options_.builtins;
  if (!q) q = std::vector<int64_t>(kv->size(), 1);
  const int64_t width = (built.max_seq_len + built.block_size - 1) / built.block_size;
  const int64_t blocks = builtin_value("kv_blocks").dim.constant();
  bool ok = q->size() == kv->size();
  if (!ok) report(at, diag::Id::BadValue, fmt::format("Step has {} kv_len and {} q_len; one each for every request", kv->size(), q->size()));
  for (size_t i = 0; ok && i < kv->size(); ++i) {
    if ((*kv)[i] < 0 || (*q)[i] < 0 || ((*kv)[i] > 0 && (*q)[i] > (*kv)[i]) || (*kv)[i] > built.max_seq_len) {
      report(at, diag::Id::BadValue, fmt::format("request {} of Step has kv_len {} and q_len {}; 0 <= q_len <= kv_len <= max_seq_len ({})", i, (*kv)[i], (*q)[i], built.max_seq_len));
      ok = false;
    }
  }
  const int64_t needed = 1 + static_cast<int64_t>(kv->size()) * width;
  if (ok && needed > blocks) {
    report(at, diag::Id::BadValue, fmt::format("Step has {} requests, which need {} cache blocks; there are {}", kv->size(), needed, blocks))
        .help(fmt::format("--set batch_size={} makes room", kv->size()));
    ok = false;
  }
  if (!ok) return {};
  std::vector<Value> position, slot, table, cu_q, cu_kv, q_list, kv_list;
  int64_t sum_q = 0, sum_kv = 0;
  const auto push = [](std::vector<Value>& out, int64_t v) { out.push_back(Value::integer(v)); };
  for (size_t b = 0; b < kv->size(); ++b) {
    const int64_t first_block = 1 + static_cast<int64_t>(b) * width;
    for (int64_t r = 0; r < (*q)[b]; ++r) {
      const int64_t p = (*kv)[b] - (*q)[b] + r;
      const bool writes = (*kv)[b] > 0;  // a padding row writes nothing
      push(position, writes ? p : 0);
      push(slot, writes ? (first_block + p / built.block_size) * built.block_size + p % built.block_size : -1);
    }
    std::vector<Value> row;
    for (int64_t w = 0; w < width; ++w) push(row, w * built.block_size < (*kv)[b] ? first_block + w : 0);
    table.push_back(Value::list(std::move(row)));
    push(q_list, (*q)[b]);
    push(kv_list, (*kv)[b]);
    push(cu_q, sum_q += (*q)[b]);
    push(cu_kv, sum_kv += (*kv)[b]);
  }
  Value step = Value::make(Value::Kind::Step);
  for (std::vector<Value>* field : {&position, &slot, &table, &kv_list, &q_list, &kv_list, &cu_q, &cu_kv}) {
    const ValueId id = to_tensor(f, Value::list(*field), at, plan::DType::I32);
    if (id == plan::kNone) return {};
    step.items.push_back(Value::ir(id, at));
  }
  step.origin = at;
  return step;
}

}  // namespace skdsl::sema
