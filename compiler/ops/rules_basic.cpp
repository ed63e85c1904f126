// rules_basic — shape rules of elementwise, reduction and layout operators, and of host values
#include <algorithm>

#include "compiler/ops/infer_internal.h"

namespace skdsl::ops::rules {

using plan::Attr;
using plan::Dim;
using plan::DType;
using plan::Kind;
using plan::Type;

namespace {
Dim product(const std::vector<Dim>& dims) {
  Dim n(1);
  for (const Dim& d : dims) n = n * d;
  return n;
}

/// Sizes are not negative; `what` names the list in the message.
bool check_sizes(Infer& s, size_t attr, std::string_view what) {
  for (const Dim& d : s.list_attr(attr))
    if (d.is_constant() && d.constant() < 0)
      return s.bad_value(s.attr_span(attr), fmt::format("{} {} holds the negative size {}", what,
                                                        s.text(s.list_attr(attr)), d.constant()));
  return true;
}
}  // namespace

Result None(Infer&) { return std::vector<Type>{}; }
Result SameAsFirst(Infer& s) { return std::vector{s.in(0)}; }

Result Broadcast(Infer& s) {
  const auto dtype = s.common_dtype({0, 1});
  if (!dtype) return {};
  if (*dtype == DType::Bool) {
    s.call.diags->report(s.call.span, diag::Id::TypeMismatch,
                         fmt::format("`x` of `{}`", info(s.call.op).name), s.call.program->text(s.in(0)),
                         "a tensor of numbers");
    return {};
  }
  auto dims = s.broadcast({0, 1});
  if (!dims) return {};
  return std::vector{Type::tensor(*dtype == DType::Stored ? DType::F32 : *dtype, std::move(*dims))};
}

Result BroadcastBool(Infer& s) {
  if (!s.common_dtype({0, 1})) return {};
  auto dims = s.broadcast({0, 1});
  if (!dims) return {};
  return std::vector{Type::tensor(DType::Bool, std::move(*dims))};
}

Result Where(Infer& s) {
  const auto dtype = s.common_dtype({1, 2});
  if (!dtype) return {};
  auto dims = s.broadcast({0, 1, 2});
  if (!dims) return {};
  return std::vector{Type::tensor(*dtype == DType::Stored ? DType::F32 : *dtype, std::move(*dims))};
}

Result Cast(Infer& s) { return std::vector{Type::tensor(s.dtype_attr(0, DType::F32), s.in(0).dims)}; }

namespace {
Result reduced(Infer& s, DType dtype, std::optional<size_t> axis, bool keepdim) {
  if (!axis) return {};
  auto dims = s.in(0).dims;
  if (keepdim)
    dims[*axis] = Dim(1);
  else
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(*axis));
  return std::vector{Type::tensor(dtype, std::move(dims))};
}
}  // namespace

Result Reduce(Infer& s) {
  return reduced(s, s.in(0).dtype, s.axis_attr(0, 0), std::get<bool>((*s.call.attrs)[1]));
}

Result ReduceIndex(Infer& s) {
  if (s.in(0).rank() == 0) return s.expect_rank(0, 1, "[…, N]"), Result{};
  return reduced(s, DType::I32, s.in(0).rank() - 1, false);
}

Result Reshape(Infer& s) {
  std::vector<Dim> shape = s.list_attr(0);
  const Dim have = product(s.in(0).dims);
  const auto hole = std::find(shape.begin(), shape.end(), Dim(-1));
  if (hole != shape.end()) {
    Dim rest(1);
    for (auto it = shape.begin(); it != shape.end(); ++it)
      if (it != hole) rest = rest * *it;
    const auto quotient = have.divide_exactly(rest);
    if (!quotient || (rest.is_constant() && rest.constant() == 0)) {
      s.call.diags->report(s.attr_span(0), diag::Id::ReshapeCount, s.text(s.in(0).dims), s.text(shape),
                           s.call.program->text(have), s.call.program->text(rest));
      return {};
    }
    *hole = *quotient;
    (*s.call.attrs)[0] = shape;
  }
  if (!check_sizes(s, 0, "shape")) return {};
  const Dim want = product(shape);
  if (!s.same(have, want, "reshape")) {
    auto report = s.call.diags->report(s.attr_span(0), diag::Id::ReshapeCount, s.text(s.in(0).dims),
                                       s.text(shape), s.call.program->text(have), s.call.program->text(want));
    s.note_origin(report, 0);
    return {};
  }
  return std::vector{Type::tensor(s.in(0).dtype, std::move(shape))};
}

Result Transpose(Infer& s) {
  const auto a = s.axis_attr(0, 0), b = s.axis_attr(1, 0);
  if (!a || !b) return {};
  auto dims = s.in(0).dims;
  std::swap(dims[*a], dims[*b]);
  return std::vector{Type::tensor(s.in(0).dtype, std::move(dims))};
}

