// stmt — statements: what stands in a body, assignments, return
#include <algorithm>

#include "compiler/sema/elaborator.h"

namespace skdsl::sema {

using ast::Kind;
using ast::NodeId;
using plan::Dim;
using plan::Type;
using plan::ValueId;

namespace {
constexpr uint64_t kMaxWork = 50'000'000;  // evaluated nodes
}  // namespace

bool Elaborator::budget(Span at) {
  if (++work_ < kMaxWork) return true;
  if (!work_reported_)
    report(at, diag::Id::TooMuchWork, fmt::format("compiling takes more than {} evaluations", kMaxWork))
        .help("loops over configuration are unrolled; make their ranges smaller");
  work_reported_ = true;
  return false;
}

void Elaborator::exec_block(Frame& f, NodeId block) {
  const ast::Ast& a = ast(f);
  NodeId before = 0;
  for (const NodeId s : a.children(block)) {
    if (f.returned) {
      // A branch that configuration took may return early; behind a `return` of this block nothing ever runs.
      if (a.kind(before) == Kind::Return) report(a.span(s), diag::Id::UnreachableCode);
      return;
    }
    before = s;
    exec(f, s);
    if (work_reported_) return;
  }
}

void Elaborator::exec(Frame& f, NodeId node) {
  const ast::Ast& a = ast(f);
  if (!budget(a.span(node))) return;
  switch (a.kind(node)) {
    case Kind::None:
      return;
    case Kind::Block:
      return exec_block(f, node);
    case Kind::Let:
      for (const NodeId b : a.children(node)) f.locals[std::string(a.text(b))] = eval(f, a.child(b, 0));
      return;
    case Kind::Assign:
      return exec_assign(f, node);
    case Kind::ExprStmt: {
      const Value v = eval(f, a.child(node, 0));
      // A value that nobody takes is most likely a forgotten `=` or `print`.
      if (!v.poison() && !v.is(Value::Kind::None) && !f.is_script && a.kind(a.child(node, 0)) != Kind::Call)
        report(a.span(node), diag::Id::UnusedValue);
      return;
    }
    case Kind::Return:
      return exec_return(f, node);
    case Kind::If:
      return exec_if(f, node);
    case Kind::For:
      return exec_for(f, node);
    case Kind::While:
      return exec_while(f, node);
    case Kind::SuperKernel:
    case Kind::Stream:
    case Kind::Cores:
    case Kind::ScopeBegin:
    case Kind::ScopeEnd:
      return exec_scoped(f, node);
    case Kind::Prefetch:
      return exec_prefetch(f, node);
    case Kind::Event:
    case Kind::Record:
    case Kind::Wait:
    case Kind::Gears:
    case Kind::Dump:
      return exec_event(f, node);
    default:
      break;
  }
  report(a.span(node), diag::Id::Misplaced, fmt::format("{} cannot stand here", ast::name(a.kind(node))));
}

void Elaborator::exec_return(Frame& f, NodeId node) {
  const ast::Ast& a = ast(f);
  if (f.builder && f.builder->dynamic_depth > f.dynamic_depth) {
    report(a.span(node), diag::Id::Misplaced,
           "`return` inside a branch or loop that depends on tensor values")
        .help("set a name in each branch and return it after the `if`");
    f.returned = true;
    f.result = {};
    return;
  }
  f.result = a.child(node, 0) ? eval(f, a.child(node, 0)) : Value::none();
  f.result.origin = a.child(node, 0) ? a.span(a.child(node, 0)) : a.span(node);
  f.returned = true;
}

void Elaborator::exec_assign(Frame& f, NodeId node) {
  const ast::Ast& a = ast(f);
  const NodeId target = a.child(node, 0), value = a.child(node, 1);
  Value v = eval(f, value);
  if (!v.poison() && v.is(Value::Kind::None)) {
    report(a.span(value), diag::Id::TypeMismatch, "what is assigned", "no value", "a value");
    v = {};
  }
  // A script's models are named after the variable's call; everything else is a plain binding.
  if (a.kind(target) == Kind::Tuple) {
    const auto names = a.children(target);
    if (!v.poison() &&
        (!(v.is(Value::Kind::Tuple) || v.is(Value::Kind::List)) || v.items.size() != names.size())) {
      const bool several = v.is(Value::Kind::Tuple) || v.is(Value::Kind::List);
      report(a.span(target), diag::Id::UnpackCount, several ? v.items.size() : 1, names.size())
          .note(a.span(value), "the values come from here");
      v = {};
    }
    for (size_t i = 0; i < names.size(); ++i)
      assign(f, names[i], v.poison() ? Value{} : v.items[i], a.span(node));
    return;
  }
  assign(f, target, std::move(v), a.span(node));
}

void Elaborator::assign(Frame& f, NodeId target, Value v, Span at) {
  const ast::Ast& a = ast(f);
  if (a.kind(target) == Kind::Index) {
    const NodeId base_node = a.child(target, 0);
    const Value base = eval(f, base_node);
    if (base.poison() || v.poison()) return;
    if (a.children(target).size() == 2 && f.builder && is_tensor(f, base)) {
      const NodeId item = a.child(target, 1);
      const Value index = a.kind(item) == Kind::Range ? Value::none() : eval(f, item);
      if (index.poison()) return;
      if (is_tensor(f, index)) {
        const ValueId x = to_ir(f, base, a.span(base_node)), m = to_ir(f, index, a.span(item));
        if (x == plan::kNone || m == plan::kNone) return;
        const ValueId y = to_tensor(f, v, at, type_of(f, x).dtype);
        if (y == plan::kNone) return;
        return assign(
            f, base_node,
            emit_inferred(f, Opcode::IndexPut, {x, m, y}, {}, at, {a.span(base_node), a.span(item), at}, {}),
            at);
      }
    }
    report(a.span(target), diag::Id::Misplaced, "only x[mask] = value with a boolean mask can be assigned")
        .help("build the tensor with `concat`, or write a state with `scatter_update`");
    return;
  }
  if (a.kind(target) != Kind::Name) {
    report(a.span(target), diag::Id::Misplaced, "only names, states and x[mask] can be assigned");
    return;
  }
  const std::string name(a.text(target));
  if (name == "_") return;
  if (!f.locals.contains(name)) {
    const auto member = f.self ? f.self->members.find(name) : decltype(f.self->members.find(name)){};
    if (f.self && member != f.self->members.end()) {
      if (member->second.is(Value::Kind::State)) {
        if (v.poison()) return;
        const ValueId id = to_tensor(f, v, at, state_types_.at(member->second.text).dtype);
        if (id == plan::kNone) return;
        const Type& declared = state_types_.at(member->second.text);
        const Type t = type_of(f, id);
        if (t.dtype != declared.dtype || t.rank() != declared.rank()) {
          report(at, diag::Id::TypeMismatch, fmt::format("what is assigned to state `{}`", name),
                 program_.text(t), program_.text(declared));
          return;
        }
        emit(f, Opcode::StateAssign, {id}, {member->second.text}, {}, at);
        return;
      }
      report(a.span(target), diag::Id::ReservedName, name,
             "it is a member of the layer and does not change; take another name");
      return;
    }
  }
  if (!v.poison() && v.is(Value::Kind::None)) return;
  // Sizes are immutable words of the signature: rebinding T would change what [T, 64] says.
  v.origin = v.origin ? v.origin : at;
  f.locals[name] = std::move(v);
}

void Elaborator::assigned_names(const ast::Ast& a, NodeId node, std::set<std::string>& out) const {
  if (a.kind(node) == Kind::Assign) {
    const NodeId target = a.child(node, 0);
    const std::function<void(NodeId)> add = [&](NodeId t) {
      if (a.kind(t) == Kind::Name) out.emplace(a.text(t));
      if (a.kind(t) == Kind::Tuple)
        for (const NodeId c : a.children(t)) add(c);
      if (a.kind(t) == Kind::Index) add(a.child(t, 0));
    };
    add(target);
  }
  if (a.kind(node) == Kind::Binding) out.emplace(a.text(node));
  for (const NodeId c : a.children(node)) assigned_names(a, c, out);
}

}  // namespace skdsl::sema
