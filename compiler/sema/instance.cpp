// instance — layers with their parameters: weights, consts, states and sub-layers
#include <algorithm>

#include "compiler/sema/elaborator.h"

namespace skdsl::sema {

using ast::Kind;
using ast::NodeId;
using plan::Dim;
using plan::DType;
using plan::Type;

namespace {
constexpr int kMaxNesting = 100;
}  // namespace

void Elaborator::add_member(Instance* self, NodeId node, std::string_view name, Value v) {
  const ast::Ast& a = modules_[self->decl.module].ast;
  if (!self->members.try_emplace(std::string(name), std::move(v)).second)
    report(a.name_span(node), diag::Id::DuplicateName, name);
}

Instance* Elaborator::instantiate(Frame& f, NodeRef layer, std::vector<CallArg> args, const std::string& path,
                                  const std::string& prefix, Span at) {
  const ast::Ast& a = modules_[layer.module].ast;
  const bool is_model = a.kind(layer.node) == Kind::Model || a.kind(layer.node) == Kind::Draft;
  const std::string what = fmt::format("{} `{}`",
                                       a.kind(layer.node) == Kind::Draft ? "draft"
                                       : is_model                        ? "model"
                                                                         : "layer",
                                       a.text(layer.node));
  if (call_depth_ >= kMaxNesting) {
    report(at, diag::Id::RecursiveCall, what).note("layers contain each other without end");
    return nullptr;
  }
  instances_.push_back({layer, path, prefix, f.self, {}});
  Instance* self = &instances_.back();
  made_[self] = {at, args};
  if (!diags_.quiet()) by_path_[path] = self;
  if (is_model) {
    if (!args.empty()) {
      report(args[0].span, diag::Id::TooManyArguments, what, 0, args.size())
          .help("a model takes its sizes from the configuration");
      return nullptr;
    }
  } else {
    const NodeId params = a.child(layer.node, 0);
    auto matched = match_params(a, params, std::move(args), at, what);
    if (!matched) return nullptr;
    Frame inner;
    inner.module = layer.module;
    inner.self = self;
    bool ok = true;
    const auto declared = a.children(params);
    for (size_t i = 0; i < declared.size(); ++i) {
      if (!bind_param(inner, declared[i], (*matched)[i], at, what, true)) {
        ok = false;
        add_member(self, declared[i], a.text(declared[i]), {});
        continue;
      }
      add_member(self, declared[i], a.text(declared[i]), inner.locals[std::string(a.text(declared[i]))]);
    }
    if (!ok) return nullptr;
  }
  ++call_depth_;
  build_members(self);
  --call_depth_;
  return self;
}

void Elaborator::build_members(Instance* self) {
  const ast::Ast& a = modules_[self->decl.module].ast;
  // Functions first: defaults and consts may use them.
  for (const NodeId m : a.children(self->decl.node))
    if (a.kind(m) == Kind::Fn) {
      Value v = Value::make(Value::Kind::Method);
      v.instance = self;
      v.decl = {self->decl.module, m};
      add_member(self, m, a.text(m), std::move(v));
    }
  std::string phases;
  for (const NodeId m : a.children(self->decl.node)) {
    if (!budget(a.span(m))) return;
    switch (a.kind(m)) {
      case Kind::Let: {
        for (const NodeId binding : a.children(m)) {
          Frame f;
          f.module = self->decl.module;
          f.self = self;
          add_member(self, binding, a.text(binding), eval(f, a.child(binding, 0)));
        }
        break;
      }
      case Kind::Weight:
        declare_weight(self, m);
        break;
      case Kind::Const:
        declare_const(self, m);
        break;
      case Kind::State:
        declare_state(self, m);
        break;
      case Kind::Instance:
        declare_instance(self, m);
        break;
      case Kind::Unused: {
        Frame f;
        f.module = self->decl.module;
        f.self = self;
        const auto pattern = a.children(m).empty()
                                 ? std::optional<std::string>(a.text(m))
                                 : static_string(eval(f, a.child(m, 0)), a.span(m), "the pattern");
        if (pattern) program_.unused_sources.push_back(join_path(self->prefix, *pattern));
        break;
      }
      case Kind::PhaseDecl: {
        const std::string word = "|" + std::string(a.text(m)) + "|";
        if (phases.find(word) != std::string::npos)
          report(a.name_span(m), diag::Id::DuplicateName, a.text(m));
        phases += word;
        break;
      }
      default:
        break;
    }
  }
}

namespace {
/// All combinations of the `for` clauses, in order; `body` runs with the variables set.
bool for_clauses(const ast::Ast& a, std::span<const NodeId> clauses,
                 const std::function<std::optional<std::vector<Value>>(NodeId)>& values,
                 const std::function<void(std::string_view, const Value&)>& set,
                 const std::function<bool()>& body) {
  if (clauses.empty()) return body();
  const auto over = values(clauses[0]);
  if (!over) return false;
  for (const Value& v : *over) {
    set(a.text(clauses[0]), v);
    if (!for_clauses(a, clauses.subspan(1), values, set, body)) return false;
  }
  return true;
}
}  // namespace

void Elaborator::declare_weight(Instance* self, NodeId node) {
  const ast::Ast& a = modules_[self->decl.module].ast;
  Frame f;
  f.module = self->decl.module;
  f.self = self;
  const std::string name(a.text(node));
  const NodeId type = a.child(node, 0), from = a.child(node, 1), when = a.child(node, 2);
  Value member;  // poison until everything fits
  if (when) {
    const auto present = static_bool(eval(f, when), a.span(when), "`when` of a weight");
    if (present && !*present) {
      add_member(self, node, name, Value::none());
      return;
    }
    if (!present) return add_member(self, node, name, member);
  }
  plan::WeightDecl w;
  w.path = join_path(self->path, name);
  w.loc = loc(a.span(node));
  const auto declared = declared_tensor(f, type, false, DType::Stored);
  if (!declared) return add_member(self, node, name, member);
  for (const Dim& d : declared->dims)
    if (!d.is_constant()) {
      report(a.span(type), diag::Id::NotStatic, "the shape of a weight", program_.text(d));
      return add_member(self, node, name, member);
    }
  w.type = *declared;
  bool ok = true;
  const auto add_row = [&](const Value& v, Span at) {
    std::vector<std::string> row;
    if (v.is(Value::Kind::List)) {
      for (const Value& item : v.items) {
        const auto s = static_string(item, at, "a checkpoint name");
        if (!s) return false;
        row.push_back(join_path(self->prefix, *s));
      }
    } else {
      const auto s = static_string(v, at, "a checkpoint name");
      if (!s) return false;
      row.push_back(join_path(self->prefix, *s));
    }
    w.sources.push_back(std::move(row));
    return true;
  };
  if (!from || decode_only_) {  // a plan alone reads no checkpoint
    w.sources.push_back({join_path(self->prefix, name)});
  } else {
    const NodeId expr = a.child(from, 0);
    const auto clauses = a.children(from).subspan(1);
    w.stacked = !clauses.empty();
    ok = for_clauses(
        a, clauses,
        [&](NodeId clause) -> std::optional<std::vector<Value>> {
          bool dynamic = false;
          auto values = range_values(f, a.child(clause, 0), &dynamic, nullptr, nullptr);
          if (dynamic) return {};
          return values;
        },
        [&](std::string_view var, const Value& v) { f.locals[std::string(var)] = v; },
        [&] { return budget(a.span(expr)) && add_row(eval(f, expr), a.span(expr)); });
    if (ok && w.stacked &&
        (w.type.dims.empty() || w.type.dims[0] != Dim(static_cast<int64_t>(w.sources.size())))) {
      report(a.span(type), diag::Id::BadValue,
             fmt::format("weight `{}` stacks {} tensors, its first size is {}", name, w.sources.size(),
                         w.type.dims.empty() ? "missing" : program_.text(w.type.dims[0])))
          .note(a.span(from), "one tensor for each round of `for`");
      ok = false;
    }
  }
  if (ok) {
    member = Value::named(Value::Kind::Weight, w.path);
    member.origin = a.span(node);
    weight_types_[w.path] = w.type;
    declared_at_[w.path] = a.span(type);
    program_.weights.push_back(std::move(w));
  }
  add_member(self, node, name, std::move(member));
}

void Elaborator::declare_const(Instance* self, NodeId node) {
  const ast::Ast& a = modules_[self->decl.module].ast;
  const auto children = a.children(node);
  const auto names = children.first(children.size() - 1);
  const NodeId expr = children.back();
  const std::string first(a.text(names[0]));
  plan::Function& fn = new_function("const." + join_path(self->path, first), plan::Phase::None, a.span(node));
  Builder b;
  b.fn = &fn;
  b.region = fn.body;
  b.const_only = true;
  b.const_name = first;
  Frame f;
  f.module = self->decl.module;
  f.self = self;
  f.builder = &b;
  Value v = eval(f, expr);
  std::vector<Value> items = names.size() == 1 ? std::vector<Value>{v} : v.items.all();
  bool ok = !v.poison();
  if (ok && (names.size() > 1) != v.is(Value::Kind::Tuple)) {
    report(a.span(node), diag::Id::UnpackCount, v.is(Value::Kind::Tuple) ? v.items.size() : 1, names.size());
    ok = false;
  } else if (ok && items.size() != names.size()) {
    report(a.span(node), diag::Id::UnpackCount, items.size(), names.size());
    ok = false;
  }
  std::vector<plan::ValueId> results;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string name(a.text(names[i]));
    Value member;
    if (ok) {
      if (const NodeId type = a.child(names[i], 0))
        ok = unify(f, type, items[i], a.span(expr), [&](const std::string& expected) {
          auto r = report(a.span(expr), diag::Id::ResultShape, fmt::format("`const {}`", name),
                          describe(&f, items[i]), expected);
          r.note(a.span(type), "declared here");
          if (!is_tensor(f, items[i])) return;
          const Type actual = type_of(f, to_ir(f, items[i], a.span(expr)));
          suggest_type(r, f, type, sizes_for(f, type, actual), actual);
        });
      const plan::ValueId id = ok ? to_tensor(f, items[i], a.span(expr)) : plan::kNone;
      ok = ok && id != plan::kNone;
      if (ok) {
        const std::string path = join_path(self->path, name);
        results.push_back(id);
        weight_types_[path] = type_of(f, id);
        if (const NodeId type = a.child(names[i], 0)) declared_at_[path] = a.span(type);
        program_.consts.push_back(
            {path, type_of(f, id), fn.name, static_cast<uint32_t>(i), loc(a.span(node))});
        member = Value::named(Value::Kind::Weight, path);
        member.origin = a.span(names[i]);
      }
    }
    add_member(self, names[i], name, std::move(member));
  }
  if (!ok) return;
  f.result = Value::none();
  std::vector<Type> types;
  for (const plan::ValueId id : results) types.push_back(type_of(f, id));
  fn.results = types;
  emit(f, Opcode::Return, results, {}, {}, a.span(node));
}

