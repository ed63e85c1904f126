// call_op — an operator being called: parameters by position and name, operands as tensors, attributes known
// now
#include <algorithm>

#include "compiler/sema/elaborator.h"

namespace skdsl::sema {

using plan::Dim;
using plan::ValueId;

// Statements or the elaborator itself make the others.
bool is_callable(const OpInfo& op) {
  static constexpr std::string_view kStatements[] = {"record", "wait",        "prefetch", "gears",
                                                     "tap",    "scope_begin", "scope_end"};
  return op.category != "structure" &&
         std::find(std::begin(kStatements), std::end(kStatements), op.name) == std::end(kStatements);
}

std::optional<plan::Attr> Elaborator::to_attr(Frame& f, const OpInfo& op, const Param& p, const Value& v,
                                              Span at) {
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
      if (const std::string near = diag::nearest(*s, choices); !near.empty())
        r.did_you_mean(at, near, fmt::format("\"{}\"", near));
      return {};
    }
  }
  return {};
}

Value Elaborator::call_op(Frame& f, Opcode code, std::vector<CallArg> args, Span at) {
  const OpInfo& op = info(code);
  if (!is_callable(op)) {
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
        report(a.span, diag::Id::TooManyArguments, fmt::format("`{}`", op.name), op.params.size(),
               args.size());
        return {};
      } else {
        given[position++] = &a;
      }
      continue;
    }
    const auto* const p =
        std::find_if(op.params.begin(), op.params.end(), [&](const Param& x) { return x.name == a.name; });
    if (p == op.params.end()) {
      auto r = report(a.name_span, diag::Id::UnknownArgument, fmt::format("`{}`", op.name), a.name);
      std::vector<std::string> names;
      for (const Param& x : op.params) names.emplace_back(x.name);
      if (const std::string near = diag::nearest(a.name, names); !near.empty())
        r.did_you_mean(a.name_span, near);
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
    if (given[i] && !op.params[i].is_attr && op.params[i].types != Types::Bool &&
        is_tensor(f, given[i]->value) && like == plan::DType::None) {
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
        attrs.push_back(plan::default_attr(p));
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
                     p.types == Types::Index || p.types == Types::Int ? plan::DType::I32
                     : p.types == Types::Bool                         ? plan::DType::Bool
                                                                      : like);
    if (id == plan::kNone) return {};
    operands.push_back(id);
    operand_spans.push_back(a->span);
  }
  if (op.has(kInPlace) && given[0] && !given[0]->value.is(Value::Kind::State)) {
    report(given[0]->span, diag::Id::TypeMismatch, fmt::format("`{}` of `{}`", op.params[0].name, op.name),
           describe(&f, given[0]->value), "a state; only states are written in place");
    return {};
  }
  return emit_inferred(f, code, std::move(operands), std::move(attrs), at, std::move(operand_spans),
                       std::move(attr_spans));
}

}  // namespace skdsl::sema
