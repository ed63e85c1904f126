#include "runtime/exec/value.h"

#include <fmt/format.h>

#include <cstring>

namespace skdsl::exec {

namespace {

// Beyond this many elements a tensor is shown by the first and last kEdge entries of each axis.
constexpr int64_t kShownElements = 1000;
constexpr int64_t kEdge = 3;

template <class T>
T load(const void* p) {
  T x;
  std::memcpy(&x, p, sizeof x);
  return x;
}

std::string element_text(const sk_tensor& t, int64_t offset) {
  const auto dtype = static_cast<sk_dtype>(t.dtype);
  const char* p = static_cast<const char*>(t.data) + offset * dtype_bytes(dtype);
  switch (dtype) {
    case SK_F32:
      return fmt::format("{:.9g}", load<float>(p));
    case SK_BF16:
      return fmt::format("{:.9g}", to_f32(load<bf16>(p)));
    case SK_F16:
      return fmt::format("{:.9g}", to_f32(load<f16>(p)));
    case SK_I8:
      return fmt::format("{}", static_cast<int>(load<int8_t>(p)));
    case SK_I32:
      return fmt::format("{}", load<int32_t>(p));
    case SK_I64:
      return fmt::format("{}", load<int64_t>(p));
    case SK_BOOL:
      return load<uint8_t>(p) != 0 ? "true" : "false";
    case SK_NONE:
      break;
  }
  return "none";
}

void append_axis(const sk_tensor& t, uint32_t axis, int64_t offset, bool cut, std::string& out) {
  if (axis == t.rank) {
    out += element_text(t, offset);
    return;
  }
  out += '[';
  for (int64_t i = 0; i < t.dim[axis]; ++i) {
    if (i) out += ", ";
    if (cut && i == kEdge && t.dim[axis] > 2 * kEdge) {
      out += "…, ";
      i = t.dim[axis] - kEdge;
    }
    append_axis(t, axis + 1, offset + i * t.stride[axis], cut, out);
  }
  out += ']';
}

struct Describe {
  std::string operator()(const Tensor& t) const { return skdsl::describe(t.view); }
  std::string operator()(int64_t x) const { return fmt::format("int {}", x); }
  std::string operator()(double x) const { return fmt::format("float {:.9g}", x); }
  std::string operator()(bool x) const { return x ? "bool true" : "bool false"; }
  std::string operator()(const std::vector<int64_t>& x) const { return fmt::format("list of {}", x.size()); }
};

struct Text {
  std::string operator()(const Tensor& t) const {
    if (!t) return "none";
    if (t.view.rank == 0) return element_text(t.view, 0);
    std::string out = skdsl::describe(t.view) + " ";
    append_axis(t.view, 0, 0, t.elements() > kShownElements, out);
    return out;
  }
  std::string operator()(int64_t x) const { return fmt::format("{}", x); }
  std::string operator()(double x) const { return fmt::format("{:.9g}", x); }
  std::string operator()(bool x) const { return x ? "true" : "false"; }
  std::string operator()(const std::vector<int64_t>& x) const {
    return fmt::format("[{}]", fmt::join(x, ", "));
  }
};

}  // namespace

plan::Kind kind_of(const RuntimeValue& value) {
  constexpr plan::Kind kKinds[] = {plan::Kind::Tensor, plan::Kind::HostInt, plan::Kind::HostFloat,
                                   plan::Kind::HostBool, plan::Kind::HostList};
  return kKinds[value.index()];
}

std::string describe(const RuntimeValue& value) { return std::visit(Describe{}, value); }
std::string text(const RuntimeValue& value) { return std::visit(Text{}, value); }

}  // namespace skdsl::exec