bool Elaborator::assigns_state(const ast::Ast& a, NodeId node, std::string_view state) const {
  if (a.kind(node) == Kind::Assign) {
    const NodeId target = a.child(node, 0);
    if (a.kind(target) == Kind::Name && a.text(target) == state) return true;
    if (a.kind(target) == Kind::Tuple)
      for (const NodeId t : a.children(target))
        if (a.kind(t) == Kind::Name && a.text(t) == state) return true;
    if (a.kind(target) == Kind::Index && a.kind(a.child(target, 0)) == Kind::Name &&
        a.text(a.child(target, 0)) == state)
      return true;
  }
  for (const NodeId c : a.children(node))
    if (assigns_state(a, c, state)) return true;
  return false;
}

void Elaborator::declare_state(Instance* self, NodeId node) {
  const ast::Ast& a = modules_[self->decl.module].ast;
  Frame f;
  f.module = self->decl.module;
  f.self = self;
  const std::string name(a.text(node));
  const auto declared = declared_tensor(f, a.child(node, 0), false, act_);
  Value member;
  if (declared) {
    plan::StateDecl s;
    s.path = join_path(self->path, name);
    s.type = *declared;
    s.uninitialized = (a[node].flags & 1) != 0;
    s.loc = loc(a.span(node));
    bool ok = true;
    for (const Dim& d : s.type.dims)
      if (!d.is_constant()) {
        report(a.span(a.child(node, 0)), diag::Id::NotStatic, "the shape of a state", program_.text(d));
        ok = false;
        break;
      }
    for (const NodeId m : a.children(self->decl.node))
      if (a.kind(m) == Kind::PhaseDecl || a.kind(m) == Kind::Fn) s.rebound |= assigns_state(a, m, name);
    if (ok) {
      member = Value::named(Value::Kind::State, s.path);
      member.origin = a.span(node);
      state_types_[s.path] = s.type;
      declared_at_[s.path] = a.span(a.child(node, 0));
      if (s.rebound) rebound_states_.insert(s.path);
      program_.states.push_back(std::move(s));
    }
  }
  add_member(self, node, name, std::move(member));
}

