#include "compiler/ops/infer.h"

#include <array>

#include "compiler/ops/infer_internal.h"

namespace skdsl::ops {

using plan::Attr;
using plan::Dim;
using plan::DType;
using plan::Type;

std::string Infer::text(const std::vector<Dim>& dims) const {
  std::string out = "[";
  for (size_t i = 0; i < dims.size(); ++i) out += (i ? ", " : "") + call.program->text(dims[i]);
  return out + "]";
}

const Dim& Infer::int_attr(size_t i) const { return std::get<Dim>((*call.attrs)[i]); }
const std::vector<Dim>& Infer::list_attr(size_t i) const {
  return std::get<std::vector<Dim>>((*call.attrs)[i]);
}

DType Infer::dtype_attr(size_t i, DType otherwise) const {
  const auto* d = std::get_if<DType>(&(*call.attrs)[i]);
  return d ? *d : otherwise;
}

Span Infer::operand_span(size_t i) const {
  return i < call.operand_spans.size() && call.operand_spans[i] ? call.operand_spans[i] : call.span;
}
Span Infer::attr_span(size_t i) const {
  return i < call.attr_spans.size() && call.attr_spans[i] ? call.attr_spans[i] : call.span;
}

void Infer::note_origin(diag::Engine::Builder& report, size_t i) const {
  if (i < call.operand_origins.size() && call.operand_origins[i] && call.operands[i])
    report.note(call.operand_origins[i], fmt::format("{} comes from here", text(call.operands[i]->dims)));
}

bool Infer::same(const Dim& a, const Dim& b, const std::string& what) {
  if (a == b) return true;
  if (a.is_constant() && b.is_constant()) return false;
  for (const Dim* d : {&a, &b})
    for (const plan::SymbolId s : d->symbols())
      if (call.is_unbacked(s)) {
        call.checks.push_back({a, b, what});
        return true;
      }
  return false;
}

bool Infer::fail_shapes(size_t i, size_t j) {
  auto report = call.diags->report(operand_span(j), diag::Id::ShapeMismatch, info(call.op).name,
                                   text(call.operands[i]->dims), text(call.operands[j]->dims));
  note_origin(report, i);
  note_origin(report, j);
  return false;
}

bool Infer::expect_shape(size_t i, const std::vector<Dim>& shape) {
  const Type& t = *call.operands[i];
  bool ok = t.dims.size() == shape.size();
  for (size_t d = 0; ok && d < shape.size(); ++d)
    ok = same(t.dims[d], shape[d], std::string(info(call.op).name));
  if (ok) return true;
  auto report =
      call.diags->report(operand_span(i), diag::Id::RankMismatch, operand_param(info(call.op), i).name,
                         info(call.op).name, text(t.dims), text(shape));
  note_origin(report, i);
  return false;
}

bool Infer::expect_rank(size_t i, size_t rank, std::string_view form) {
  const Type& t = *call.operands[i];
  if (t.rank() == rank) return true;
  auto report =
      call.diags->report(operand_span(i), diag::Id::RankMismatch, operand_param(info(call.op), i).name,
                         info(call.op).name, text(t.dims), form);
  note_origin(report, i);
  return false;
}

/// 0: running ends, 1: counts.
bool Infer::expect_group_list_type(size_t attr) {
  const auto type = static_attr(attr);
  if (!type || *type == 0 || *type == 1) return type.has_value();
  return bad_value(attr_span(attr),
                   fmt::format("`group_list_type` is {}, expected 0 (running ends) or 1 (counts)", *type));
}

bool Infer::bad_value(Span span, std::string message) {
  call.diags->report(span, diag::Id::BadValue, message);
  return false;
}

std::optional<int64_t> Infer::static_attr(size_t i) {
  const Dim& d = int_attr(i);
  if (d.is_constant()) return d.constant();
  call.diags->report(attr_span(i), diag::Id::NotStatic,
                     fmt::format("`{}` of `{}`", attr_param(info(call.op), i).name, info(call.op).name),
                     call.program->text(d));
  return {};
}

std::optional<size_t> Infer::axis_attr(size_t i, size_t operand) {
  const auto axis = static_attr(i);
  if (!axis) return {};
  const auto rank = static_cast<int64_t>(call.operands[operand]->rank());
  const int64_t at = *axis < 0 ? *axis + rank : *axis;
  if (at < 0 || at >= rank) {
    auto report = call.diags->report(attr_span(i), diag::Id::AxisOutOfRange, *axis, info(call.op).name,
                                     text(call.operands[operand]->dims));
    note_origin(report, operand);
    return {};
  }
  (*call.attrs)[i] = Dim(at);
  return static_cast<size_t>(at);
}

/// The common shape under broadcasting; nothing after a report.
std::optional<std::vector<Dim>> Infer::broadcast(std::vector<size_t> operands) {
  std::vector<Dim> out;
  size_t first = operands[0];
  for (const size_t o : operands) {
    const auto& dims = call.operands[o]->dims;
    std::vector<Dim> next(std::max(out.size(), dims.size()), Dim(1));
    for (size_t k = 0; k < next.size(); ++k) {
      const size_t back = next.size() - 1 - k;  // from the last axis
      const Dim a = k < out.size() ? out[out.size() - 1 - k] : Dim(1);
      const Dim b = k < dims.size() ? dims[dims.size() - 1 - k] : Dim(1);
      if (a == Dim(1)) {
        next[back] = b;
      } else if (b == Dim(1) || same(b, a, std::string(info(call.op).name))) {
        next[back] = a;
      } else {
        fail_shapes(first, o);
        return {};
      }
    }
    out = std::move(next);
    if (call.operands[first]->dims.size() < dims.size()) first = o;
  }
  return out;
}

bool Infer::is_scalar(size_t i) const { return call.operands[i]->dims.empty(); }

/// Operands of an elementwise op share a dtype; a rank-0 f32 goes with every float dtype, and takes it.
std::optional<DType> Infer::common_dtype(std::vector<size_t> operands) {
  DType out = DType::None;
  size_t from = 0;
  for (const bool scalars : {false, true})
    for (const size_t o : operands) {
      if (is_scalar(o) != scalars) continue;
      const DType t = call.operands[o]->dtype;
      const auto floating = [](DType d) {
        return d == DType::F32 || d == DType::BF16 || d == DType::F16 || d == DType::Stored;
      };
      if (out == DType::None) {
        out = t;
        from = o;
      } else if (t == out) {
        continue;
      } else if (out == DType::Stored && floating(t)) {
        out = t;  // a stored weight takes the other's dtype
      } else if (t == DType::Stored && floating(out)) {
        continue;
      } else if (scalars && t == DType::F32 && floating(out)) {
        continue;
      } else {
        auto report = call.diags->report(operand_span(o), diag::Id::DTypeMismatch, info(call.op).name,
                                         plan::name(call.operands[from]->dtype), plan::name(t));
        report.help(fmt::format("convert one with `cast(x, {})`", plan::name(out)));
        return {};
      }
    }
  return out;
}

namespace {
using Rule = std::optional<std::vector<Type>> (*)(Infer&);
struct RuleRow {
  ShapeRule rule;
  Rule infer;
};
constexpr RuleRow kRules[] = {
#define SK_SHAPE_RULE(Name, text) {ShapeRule::Name, rules::Name},
#include "stdlib/shape_rules.def"
#undef SK_SHAPE_RULE
};

bool takes(Types types, const Type& t) {
  switch (types) {
    case Types::HostAny:
      return true;
    case Types::Event:
      return false;
    case Types::Any:
      return t.is_tensor();
    case Types::Float:
      return t.is_tensor() && (t.dtype == DType::F32 || t.dtype == DType::BF16 || t.dtype == DType::F16 ||
                               t.dtype == DType::Stored);
    case Types::Index:
      return t.is_tensor() && (t.dtype == DType::I32 || t.dtype == DType::I64);
    case Types::Int:
      return t.is_tensor() && (t.dtype == DType::I8 || t.dtype == DType::I32 || t.dtype == DType::I64);
    case Types::Int8:
      return t.is_tensor() && t.dtype == DType::I8;
    case Types::Int32:
      return t.is_tensor() && t.dtype == DType::I32;
    case Types::Bool:
      return t.is_tensor() && t.dtype == DType::Bool;
  }
  return false;
}

std::string_view described(Types types) {
  constexpr std::string_view kText[] = {
      "a float tensor", "an i32 or i64 tensor", "an integer tensor", "an i8 tensor",
      "an i32 tensor",  "a bool tensor",        "a tensor",          "an event",
      "a value"};
  return kText[static_cast<size_t>(types)];
}
}  // namespace

std::optional<std::vector<Type>> infer(InferCall& call) {
  const OpInfo& op = info(call.op);
  Infer state{call};
  bool ok = true;
  for (size_t i = 0; i < call.operands.size(); ++i) {
    if (!call.operands[i]) continue;
    const Param& p = operand_param(op, i);
    if (takes(p.types, *call.operands[i])) continue;
    auto report = call.diags->report(state.operand_span(i), diag::Id::TypeMismatch,
                                     fmt::format("`{}` of `{}`", p.name, op.name),
                                     call.program->text(*call.operands[i]), described(p.types));
    state.note_origin(report, i);
    ok = false;
  }
  if (!ok) return {};
  static_assert(std::size(kRules) == static_cast<size_t>(ShapeRule::Region) + 1);
  auto types = kRules[static_cast<size_t>(op.rule)].infer(state);
  if (types)
    for (const Type& t : *types)
      if (t.rank() > SK_MAX_RANK) {
        call.diags->report(
            call.span, diag::Id::BadValue,
            fmt::format("`{}` gives {} axes, at most {} are supported", op.name, t.rank(), int{SK_MAX_RANK}));
        return {};
      }
  return types;
}

}  // namespace skdsl::ops
