// control — branches and loops: resolved now when their condition is known, else regions that the run decides
#include <algorithm>

#include "compiler/sema/elaborator.h"

namespace skdsl::sema {

using ast::Kind;
using ast::NodeId;
using plan::Dim;
using plan::Type;
using plan::ValueId;

namespace {
constexpr int64_t kMaxRounds = 1'000'000;  // of one loop that is unrolled at compile time
}  // namespace

// ---- if

void Elaborator::exec_if(Frame& f, NodeId node) {
  const ast::Ast& a = ast(f);
  const NodeId cond_node = a.child(node, 0);
  const Value cond = eval(f, cond_node);
  if (cond.is(Value::Kind::Bool)) {
    const NodeId taken = a.child(node, cond.flag ? 1 : 2);
    if (taken) exec(f, taken);
    return;
  }
  if (cond.poison()) {
    // Both branches still have their own mistakes to tell; names they set are unknown afterwards.
    std::set<std::string> names;
    assigned_names(a, node, names);
    for (const std::string& n : names) f.locals[n] = {};
    return;
  }
  ValueId id = plan::kNone;
  if (f.builder && cond.is(Value::Kind::Ir)) {
    id = cond.id;
    const Type t = type_of(f, id);
    if (t.is_tensor() && t.dtype == plan::DType::Bool) {
      if (t.rank() != 0) {
        const Value scalar = emit_inferred(f, Opcode::Reshape, {id}, {std::vector<Dim>{}}, a.span(cond_node),
                                           {a.span(cond_node)}, {});
        if (scalar.poison()) return;
        id = scalar.id;
      }
      return exec_dynamic_if(f, node, id);
    }
    if (t.kind == plan::Kind::HostBool) return exec_dynamic_if(f, node, id);
  }
  report(a.span(cond_node), diag::Id::TypeMismatch, "the condition", describe(&f, cond), "a boolean")
      .help("compare explicitly: `x > 0`; of a tensor, `(x > 0).any()`");
}

void Elaborator::exec_dynamic_if(Frame& f, NodeId node, ValueId cond) {
  const ast::Ast& a = ast(f);
  Builder& b = *f.builder;
  const plan::RegionId outer = b.region;
  const auto before = f.locals;
  std::map<std::string, Value, std::less<>> after[2];
  plan::RegionId regions[2] = {b.fn->add_region(), b.fn->add_region()};
  ++b.dynamic_depth;
  for (int k = 0; k < 2; ++k) {
    b.region = regions[k];
    f.locals = before;
    const NodeId branch = a.child(node, k == 0 ? 1 : 2);
    if (branch) exec(f, branch);
    after[k] = f.locals;
    f.returned = false;
  }
  // Names that both branches have and that differ become results; names of one branch only are gone
  // afterwards.
  std::vector<std::string> names;
  f.locals = before;
  for (const auto& [name, v] : after[0]) {
    const auto other = after[1].find(name);
    if (other == after[1].end()) {
      f.one_branch.insert(name);
    } else if (v.poison() || other->second.poison()) {
      f.locals[name] = {};
    } else if (!same(v, other->second)) {
      names.push_back(name);
    }
  }
  for (const auto& [name, v] : after[1])
    if (!after[0].contains(name)) f.one_branch.insert(name);
  std::vector<ValueId> yields[2];
  std::vector<Type> types;
  std::vector<std::string> merged;
  for (const std::string& name : names) {
    ValueId ids[2];
    for (int k = 0; k < 2; ++k) {
      b.region = regions[k];
      ids[k] = after[k].at(name).is(Value::Kind::List) ? to_tensor(f, after[k].at(name), a.span(node))
                                                       : to_ir(f, after[k].at(name), a.span(node));
    }
    f.locals[name] = {};
    if (ids[0] == plan::kNone || ids[1] == plan::kNone) continue;
    Type t = type_of(f, ids[0]);
    const Type u = type_of(f, ids[1]);
    if (t.kind != u.kind || t.dtype != u.dtype || t.rank() != u.rank()) {
      report(a.span(node), diag::Id::BranchTypes, name, program_.text(t), program_.text(u));
      continue;
    }
    for (size_t d = 0; d < t.dims.size(); ++d)
      if (t.dims[d] != u.dims[d] || t.kind == plan::Kind::HostInt) t.dims[d] = Dim(-1);
    t = with_fresh_symbols(std::move(t));
    types.push_back(t);
    merged.push_back(name);
    yields[0].push_back(ids[0]);
    yields[1].push_back(ids[1]);
  }
  for (int k = 0; k < 2; ++k) {
    b.region = regions[k];
    emit(f, Opcode::Yield, yields[k], {}, {}, a.span(node));
  }
  --b.dynamic_depth;
  b.region = outer;
  const plan::OpId op = emit(f, Opcode::If, {cond}, {}, types, a.span(node));
  b.fn->ops[op].regions = {regions[0], regions[1]};
  for (size_t i = 0; i < merged.size(); ++i) {
    const ValueId id = b.fn->ops[op].results[i];
    const Type& t = b.fn->values[id].type;
    f.locals[merged[i]] =
        t.kind == plan::Kind::HostInt ? Value::integer(t.dims[0]) : Value::ir(id, a.span(node));
  }
}

// ---- loops

std::vector<Value> Elaborator::range_values(Frame& f, NodeId node, bool* dynamic, Dim* begin, Dim* end) {
  const ast::Ast& a = ast(f);
  std::vector<Value> out;
  if (a.kind(node) != Kind::Range) {
    Value v = eval(f, node);
    if (v.is(Value::Kind::List) || v.is(Value::Kind::Tuple)) return v.items.all();
    if (!v.poison())
      report(a.span(node), diag::Id::TypeMismatch, "what a loop runs over", describe(&f, v),
             "a range a..b or a list");
    return out;
  }
  const auto lo = as_dim(eval(f, a.child(node, 0)), a.span(node), "the start of a range");
  const auto hi = as_dim(eval(f, a.child(node, 1)), a.span(node), "the end of a range");
  if (!lo || !hi) return out;
  if (!lo->is_constant() || !hi->is_constant()) {
    *dynamic = true;
    if (begin) *begin = *lo;
    if (end) *end = *hi;
    return out;
  }
  const int64_t n = hi->constant() - lo->constant();
  if (n > kMaxRounds) {
    report(
        a.span(node), diag::Id::TooMuchWork,
        fmt::format("a loop of {} rounds is unrolled when the model is compiled; at most {}", n, kMaxRounds));
    return out;
  }
  for (int64_t i = lo->constant(); i < hi->constant(); ++i) out.push_back(Value::integer(i));
  return out;
}

void Elaborator::exec_for(Frame& f, NodeId node) {
  const ast::Ast& a = ast(f);
  const NodeId over = a.child(node, 0), body = a.child(node, 1);
  const std::string var(a.text(node));
  // Rounds with mistakes mostly repeat those of the first.
  constexpr size_t kFailedRounds = 8;
  const size_t errors = diags_.errors();
  bool dynamic = false;
  Dim begin, end;
  // Lists of a run (x.tolist()) are walked by the run.
  if (a.kind(over) != Kind::Range && f.builder) {
    const Value v = eval(f, over);
    if (v.is(Value::Kind::Ir) && type_of(f, v.id).kind == plan::Kind::HostList) {
      const Value n = emit_inferred(f, Opcode::HostElement, {v.id}, {Dim(0), true}, a.span(over), {}, {});
      f.locals[".i"] = Value::integer(0);
      exec_dynamic_loop(
          f, node, body,
          [&](Frame& g) {
            const Value c = host_binary(g, "<", g.locals.at(".i"), n, a.span(over));
            return c.id;
          },
          [&](Frame& g) {
            g.locals[".i"] = binary(g, "+", g.locals.at(".i"), Value::integer(1), a.span(over), a.span(over),
                                    a.span(over));
          },
          {".i"});
      f.locals.erase(".i");
      return;
    }
    if (v.is(Value::Kind::List) || v.is(Value::Kind::Tuple)) {
      size_t failed = 0;
      for (const Value& item : v.items) {
        f.locals[var] = item;
        exec_block(f, body);
        if (f.returned || work_reported_ || (diags_.errors() > errors && ++failed > kFailedRounds)) return;
      }
      return;
    }
    if (!v.poison())
      report(a.span(over), diag::Id::TypeMismatch, "what a loop runs over", describe(&f, v),
             "a range a..b or a list");
    return;
  }
  const std::vector<Value> values = range_values(f, over, &dynamic, &begin, &end);
  if (!dynamic) {
    size_t failed = 0;
    for (const Value& v : values) {
      f.locals[var] = v;
      exec_block(f, body);
      if (f.returned || work_reported_ || (diags_.errors() > errors && ++failed > kFailedRounds)) return;
    }
    return;
  }
  if (!f.builder) return;
  f.locals[var] = Value::integer(begin);
  const Span at = a.span(over);
  exec_dynamic_loop(
      f, node, body,
      [&](Frame& g) { return host_binary(g, "<", g.locals.at(var), Value::integer(end), at).id; },
      [&](Frame& g) { g.locals[var] = binary(g, "+", g.locals.at(var), Value::integer(1), at, at, at); },
      {var});
}

void Elaborator::exec_while(Frame& f, NodeId node) {
  const ast::Ast& a = ast(f);
  const NodeId cond_node = a.child(node, 0), body = a.child(node, 1);
  if (!f.builder) {
    report(a.span(node), diag::Id::Misplaced, "`while` stands outside a phase or script");
    return;
  }
  // The first look at the condition tells whether it is known now; what it emitted is taken back.
  Builder& b = *f.builder;
  for (int64_t round = 0;; ++round) {
    const auto mark_values = b.fn->values.size();
    const auto mark_ops = b.fn->ops.size();
    const auto mark_region = b.fn->regions[b.region].ops.size();
    const auto mark_regions = b.fn->regions.size();
    const auto weights = b.weights;
    const Value c = eval(f, cond_node);
    if (c.poison()) return;
    if (c.is(Value::Kind::Bool)) {
      if (!c.flag) return;
      if (round >= kMaxRounds) {
        report(
            a.span(cond_node), diag::Id::TooMuchWork,
            fmt::format("this loop does not end within {} rounds while the model is compiled", kMaxRounds));
        return;
      }
      exec_block(f, body);
      if (f.returned || work_reported_) return;
      continue;
    }
    b.fn->values.resize(mark_values);
    b.fn->ops.resize(mark_ops);
    b.fn->regions[b.region].ops.resize(mark_region);
    b.fn->regions.resize(mark_regions);
    b.origins.resize(mark_values);
    b.weights = weights;
    break;
  }
  exec_dynamic_loop(
      f, node, body,
      [&](Frame& g) -> ValueId {
        const Value c = eval(g, cond_node);
        if (c.poison() || !c.is(Value::Kind::Ir)) {
          if (!c.poison())
            report(a.span(cond_node), diag::Id::TypeMismatch, "the condition", describe(&g, c), "a boolean");
          return plan::kNone;
        }
        const Type t = type_of(g, c.id);
        if (t.kind == plan::Kind::HostBool) return c.id;
        if (t.is_tensor() && t.dtype == plan::DType::Bool) {
          if (t.rank() == 0) return c.id;
          const Value scalar = emit_inferred(g, Opcode::Reshape, {c.id}, {std::vector<Dim>{}},
                                             a.span(cond_node), {a.span(cond_node)}, {});
          return scalar.poison() ? plan::kNone : scalar.id;
        }
        report(a.span(cond_node), diag::Id::TypeMismatch, "the condition", program_.text(t), "a boolean")
            .help("compare explicitly: `(x > 0).any()`");
        return plan::kNone;
      },
      [](Frame&) {}, {});
}

// Carried names become region arguments. Their types must stay; a size that changes from round to round
// becomes a symbol of the run, and the body is walked again with it.
void Elaborator::exec_dynamic_loop(Frame& f, NodeId node, NodeId body,
                                   const std::function<ValueId(Frame&)>& condition,
                                   const std::function<void(Frame&)>& advance,
                                   std::vector<std::string> extra) {
  const ast::Ast& a = ast(f);
  Builder& b = *f.builder;
  std::set<std::string> assigned(extra.begin(), extra.end());
  assigned_names(a, body, assigned);
  std::vector<std::string> carried;
  std::vector<ValueId> init;
  std::vector<Type> types;
  for (const std::string& name : assigned) {
    const auto it = f.locals.find(name);
    if (it == f.locals.end() || it->second.poison()) continue;
    const ValueId id = it->second.is(Value::Kind::List) ? to_tensor(f, it->second, a.span(node))
                                                        : to_ir(f, it->second, a.span(node));
    if (id == plan::kNone) return;
    Type t = type_of(f, id);
    if (t.kind == plan::Kind::HostInt) t.dims[0] = Dim(-1);
    carried.push_back(name);
    init.push_back(id);
    types.push_back(with_fresh_symbols(std::move(t)));
  }
  const plan::RegionId outer = b.region;
  const auto before = f.locals;
  for (int attempt = 0; attempt < 8; ++attempt) {
    const auto mark_values = b.fn->values.size();
    const auto mark_ops = b.fn->ops.size();
    const auto mark_regions = b.fn->regions.size();
    const auto weights = b.weights;
    ++b.dynamic_depth;
    const auto enter = [&](plan::RegionId region) {
      b.region = region;
      f.locals = before;
      for (size_t i = 0; i < carried.size(); ++i) {
        const ValueId id = b.fn->add_value(types[i], carried[i]);
        b.fn->regions[region].args.push_back(id);
        b.origins.resize(b.fn->values.size(), a.span(node));
        f.locals[carried[i]] = types[i].kind == plan::Kind::HostInt ? Value::integer(types[i].dims[0])
                                                                    : Value::ir(id, a.span(node));
      }
    };
    const plan::RegionId cond_region = b.fn->add_region(), body_region = b.fn->add_region();
    enter(cond_region);
    const ValueId c = condition(f);
    if (c != plan::kNone) emit(f, Opcode::Yield, {c}, {}, {}, a.span(node));
    enter(body_region);
    // The loop variable of a walked list is its element.
    if (a.kind(node) == Kind::For && a.kind(a.child(node, 0)) != Kind::Range) {
      const Value list = eval(f, a.child(node, 0));
      if (list.is(Value::Kind::Ir) && f.locals.contains(".i"))
        f.locals[std::string(a.text(node))] = emit_inferred(
            f, Opcode::HostElement, {list.id}, {f.locals.at(".i").dim, false}, a.span(node), {}, {});
    }
    exec_block(f, body);
    f.returned = false;
    advance(f);
    bool again = false, ok = c != plan::kNone;
    std::vector<ValueId> next;
    for (size_t i = 0; i < carried.size() && ok; ++i) {
      const Value v = f.locals.contains(carried[i]) ? f.locals.at(carried[i]) : Value{};
      if (v.poison()) {
        ok = false;
        break;
      }
      const ValueId id = v.is(Value::Kind::List) ? to_tensor(f, v, a.span(node)) : to_ir(f, v, a.span(node));
      if (id == plan::kNone) {
        ok = false;
        break;
      }
      const Type t = type_of(f, id);
      if (t.kind != types[i].kind || t.dtype != types[i].dtype || t.rank() != types[i].rank()) {
        report(a.span(node), diag::Id::BranchTypes, carried[i], program_.text(types[i]), program_.text(t))
            .note("a value that a loop carries keeps its type");
        ok = false;
        break;
      }
      for (size_t d = 0; d < t.dims.size() && t.is_tensor(); ++d)
        if (t.dims[d] != types[i].dims[d] &&
            !(types[i].dims[d].as_symbol() && unbacked_.contains(*types[i].dims[d].as_symbol()))) {
          types[i].dims[d] = Dim(-1);
          again = true;
        }
      types[i] = with_fresh_symbols(std::move(types[i]));
      next.push_back(id);
    }
    --b.dynamic_depth;
    if (ok && !again) {
      emit(f, Opcode::Yield, next, {}, {}, a.span(node));
      b.region = outer;
      f.locals = before;
      // Results have symbols of their own: the loop's last values.
      std::vector<Type> results;
      for (const Type& t : types) {
        Type r = t;
        for (Dim& d : r.dims)
          if (d.as_symbol() && unbacked_.contains(*d.as_symbol())) d = Dim(-1);
        results.push_back(with_fresh_symbols(std::move(r)));
      }
      const plan::OpId op = emit(f, Opcode::While, init, {}, results, a.span(node));
      b.fn->ops[op].regions = {cond_region, body_region};
      for (size_t i = 0; i < carried.size(); ++i) {
        const ValueId id = b.fn->ops[op].results[i];
        f.locals[carried[i]] = results[i].kind == plan::Kind::HostInt ? Value::integer(results[i].dims[0])
                                                                      : Value::ir(id, a.span(node));
      }
      for (const std::string& name : assigned)
        if (!before.contains(name)) f.one_branch.insert(name);
      return;
    }
    b.region = outer;
    b.fn->values.resize(mark_values);
    b.fn->ops.resize(mark_ops);
    b.fn->regions.resize(mark_regions);
    b.origins.resize(mark_values);
    b.weights = weights;
    f.locals = before;
    if (!ok) {
      for (const std::string& name : carried) f.locals[name] = {};
      return;
    }
  }
  report(a.span(node), diag::Id::BranchTypes, "a carried value", "of one shape", "another in every round");
}

}  // namespace skdsl::sema
