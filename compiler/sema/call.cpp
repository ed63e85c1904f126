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
      if (known_unknown(f.module, name)) return {};
      auto r = report(a.span(callee_node), diag::Id::UnknownOp, name);
      std::vector<std::string> candidates;
      for (const auto& [local, value] : f.locals)
        if (value.is(Value::Kind::Instance) || value.is(Value::Kind::Method)) candidates.push_back(local);
      if (f.self)
        for (const auto& [member, value] : f.self->members)
          if (value.is(Value::Kind::Instance) || value.is(Value::Kind::Method)) candidates.push_back(member);
      for (std::string& declared : modules_.names(f.module)) candidates.push_back(std::move(declared));
      for (const std::string_view fn : kFunctions) candidates.emplace_back(fn);
      for (const DTypeName& dtype : kDTypeNames) candidates.emplace_back(dtype.skdsl);
      for (const OpInfo& op : kOps)
        if (is_callable(op)) candidates.emplace_back(op.name);
      if (const std::string home = modules_.shipped_home_of(name); !home.empty())
        r.help(fmt::format("the standard library has it: import \"{}\"", home));
      else
        suggest(r, f.module, a.span(callee_node), name, diag::nearest(name, candidates));
      return {};
    }
    callee = std::move(*found);
  } else {
    callee = eval(f, callee_node);
  }
  std::vector<CallArg> args = eval_args(f, node);
  if (callee.poison()) return {};
  if (std::any_of(args.begin(), args.end(), [](const CallArg& x) { return x.value.poison(); })) return {};
  const size_t before = diags_.all().size();
  Value result = dispatch(f, node, callee, args);
  if (diags_.all().size() > before && !diags_.quiet()) {
    const bool of_instance = callee.is(Value::Kind::Instance) || callee.is(Value::Kind::Method);
    explain_call(f, at, args, of_instance ? callee.instance : nullptr, before,
                 [&](const std::vector<CallArg>& others, Instance* instance) {
                   Value other = callee;
                   if (instance) other.instance = instance;
                   return !dispatch(f, node, other, others).poison();
                 });
  }
  return result;
}

Value Elaborator::dispatch(Frame& f, NodeId node, const Value& callee, std::vector<CallArg> args) {
  const ast::Ast& a = ast(f);
  const NodeId callee_node = a.child(node, 0);
  const Span at = a.span(node);
  const bool poison =
      std::any_of(args.begin(), args.end(), [](const CallArg& x) { return x.value.poison(); });

  switch (callee.kind) {
    case Value::Kind::Op: {
      if (poison) return {};
      const Opcode op = find_op(callee.text);
      if (callee.text == "print") return f.builder ? call_print(f, std::move(args), at) : Value{};
      if (std::find(std::begin(kFunctions), std::end(kFunctions), callee.text) != std::end(kFunctions))
        return builtin_function(f, callee.text, std::move(args), at);
      return call_op(f, op, std::move(args), at);
    }
    case Value::Kind::DType:  // f32(x) is cast(x, f32)
      if (poison) return {};
      // A literal is read as what it becomes, so that large integers fit a float.
      if (args.size() == 1 && args[0].value.is(Value::Kind::List) && f.builder &&
          callee.dtype != plan::DType::Bool) {
        const plan::ValueId id = to_tensor(f, args[0].value, args[0].span, callee.dtype);
        if (id == plan::kNone) return {};
        args[0].value = Value::ir(id, args[0].span);
      }
      args.push_back({"dtype", callee, a.span(callee_node), {}});
      return call_op(f, Opcode::Cast, std::move(args), at);
    case Value::Kind::TensorMethod: {
      if (poison) return {};
      args.insert(args.begin(),
                  CallArg{"",
                          callee.items[0],
                          a.span(a.kind(callee_node) == Kind::Member ? a.child(callee_node, 0) : callee_node),
                          {}});
      if (args.size() == 1 && callee.text.starts_with("reduce_") && callee.items[0].is(Value::Kind::Ir)) {
        // x.any() without an axis is one element, as in torch.
        const plan::ValueId x = callee.items[0].id;
        Dim n(1);
        for (const Dim& d : type_of(f, x).dims) n = n * d;
        if (type_of(f, x).rank() == 0) return callee.items[0];
        args[0].value = emit_inferred(f, Opcode::Reshape, {x}, {std::vector<Dim>{n}}, at, {args[0].span}, {});
        if (args[0].value.poison()) return {};
      }
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
      if (home.kind(callee.decl.node) == Kind::Fn)
        return call_function(f, callee.decl, callee.instance, std::move(args), at);
      const std::string_view word = home.text(callee.decl.node);
      if (f.builder && f.builder->phase != plan::Phase::None && word != "forward" &&
          word != plan::name(f.builder->phase)) {
        report(a.name_span(callee_node), diag::Id::WrongPhase, word, plan::name(f.builder->phase))
            .help("call the layer without a phase: `layer(x)` takes the phase being built");
        return {};
      }
      return call_instance(f, callee.instance, callee.decl.node, std::move(args), at);
    }
    case Value::Kind::Decl: {
      if (poison) return {};
      const ast::Ast& home = modules_[callee.decl.module].ast;
      switch (home.kind(callee.decl.node)) {
        case Kind::Fn:
          return call_function(f, callee.decl, nullptr, std::move(args), at);
        case Kind::Layer:
        case Kind::Model: {
          if (!f.is_script) {
            report(at, diag::Id::Misplaced,
                   fmt::format("layer `{}` is made while a phase runs", home.text(callee.decl.node)))
                .help("make it a member of the layer and call the member");
            return {};
          }
          Value v = Value::make(Value::Kind::Instance);
          v.instance = instantiate(f, callee.decl, std::move(args),
                                   unique_name(std::string(home.text(callee.decl.node))), "", at);
          return v.instance ? v : Value{};
        }
        case Kind::Extern:
          report(at, diag::Id::BadValue,
                 fmt::format("`{}` is an extern operator: it has a shape rule and no kernel here",
                             home.text(callee.decl.node)))
              .help("write it as a `fn` of operators from `skdsl ops` to run it");
          return {};
        default:
          break;
      }
      break;
    }
    default:
      break;
  }
  report(a.span(callee_node), diag::Id::TypeMismatch, "what is called", describe(&f, callee),
         "an operator, a function, a layer or a phase");
  return {};
}