std::string Elaborator::joined_prefix(Frame& f, Instance* self, NodeId from) {
  if (!from) return self->prefix;
  const ast::Ast& a = ast(f);
  const NodeId expr = a.child(from, 0);
  const auto s = static_string(eval(f, expr), a.span(expr), "`from` of a layer");
  return s ? join_path(self->prefix, *s) : self->prefix;
}

void Elaborator::declare_instance(Instance* self, NodeId node) {
  const ast::Ast& a = modules_[self->decl.module].ast;
  Frame f;
  f.module = self->decl.module;
  f.self = self;
  const std::string name(a.text(node));
  if (const NodeId when = a.child(node, 2)) {
    const auto present = static_bool(eval(f, when), a.span(when), "`when` of a layer");
    if (!present || !*present) return add_member(self, node, name, present ? Value::none() : Value{});
  }
  add_member(self, node, name, construct(f, self, a.child(node, 0), a.child(node, 1), name));
}

Value Elaborator::construct(Frame& f, Instance* self, NodeId expr, NodeId from, const std::string& name) {
  const ast::Ast& a = ast(f);
  if (!budget(a.span(expr))) return {};
  const auto element = [&](NodeId e, size_t i) {
    return construct(f, self, e, from, fmt::format("{}.{}", name, i));
  };
  switch (a.kind(expr)) {
    case Kind::Paren:
      return construct(f, self, a.child(expr, 0), from, name);
    case Kind::IfExpr: {
      const auto c = static_bool(eval(f, a.child(expr, 0)), a.span(a.child(expr, 0)), "the condition");
      return c ? construct(f, self, a.child(expr, *c ? 1 : 2), from, name) : Value{};
    }
    case Kind::List: {
      std::vector<Value> items;
      for (const NodeId c : a.children(expr)) {
        f.locals["k"] = Value::integer(static_cast<int64_t>(items.size()));
        items.push_back(element(c, items.size()));
        if (items.back().poison()) return {};
      }
      return Value::list(std::move(items));
    }
    case Kind::Comprehension: {
      bool dynamic = false;
      const auto over = range_values(f, a.child(expr, 1), &dynamic, nullptr, nullptr);
      std::vector<Value> items;
      for (const Value& v : over) {
        f.locals[std::string(a.text(expr))] = v;
        items.push_back(element(a.child(expr, 0), items.size()));
        if (items.back().poison()) return {};
      }
      return Value::list(std::move(items));
    }
    case Kind::Index: {
      const NodeId count_node = a.children(expr).size() == 2 ? a.child(expr, 1) : 0;
      const auto count = count_node
                             ? constant_int(eval(f, count_node), a.span(count_node), "the number of layers")
                             : std::nullopt;
      if (!count) return {};
      if (*count < 0) {
        report(a.span(count_node), diag::Id::BadValue, fmt::format("the number of layers is {}", *count));
        return {};
      }
      std::vector<Value> items;
      for (int64_t k = 0; k < *count; ++k) {
        f.locals["k"] = Value::integer(k);
        items.push_back(element(a.child(expr, 0), items.size()));
        if (items.back().poison()) return {};
      }
      return Value::list(std::move(items));
    }
    case Kind::Call: {
      const NodeId callee_node = a.child(expr, 0);
      const auto callee = a.kind(callee_node) == Kind::Name
                              ? lookup(f, a.text(callee_node), a.span(callee_node))
                              : std::optional<Value>(eval(f, callee_node));
      if (!callee) {
        report_unknown_name(f, a.text(callee_node), a.span(callee_node));
        eval_args(f, expr);
        return {};
      }
      if (callee->poison()) return {};
      const bool layer = callee->is(Value::Kind::Decl) &&
                         modules_[callee->decl.module].ast.kind(callee->decl.node) == Kind::Layer;
      if (!layer) {
        report(a.span(callee_node), diag::Id::TypeMismatch, "what makes a member", describe(&f, *callee),
               "a layer")
            .help("values are written `let x = …`, computed tensors `const x = …`");
        return {};
      }
      std::vector<CallArg> args = eval_args(f, expr);
      if (std::any_of(args.begin(), args.end(), [](const CallArg& x) { return x.value.poison(); })) return {};
      Value v = Value::make(Value::Kind::Instance);
      const std::string prefix = joined_prefix(f, self, from);
      const size_t before = diags_.all().size();
      v.instance = instantiate(f, callee->decl, args, join_path(self->path, name), prefix, a.span(expr));
      if (diags_.all().size() > before && !diags_.quiet())
        explain_call(f, a.span(expr), args, nullptr, before,
                     [&](const std::vector<CallArg>& others, Instance*) {
                       return instantiate(f, callee->decl, others, "?", prefix, a.span(expr)) != nullptr;
                     });
      return v.instance ? v : Value{};
    }
    default:
      break;
  }
  report(a.span(expr), diag::Id::Misplaced, "a member is made by a layer: `name = Layer(…)`")
      .help("values are written `let x = …`, computed tensors `const x = …`");
  return {};
}

}  // namespace skdsl::sema