Result Concat(Infer& s) {
  if (s.call.operands.empty())
    return s.bad_value(s.call.span, "`concat` needs at least one tensor"), Result{};
  const auto axis = s.axis_attr(0, 0);
  if (!axis) return {};
  auto dims = s.in(0).dims;
  for (size_t i = 1; i < s.call.operands.size(); ++i) {
    const Type& t = s.in(i);
    if (t.dtype != s.in(0).dtype) {
      s.call.diags->report(s.operand_span(i), diag::Id::DTypeMismatch, "concat", plan::name(s.in(0).dtype),
                           plan::name(t.dtype));
      return {};
    }
    bool ok = t.rank() == dims.size();
    for (size_t d = 0; ok && d < dims.size(); ++d) ok = d == *axis || s.same(t.dims[d], dims[d], "concat");
    if (!ok) return s.fail_shapes(0, i), Result{};
    dims[*axis] = dims[*axis] + t.dims[*axis];
  }
  return std::vector{Type::tensor(s.in(0).dtype, std::move(dims))};
}

Result Split(Infer& s) {
  const auto axis = s.axis_attr(1, 0);
  if (!axis || !check_sizes(s, 0, "sizes")) return {};
  Dim sum(0);
  for (const Dim& d : s.list_attr(0)) sum = sum + d;
  if (!s.same(s.in(0).dims[*axis], sum, "split")) {
    auto report =
        s.call.diags->report(s.attr_span(0), diag::Id::BadValue,
                             fmt::format("sizes {} of `split` sum to {}, axis {} of {} has {}",
                                         s.text(s.list_attr(0)), s.call.program->text(sum), *axis,
                                         s.text(s.in(0).dims), s.call.program->text(s.in(0).dims[*axis])));
    s.note_origin(report, 0);
    return {};
  }
  std::vector<Type> out;
  for (const Dim& d : s.list_attr(0)) {
    Type t = s.in(0);
    t.dims[*axis] = d;
    out.push_back(std::move(t));
  }
  return out;
}

Result Slice(Infer& s) {
  const auto axis = s.axis_attr(0, 0);
  if (!axis) return {};
  const Dim size = s.in(0).dims[*axis];
  for (const size_t i : {1, 2}) {  // negative ends count from the back, as in Python
    const Dim& d = s.int_attr(i);
    if (d.is_constant() && d.constant() < 0) (*s.call.attrs)[i] = size + d;
  }
  const Dim begin = s.int_attr(1), end = s.int_attr(2);
  const auto check = [&](const Dim& low, const Dim& high) {
    const Dim room = high - low;
    return !room.is_constant() || room.constant() >= 0;
  };
  if (!check(Dim(0), begin) || !check(begin, end) || !check(end, size)) {
    auto report =
        s.call.diags->report(s.call.span, diag::Id::IndexOutOfRange,
                             fmt::format("{}..{}", s.call.program->text(begin), s.call.program->text(end)),
                             fmt::format("axis {}", *axis), s.text(s.in(0).dims));
    s.note_origin(report, 0);
    return {};
  }
  Type t = s.in(0);
  t.dims[*axis] = end - begin;
  return std::vector{std::move(t)};
}

Result Take(Infer& s) {
  const auto axis = s.axis_attr(0, 0);
  if (!axis) return {};
  const Dim size = s.in(0).dims[*axis];
  const Dim written = s.int_attr(1);
  if (written.is_constant() && written.constant() < 0) (*s.call.attrs)[1] = size + written;
  const Dim index = s.int_attr(1), room = size - index - Dim(1);
  if ((index.is_constant() && index.constant() < 0) || (room.is_constant() && room.constant() < 0)) {
    auto report =
        s.call.diags->report(s.attr_span(1), diag::Id::IndexOutOfRange, s.call.program->text(written),
                             fmt::format("axis {}", *axis), s.text(s.in(0).dims));
    s.note_origin(report, 0);
    return {};
  }
  Type t = s.in(0);
  t.dims.erase(t.dims.begin() + static_cast<std::ptrdiff_t>(*axis));
  return std::vector{std::move(t)};
}

Result IndexSelect(Infer& s) {
  const auto axis = s.axis_attr(0, 0);
  if (!axis || !s.expect_rank(1, 1, "[n]")) return {};
  Type t = s.in(0);
  t.dims[*axis] = s.in(1).dims[0];
  return std::vector{std::move(t)};
}

Result BroadcastTo(Infer& s) {
  if (!check_sizes(s, 0, "shape")) return {};
  const auto& shape = s.list_attr(0);
  const auto& dims = s.in(0).dims;
  bool ok = dims.size() <= shape.size();
  for (size_t k = 0; ok && k < dims.size(); ++k) {
    const Dim& d = dims[dims.size() - 1 - k];
    ok = d == Dim(1) || s.same(d, shape[shape.size() - 1 - k], "broadcast_to");
  }
  if (!ok)
    return s.bad_value(s.attr_span(0),
                       fmt::format("{} does not broadcast to {}", s.text(dims), s.text(shape))),
           Result{};
  return std::vector{Type::tensor(s.in(0).dtype, shape)};
}

Result Full(Infer& s) {
  const int dtype = attr_index(info(s.call.op), "dtype");
  if (!check_sizes(s, 0, "shape")) return {};
  return std::vector{Type::tensor(s.dtype_attr(static_cast<size_t>(dtype), DType::F32), s.list_attr(0))};
}