// ---- functions and layers

std::optional<std::vector<std::optional<CallArg>>> Elaborator::match_params(const ast::Ast& a, NodeId params,
                                                                            std::vector<CallArg> args,
                                                                            Span at,
                                                                            const std::string& what) {
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
        // The module of the declaration is that of its file.
        suggest(r, module_of(a), arg.name_span, arg.name, diag::nearest(arg.name, names));
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

bool Elaborator::bind_param(Frame& callee, NodeId param, const std::optional<CallArg>& arg, Span at,
                            const std::string& what, bool from_config) {
  const ast::Ast& a = ast(callee);
  const std::string name(a.text(param));
  const NodeId type = a.child(param, 0), initial = a.child(param, 1);
  Value v;
  Span where = at;
  if (arg) {
    v = arg->value;
    where = arg->span;
  } else if (initial) {
    v = eval(callee, initial);
    where = a.span(initial);
  } else if (from_config && config_.contains(name)) {
    v = config_value(name, at);
  } else {
    callee.locals[name] = {};
    if (from_config && known_unknown(callee.module, what + name)) return false;
    auto r = report(at, diag::Id::MissingArgument, what, name);
    if (from_config) {
      r.note(fmt::format("it has no default, and the configuration has no key `{}` either", name));
      suggest_key(r, callee.module, param);
      if (!diags_.quiet()) told_names_.emplace(callee.module, what + name);
    }
    return false;
  }
  const bool ok = unify(callee, type, v, where, [&](const std::string& expected) {
    std::optional<Type> actual;
    if (is_tensor(callee, v)) actual = type_of(callee, to_ir(callee, v, where));
    const auto sizes = actual ? sizes_for(callee, type, *actual) : std::nullopt;
    if (told_misfit(callee, type, sizes)) return;
    auto r = report(where, diag::Id::ArgumentShape, name, what, describe(&callee, v), expected);
    if (v.origin && v.origin != where) r.note(v.origin, "the value comes from here");
    r.note(a.span(param), "declared here");
    if (!actual) return;
    note_made(r, producer(callee, v));
    note_made(r, callee.self);
    suggest_type(r, callee, type, sizes, *actual);
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
  return unify(callee, result_type, callee.result, before.origin ? before.origin : a.span(result_type),
               [&](const std::string& expected) {
                 std::string found = describe(&callee, before);
                 if (before.is(Value::Kind::Tuple)) {
                   found.clear();
                   for (const Value& item : before.items)
                     found += (found.empty() ? "(" : ", ") + describe(&callee, item);
                   found += ")";
                 }
                 const Value misfit = misfit_value_;
                 const NodeId type = misfit_type_;
                 std::optional<Type> actual;
                 if (is_tensor(callee, misfit))
                   actual = type_of(callee, to_ir(callee, misfit, before.origin));
                 const auto sizes = actual ? sizes_for(callee, type, *actual) : std::nullopt;
                 if (told_misfit(callee, type, sizes)) return;
                 auto r = report(before.origin ? before.origin : a.span(decl), diag::Id::ResultShape, what,
                                 found, expected);
                 r.note(a.span(result_type), "declared here");
                 if (!actual) return;
                 note_made(r, producer(callee, misfit));
                 suggest_type(r, callee, type, sizes, *actual);
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
  for (size_t i = 0; i < params.size(); ++i)
    ok &= bind_param(callee, params[i], (*matched)[i], at, what, false);
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
    report(at, diag::Id::NoPhase, fmt::format("layer `{}`", layer), "forward")
        .help("name the phase: `.prefill(…)` or `.decode(…)`");
    return 0;
  }
  if (const NodeId n = phase_node(*callee, plan::name(phase))) return n;
  report(at, diag::Id::NoPhase, fmt::format("layer `{}`", layer), plan::name(phase))
      .help("give it a `forward`, which serves both phases");
  return 0;
}

std::string Elaborator::unique_name(const std::string& base) {
  const int n = name_counts_[base]++;
  return n == 0 ? base : fmt::format("{}#{}", base, n);
}

namespace {
bool has_gears(const ast::Ast& a, NodeId node) {
  if (!node) return false;
  if (a.kind(node) == Kind::Gears) return true;
  for (const NodeId child : a.children(node))
    if (has_gears(a, child)) return true;
  return false;
}
}  // namespace

/// How many fields of the step a phase takes: the host lists exist in npugraph_ex decode only.
size_t Elaborator::phase_step_fields(plan::Phase phase) const {
  const bool lists = phase == plan::Phase::Decode && options_.builtins.exe_mode == kCaptureMode;
  size_t n = 0;
  for (const StepField& field : kStepFields) n += !field.list || lists;
  return n;
}

Value Elaborator::call_instance(Frame& f, Instance* callee, NodeId phase, std::vector<CallArg> args,
                                Span at) {
  const ast::Ast& a = modules_[callee->decl.module].ast;
  const std::string_view word = a.text(phase);
  const std::string what = fmt::format("`{}` of `{}`", word, a.text(callee->decl.node));
  if (!f.builder) {
    report(at, diag::Id::NotStatic, "this call", "a tensor");
    return {};
  }
  if (f.builder->const_only) {
    report(at, diag::Id::ConstNotPure, f.builder->const_name,
           fmt::format("the layer `{}`", a.text(callee->decl.node)));
    return {};
  }
  if (call_depth_ >= kMaxCallDepth) {
    report(at, diag::Id::RecursiveCall, what);
    return {};
  }
  auto matched = match_params(a, a.child(phase, 0), std::move(args), at, what);
  if (!matched) return {};

  // A phase that a script names is a function of its own, shared by calls with equal types; other calls are
  // inlined.
  const bool root = f.builder->phase == plan::Phase::None && word != "forward";
  const plan::Phase built = !root              ? f.builder->phase
                            : word == "decode" ? plan::Phase::Decode
                                               : plan::Phase::Prefill;
  const auto params = a.children(a.child(phase, 0));
  std::vector<ValueId> operands;
  // With gears the number of rows is a symbol, so that one function serves every batch.
  const bool gears = root && built == plan::Phase::Decode && options_.builtins.exe_mode == kCaptureMode &&
                     has_gears(a, phase);
  const size_t step_fields = phase_step_fields(built);
  std::vector<std::pair<std::string, Type>> fields;  // the parameters of the function, one for each operand
  std::vector<std::pair<std::string, std::string>> fixed;
  std::string key = fmt::format("{}|{}", callee->path, word);
  for (size_t i = 0; i < params.size(); ++i) {
    auto& arg = (*matched)[i];
    if (!arg) continue;
    const std::string param_name(a.text(params[i]));
    Value& v = arg->value;
    const auto add = [&](ValueId id, const std::string& field, Type type) {
      operands.push_back(id);
      key += "|" + program_.text(type);
      fields.emplace_back(field, std::move(type));
    };
    const auto tensor = [&](ValueId id) {
      Type type = type_of(f, id);
      const NodeId declared = a.child(params[i], 0);
      if (gears && type.is_tensor() && type.rank() > 0 && a.kind(declared) == Kind::TypeTensor &&
          !a.children(declared).empty() && a.kind(a.child(declared, 0)) == Kind::Name &&
          is_symbol_name(a.text(a.child(declared, 0))))
        type.dims[0] = Dim::symbol(program_.symbol(a.text(a.child(declared, 0))));
      add(id, param_name, std::move(type));
    };
    if (v.is(Value::Kind::List)) {  // a literal tensor
      const ValueId id = to_tensor(f, v, arg->span);
      if (id == plan::kNone) return {};
      v = Value::ir(id, arg->span);
    }
    if (v.is(Value::Kind::Ir)) {
      tensor(v.id);
    } else if (v.is(Value::Kind::State)) {
      const ValueId id = to_ir(f, v, arg->span);
      v = Value::ir(id, arg->span);
      tensor(id);
    } else if (v.is(Value::Kind::Step)) {
      if (v.items.size() > step_fields) v.items.edit().resize(step_fields);
      const Dim rows = fields.empty() || fields[0].second.rank() == 0 ? Dim::symbol(program_.symbol("T"))
                                                                      : fields[0].second.dims[0];
      std::optional<Dim> first_rows;
      if (!operands.empty() && type_of(f, operands[0]).rank() > 0)
        first_rows = type_of(f, operands[0]).dims[0];
      for (size_t k = 0; k < v.items.size(); ++k) {
        const StepField& field = kStepFields[k];
        Type type = type_of(f, v.items[k].id);
        // One row for each request: T and B are the same symbol.
        const bool per_row = field.per_row || (type.is_tensor() && first_rows && type.dims[0] == *first_rows);
        if (gears && type.is_tensor()) type.dims[0] = per_row ? rows : Dim::symbol(program_.symbol("B"));
        add(v.items[k].id, param_name + "." + std::string(field.name), std::move(type));
      }
    } else {
      key += "|" + text_of(v);
      fixed.emplace_back(param_name, text_of(v));
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
    name = unique_name(root ? callee->path + "." + std::string(word)
                            : join_path(callee->path, std::string(word)));
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
    fn.fixed = std::move(fixed);
    size_t next = 0;
    const auto add_param = [&](Span origin) {
      const auto& [param_name, type] = fields[next++];
      const ValueId id = fn.add_value(type, param_name);
      fn.regions[fn.body].args.push_back(id);
      fn.param_names.push_back(param_name);
      b.origins.resize(fn.values.size(), origin);
      return Value::ir(id, origin);
    };
    bool ok = true;
    for (size_t i = 0; i < params.size(); ++i) {
      auto& arg = (*matched)[i];
      if (arg && arg->value.is(Value::Kind::Ir))
        arg->value = add_param(arg->value.origin ? arg->value.origin : arg->span);
      if (arg && arg->value.is(Value::Kind::Step))
        for (Value& field : arg->value.items.edit()) field = add_param(arg->span);
      ok &= bind_param(inner, params[i], arg, at, what, false);
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
  // The callee's symbols are the caller's sizes here.
  if (gears) {
    std::unordered_map<plan::SymbolId, Dim> sizes;
    for (size_t i = 0; i < fields.size(); ++i)
      if (const Type& type = fields[i].second; type.is_tensor() && type.rank() > 0)
        if (const auto symbol = type.dims[0].as_symbol())
          sizes.emplace(*symbol, type_of(f, operands[i]).dims[0]);
    for (Type& type : result_types)
      for (Dim& d : type.dims)
        d = d.substitute([&](plan::SymbolId symbol) {
          const auto it = sizes.find(symbol);
          return it == sizes.end() ? std::nullopt : std::optional(it->second);
        });
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

}  // namespace skdsl::sema
