// schedule — super kernels, streams, core limits, events and prefetches: carried into the plan, no number
// changes
#include <algorithm>

#include "compiler/sema/elaborator.h"
#include "compiler/superkernel/options.h"

namespace skdsl::sema {

using ast::Kind;
using ast::NodeId;
using plan::Context;
using plan::ValueId;

// Prefill always runs eager: schedule constructs that reach it through a `forward` do nothing there.
bool Elaborator::inert(const Frame& f) const {
  return !f.builder || f.builder->phase == plan::Phase::Prefill;
}

void Elaborator::exec_scoped(Frame& f, NodeId node) {
  const ast::Ast& a = ast(f);
  const Kind kind = a.kind(node);
  if (kind == Kind::ScopeBegin || kind == Kind::ScopeEnd) {
    const auto name =
        static_string(eval(f, a.child(node, 0)), a.span(a.child(node, 0)), "the name of a scope");
    if (!name || !f.builder) return;
    auto& open = f.builder->open_scopes;
    if (kind == Kind::ScopeBegin) {
      open.emplace_back(*name, a.span(node));
    } else if (const auto it =
                   std::find_if(open.begin(), open.end(), [&](const auto& o) { return o.first == *name; });
               it != open.end()) {
      open.erase(it);
    } else {
      auto r = report(a.span(node), diag::Id::SuperKernelUnbalanced,
                      fmt::format("scope `{}` is closed and was not opened", *name));
      r.help(fmt::format("write `scope_begin \"{}\"` before it in the same body", *name));
      // With one scope open, its name was meant.
      if (open.size() == 1) r.fix(a.span(a.child(node, 0)), fmt::format("\"{}\"", open.front().first));
    }
    if (!inert(f))
      emit(f, kind == Kind::ScopeBegin ? Opcode::ScopeBegin : Opcode::ScopeEnd, {}, {*name}, {},
           a.span(node));
    return;
  }
  // SuperKernel: name, options, when, block. Stream: the same. Cores: options, when, block.
  const size_t first = kind == Kind::Cores ? 0 : 1;
  const NodeId options = a.child(node, first), when = a.child(node, first + 1),
               block = a.child(node, first + 2);
  if (kind == Kind::SuperKernel && f.phase_word == "prefill") {
    auto r = report(a.span(node), diag::Id::SuperKernelInPrefill);
    r.help("move it into `decode`, or into a `forward`, where it is inert in prefill");
    // Its statements stay: header and closing bracket go.
    const Span whole = a.span(node);
    if (const auto inside = a.children(block); !inside.empty())
      r.fix({whole.file, whole.begin, a.span(inside.front()).begin}, "")
          .fix({whole.file, a.span(inside.back()).end, whole.end}, "");
  }
  Context c;
  c.kind = kind == Kind::Stream     ? Context::Kind::Stream
           : kind == Kind::Cores    ? Context::Kind::Cores
           : a.text(node) == "none" ? Context::Kind::NoSuperKernel
                                    : Context::Kind::SuperKernel;
  c.loc = loc(a.span(node));
  bool ok = true;
  if (kind != Kind::Cores && a.child(node, 0)) {
    const auto name = static_string(eval(f, a.child(node, 0)), a.span(a.child(node, 0)),
                                    kind == Kind::Stream ? "the name of a stream" : "the name of a scope");
    ok = name.has_value();
    if (name) c.name = *name;
    if (name && name->empty()) {
      report(a.span(a.child(node, 0)), diag::Id::BadValue, "a scope or stream needs a name");
      ok = false;
    }
  }
  bool active = true;
  if (when) {
    const auto w = static_bool(eval(f, when), a.span(when), "`when`");
    ok &= w.has_value();
    active = w.value_or(false);
  }
  for (const NodeId o : options ? a.children(options) : std::span<const NodeId>{}) {
    const std::string name(a.text(o));
    const Value v = eval(f, a.child(o, 0));
    if (v.poison()) {
      ok = false;
      continue;
    }
    if (v.is(Value::Kind::Ir) || v.is(Value::Kind::Weight) || v.is(Value::Kind::Instance)) {
      report(a.span(a.child(o, 0)), diag::Id::NotStatic, fmt::format("option `{}`", name), describe(&f, v));
      ok = false;
      continue;
    }
    if (kind == Kind::Cores) {
      if (name != "aic" && name != "aiv") {
        auto r = report(a.name_span(o), diag::Id::UnknownOption, "`cores`", name);
        r.help("its options are aic and aiv");
        ok = false;
        continue;
      }
      const auto n = constant_int(v, a.span(a.child(o, 0)), fmt::format("`{}`", name));
      if (!n) {
        ok = false;
        continue;
      }
      if (*n < 1) {
        report(a.span(a.child(o, 0)), diag::Id::BadValue,
               fmt::format("`{}` is {}, at least 1 core is required", name, *n))
            .fix(a.span(a.child(o, 0)), "1");
        ok = false;
        continue;
      }
    }
    for (const auto& [other, value] : c.options)
      if (other == name) {
        report(a.name_span(o), diag::Id::RepeatedArgument, name);
        ok = false;
      }
    if (kind == Kind::SuperKernel) {
      superkernel::Options checked;
      if (auto good = superkernel::add_option(checked, name, text_of(v)); !good) {
        const bool key = superkernel::find_option(name) == superkernel::Option::kCount;
        auto r = report(key ? a.name_span(o) : a.span(a.child(o, 0)), diag::Id::SuperKernelOption,
                        good.error().message);
        r.help(good.error().help);
        std::vector<std::string> keys;
        for (int k = 0; k < static_cast<int>(superkernel::Option::kCount); ++k)
          keys.emplace_back(superkernel::row(static_cast<superkernel::Option>(k)).key);
        if (const std::string near = key ? diag::nearest(name, keys) : ""; !near.empty())
          r.fix(a.name_span(o), near);
        // A value that the option does not have gives way to its default.
        superkernel::Options trial;
        if (const auto known = superkernel::find_option(name); known != superkernel::Option::kCount)
          if (const std::string_view text = superkernel::row(known).default_text;
              superkernel::add_option(trial, name, text))
            r.help(fmt::format("its default is `{}`", text))
                .fix(a.span(a.child(o, 0)),
                     v.is(Value::Kind::Str) && !std::isdigit(static_cast<unsigned char>(text[0]))
                         ? fmt::format("\"{}\"", text)
                         : std::string(text));
        ok = false;
        continue;
      }
    }
    c.options.emplace_back(name, text_of(v));
  }
  if (kind == Kind::Cores && ok && c.options.empty()) {
    report(a.span(node), diag::Id::MissingArgument, "`cores`", "aic or aiv");
    ok = false;
  }
  if (!ok || !active || inert(f)) return exec_block(f, block);
  Builder& b = *f.builder;
  c.parent = b.context;
  const plan::ContextId outer = b.context;
  b.context = static_cast<plan::ContextId>(program_.contexts.size());
  program_.contexts.push_back(std::move(c));
  exec_block(f, block);
  b.context = outer;
}

std::string Elaborator::place_path(Frame& f, NodeId node, bool trigger, bool* is_out) {
  const ast::Ast& a = ast(f);
  *is_out = false;
  NodeId base = node;
  if (a.kind(node) == Kind::Member && a.text(node) == "out") {
    *is_out = true;
    base = a.child(node, 0);
  }
  const Value v = eval(f, base);
  if (v.poison()) return "";
  if (v.is(Value::Kind::Instance)) return v.instance->path;
  if (v.is(Value::Kind::Weight) && !*is_out) return v.text;
  const std::string_view text = diags_.sources().text(a.span(node));
  if (*is_out || trigger)
    report(a.span(node), diag::Id::PrefetchAfter, text)
        .help("write the path of a layer and `.out`, or the name of a value");
  else
    report(a.span(node), diag::Id::PrefetchTarget, text);
  return "";
}

void Elaborator::exec_prefetch(Frame& f, NodeId node) {
  const ast::Ast& a = ast(f);
  const NodeId target = a.child(node, 0), after = a.child(node, 1), max = a.child(node, 2),
               when = a.child(node, 3);
  bool active = true;
  if (when) {
    const auto w = static_bool(eval(f, when), a.span(when), "`when`");
    active = w.value_or(false);
  }
  bool is_out = false;
  const std::string target_path = place_path(f, target, false, &is_out);
  if (is_out) report(a.span(target), diag::Id::PrefetchTarget, diags_.sources().text(a.span(target)));
  int64_t bytes = -1;
  if (max) {
    const auto n = constant_int(eval(f, max), a.span(max), "`max` of a prefetch");
    if (n && *n <= 0)
      report(a.span(max), diag::Id::PrefetchSize, *n)
          .help("write how much is pulled at most, such as `max 18MiB`, or leave `max` out");
    if (!n || *n <= 0) return;
    bytes = *n;
  }
  ValueId trigger = plan::kNone;
  std::string after_path;
  const bool plain = a.kind(after) == Kind::Name && lookup(f, a.text(after), a.span(after)) &&
                     lookup(f, a.text(after), a.span(after))->is(Value::Kind::Ir);
  if (plain) {
    trigger = to_ir(f, eval(f, after), a.span(after));
  } else {
    bool out = false;
    if (a.kind(after) == Kind::Name) {
      const Value v = eval(f, after);
      if (v.poison()) return;
    }
    after_path = place_path(f, after, true, &out);
    if (after_path.empty()) return;
    if (!out) {
      report(a.span(after), diag::Id::PrefetchAfter, diags_.sources().text(a.span(after)))
          .help("the result of a layer is written `layer.out`");
      return;
    }
  }
  if (target_path.empty() || !active || inert(f)) return;
  emit(f, Opcode::Prefetch, {trigger}, {target_path, after_path, plan::Dim(bytes)}, {}, a.span(node));
}

void Elaborator::exec_event(Frame& f, NodeId node) {
  const ast::Ast& a = ast(f);
  switch (a.kind(node)) {
    case Kind::Event: {
      const std::string name(a.text(node));
      Value v = Value::named(Value::Kind::Event, unique_name(join_path(f.self ? f.self->path : "", name)));
      f.locals[name] = v;
      return;
    }
    case Kind::Record:
    case Kind::Wait: {
      const NodeId which = a.child(node, 0);
      const Value v = eval(f, which);
      if (v.poison()) return;
      if (!v.is(Value::Kind::Event)) {
        report(a.span(which), diag::Id::UnknownEvent, diags_.sources().text(a.span(which)))
            .help("declare it first: `event e`");
        return;
      }
      if (!inert(f))
        emit(f, a.kind(node) == Kind::Record ? Opcode::RecordEvent : Opcode::WaitEvent, {}, {v.text}, {},
             a.span(node));
      return;
    }
    case Kind::Gears: {
      const Value v = eval(f, a.child(node, 0));
      if (v.poison()) return;
      std::vector<plan::Dim> sizes;
      if (v.is(Value::Kind::List))
        for (const Value& item : v.items) {
          const auto n = constant_int(item, a.span(a.child(node, 0)), "a gear");
          if (!n) return;
          if (*n < 1) {
            report(a.span(a.child(node, 0)), diag::Id::BadValue, fmt::format("gear {} is no batch size", *n));
            return;
          }
          sizes.emplace_back(*n);
        }
      if (sizes.empty()) {
        report(a.span(node), diag::Id::BadValue, "gears are a list of batch sizes");
        return;
      }
      if (!inert(f)) emit(f, Opcode::Gears, {}, {sizes}, {}, a.span(node));
      return;
    }
    case Kind::Dump: {
      const NodeId what = a.child(node, 0);
      const Value v = eval(f, what);
      if (v.poison() || !f.builder) return;
      const ValueId id = to_tensor(f, v, a.span(what));
      if (id != plan::kNone)
        emit(f, Opcode::Tap, {id}, {std::string(diags_.sources().text(a.span(what)))}, {}, a.span(node));
      return;
    }
    default:
      return;
  }
}

}  // namespace skdsl::sema
