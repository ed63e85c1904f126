#include "cli/repl/show.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace skdsl::cli::repl {

namespace {

constexpr int64_t kWhole = 24;  // elements that are shown one by one
constexpr int64_t kEdge = 4;

/// Calls f(pointer) for each element in row-major order.
template <class F>
void each(const sk_tensor& t, F&& f) {
  int64_t n = 1;
  for (uint32_t d = 0; d < t.rank; ++d) n *= t.dim[d];
  const int64_t width = dtype_bytes(static_cast<sk_dtype>(t.dtype));
  for (int64_t i = 0; i < n; ++i) {
    int64_t rest = i, at = 0;
    for (uint32_t d = t.rank; d-- > 0;) {
      at += rest % t.dim[d] * t.stride[d];
      rest /= t.dim[d];
    }
    f(static_cast<const char*>(t.data) + at * width);
  }
}

double number(const sk_tensor& t, const char* p) {
  const auto load = [p]<class T>(T) {
    T x;
    std::memcpy(&x, p, sizeof x);
    return x;
  };
  switch (static_cast<sk_dtype>(t.dtype)) {
    case SK_F32:
      return load(float{});
    case SK_BF16:
      return to_f32(load(bf16{}));
    case SK_F16:
      return to_f32(load(f16{}));
    case SK_I8:
      return load(int8_t{});
    case SK_I32:
      return load(int32_t{});
    case SK_I64:
      return static_cast<double>(load(int64_t{}));
    case SK_BOOL:
      return load(uint8_t{}) != 0;
    case SK_NONE:
      break;
  }
  return 0;
}

std::string element(const sk_tensor& t, double x) {
  if (t.dtype == SK_BOOL) return x != 0 ? "true" : "false";
  return fmt::format("{:.6g}", x);
}

}  // namespace

Tensor copy_of(const Tensor& tensor) {
  if (!tensor) return tensor;
  const std::vector<int64_t> shape = tensor.shape();
  Tensor out = Tensor::empty(tensor.dtype(), shape);
  const auto width = static_cast<size_t>(dtype_bytes(tensor.dtype()));
  if (tensor.contiguous()) {
    if (tensor.bytes() > 0) std::memcpy(out.view.data, tensor.view.data, static_cast<size_t>(tensor.bytes()));
    return out;
  }
  char* to = static_cast<char*>(out.view.data);
  each(tensor.view, [&](const char* from) {
    std::memcpy(to, from, width);
    to += width;
  });
  return out;
}

std::string show(const Tensor& tensor) {
  if (!tensor) return "none";
  const sk_tensor& t = tensor.view;
  if (tensor.elements() <= kWhole) return exec::text(tensor);
  const int64_t n = tensor.elements();
  std::vector<double> head, tail;
  double least = std::numeric_limits<double>::infinity(), greatest = -least, sum = 0, squares = 0;
  int64_t nans = 0, infinite = 0, i = 0, counted = 0;
  each(t, [&](const char* p) {
    const double x = number(t, p);
    if (i < kEdge) head.push_back(x);
    if (i >= n - kEdge) tail.push_back(x);
    ++i;
    if (std::isnan(x)) {
      ++nans;
      return;
    }
    least = std::min(least, x);
    greatest = std::max(greatest, x);
    if (std::isinf(x)) {
      ++infinite;
      return;
    }
    // Welford's mean: sums of many values would lose the small ones.
    ++counted;
    const double before = sum;
    sum += (x - sum) / static_cast<double>(counted);
    squares += (x - before) * (x - sum);
  });
  const auto list = [&](const std::vector<double>& xs) {
    std::string out;
    for (const double x : xs) out += (out.empty() ? "" : ", ") + element(t, x);
    return out;
  };
  std::string out = describe(t) + fmt::format("\n  [{}, ..., {}]\n", list(head), list(tail));
  if (t.dtype == SK_BOOL)
    return out + fmt::format("  true {} of {}", std::llround(sum * static_cast<double>(counted)), n);
  if (nans == n) return out + fmt::format("  nan {} of {}", nans, n);
  out += fmt::format("  min {:.6g}, max {:.6g}, mean {:.6g}, std {:.6g}", least, greatest, sum,
                     counted > 0 ? std::sqrt(squares / static_cast<double>(counted)) : 0.0);
  if (nans > 0) out += fmt::format(", nan {} of {}", nans, n);
  if (infinite > 0) out += fmt::format(", inf {} of {}", infinite, n);
  return out;
}

std::string show(const sema::Value& v, const std::vector<Tensor>& tensors) {
  using Kind = sema::Value::Kind;
  const auto items = [&](char open, char close, size_t step) {
    std::string out(1, open);
    for (size_t i = 0; i < v.items.size(); i += step) {
      if (i) out += ", ";
      if (step == 2) out += v.items[i].text + " = ";
      const sema::Value& item = v.items[i + step - 1];
      out += item.is(Kind::Str) ? "\"" + item.text + "\"" : show(item, tensors);
    }
    return out + close;
  };
  switch (v.kind) {
    case Kind::Int:
      return v.dim.is_constant() ? fmt::format("{}", v.dim.constant()) : "an integer of the run";
    case Kind::Float:
      return fmt::format("{:.9g}", v.number);
    case Kind::Bool:
      return v.flag ? "true" : "false";
    case Kind::Str:
      return v.text;
    case Kind::DType:
      return std::string(plan::name(v.dtype));
    case Kind::List:
      return items('[', ']', 1);
    case Kind::Tuple:
      return items('(', ')', 1);
    case Kind::Dict:
      return items('{', '}', 2);
    case Kind::Step:
      return fmt::format("a Step of {} fields", v.items.size());
    case Kind::Ir:
      return v.id < tensors.size() ? show(tensors[v.id]) : "none";
    case Kind::Op:
      return "operator `" + v.text + "`";
    default:
      return "none";
  }
}

}  // namespace skdsl::cli::repl