Result Range(Infer& s) {
  const Dim n = s.int_attr(1) - s.int_attr(0);
  if (n.is_constant() && n.constant() < 0)
    return s.bad_value(s.call.span, "`arange` ends before it begins"), Result{};
  return std::vector{Type::tensor(DType::I32, {n})};
}

Result Embedding(Infer& s) {
  if (!s.expect_rank(0, 1, "[T]") || !s.expect_rank(1, 2, "[V, D]")) return {};
  return std::vector{Type::tensor(s.call.act, {s.in(0).dims[0], s.in(1).dims[1]})};
}

Result IndexPut(Infer& s) {
  const auto& x = s.in(0).dims;
  const auto& m = s.in(1).dims;
  bool ok = m.size() <= x.size();
  for (size_t d = 0; ok && d < m.size(); ++d) ok = s.same(m[d], x[d], "index_put");
  if (!ok) return s.fail_shapes(0, 1), Result{};
  const std::vector<Dim> rest(x.begin() + static_cast<std::ptrdiff_t>(m.size()), x.end());
  if (!s.is_scalar(2) && !s.expect_shape(2, rest)) return {};
  if (!s.common_dtype({0, 2})) return {};
  return std::vector{s.in(0)};
}

// The new sizes come from the values: the caller puts a fresh symbol in place of the -1.
Result Nonzero(Infer& s) {
  return std::vector{Type::tensor(DType::I32, {Dim(-1), Dim(static_cast<int64_t>(s.in(0).rank()))})};
}

Result MaskedSelect(Infer& s) {
  const auto& x = s.in(0).dims;
  const auto& m = s.in(1).dims;
  bool ok = m.size() <= x.size() && !m.empty();
  for (size_t d = 0; ok && d < m.size(); ++d) ok = s.same(m[d], x[d], "masked_select");
  if (!ok) return s.fail_shapes(0, 1), Result{};
  std::vector<Dim> dims{Dim(-1)};
  dims.insert(dims.end(), x.begin() + static_cast<std::ptrdiff_t>(m.size()), x.end());
  return std::vector{Type::tensor(s.in(0).dtype, std::move(dims))};
}

Result Item(Infer& s) {
  const Dim n = product(s.in(0).dims);
  if (n.is_constant() && n.constant() != 1)
    return s.bad_value(s.operand_span(0), fmt::format("`item` reads one element, {} has {}",
                                                      s.call.program->text(s.in(0)), n.constant())),
           Result{};
  switch (s.in(0).dtype) {
    case DType::Bool:
      return std::vector{Type::host(Kind::HostBool)};
    case DType::I8:
    case DType::I32:
    case DType::I64:
      return std::vector{Type::host_int(Dim(-1))};
    default:
      return std::vector{Type::host(Kind::HostFloat)};
  }
}

Result ToList(Infer& s) {
  if (!s.expect_rank(0, 1, "[n]")) return {};
  return std::vector{Type::host(Kind::HostList)};
}

Result HostFn(Infer& s) {
  const OpInfo& op = info(s.call.op);
  if (s.call.op == Opcode::HostInt) return std::vector{Type::host_int(s.int_attr(0))};
  if (s.call.op == Opcode::HostFloat) return std::vector{Type::host(Kind::HostFloat)};
  if (s.call.op == Opcode::HostElement) return std::vector{Type::host_int(Dim(-1))};
  const std::string& fn = std::get<std::string>((*s.call.attrs)[0]);
  static constexpr std::string_view kBool[] = {"eq", "ne", "lt", "le", "gt", "ge", "and", "or", "not"};
  if (std::find(std::begin(kBool), std::end(kBool), fn) != std::end(kBool))
    return std::vector{Type::host(Kind::HostBool)};
  if (fn == "to_int") return std::vector{Type::host_int(Dim(-1))};
  if (fn == "to_float" || fn == "div") return std::vector{Type::host(Kind::HostFloat)};
  bool all_int = true;
  for (size_t i = fn == "select" ? 1 : 0; i < s.call.operands.size(); ++i)
    all_int &= s.in(i).kind == Kind::HostInt;
  (void)op;
  return std::vector{all_int ? Type::host_int(Dim(-1)) : Type::host(Kind::HostFloat)};
}

Result ToTensor(Infer& s) {
  switch (s.in(0).kind) {
    case Kind::HostInt:
      return std::vector{Type::tensor(DType::I32, {})};
    case Kind::HostBool:
      return std::vector{Type::tensor(DType::Bool, {})};
    case Kind::HostList:
      return std::vector{Type::tensor(DType::I32, {Dim(-1)})};
    default:
      return std::vector{Type::tensor(DType::F32, {})};
  }
}

Result Recv(Infer& s) { return std::vector{Type::tensor(s.dtype_attr(1, DType::F32), s.list_attr(0))}; }

// Types of these are given by whoever builds them; they never come through a call in a source text.
Result Constant(Infer&) { return {}; }
Result Declared(Infer&) { return {}; }
Result Region(Infer&) { return {}; }

}  // namespace skdsl::ops::rules
