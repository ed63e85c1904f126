#include "compiler/passes/evaluate.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace skdsl::passes {

using namespace plan;

namespace {

using Shape = std::vector<int64_t>;
using Data = ConstantData;

int64_t count(const Shape& shape) {
  int64_t n = 1;
  for (const int64_t d : shape) n *= d;
  return n;
}

size_t width(DType t) { return static_cast<size_t>(dtype_bytes(abi_dtype(t))); }

template <class T>
T load(const Data& d, int64_t i) {
  T x;
  std::memcpy(&x, d.bytes.data() + static_cast<size_t>(i) * sizeof(T), sizeof(T));
  return x;
}
template <class T>
void store(Data& d, int64_t i, T x) {
  std::memcpy(d.bytes.data() + static_cast<size_t>(i) * sizeof(T), &x, sizeof(T));
}

// Steps through a result's elements and gives where a broadcast operand's element stands.
int64_t broadcast_at(int64_t i, const Shape& result, const Shape& operand) {
  int64_t at = 0, stride = 1;
  for (size_t k = 0; k < result.size(); ++k) {
    const size_t axis = result.size() - 1 - k;
    const int64_t coordinate = i % result[axis];
    i /= result[axis];
    if (k >= operand.size()) continue;
    const int64_t size = operand[operand.size() - 1 - k];
    if (size != 1) at += coordinate * stride;
    stride *= size;
  }
  return at;
}

bool broadcasts(const Shape& operand, const Shape& result) {
  if (operand.size() > result.size()) return false;
  for (size_t k = 0; k < operand.size(); ++k) {
    const int64_t size = operand[operand.size() - 1 - k];
    if (size != 1 && size != result[result.size() - 1 - k]) return false;
  }
  return true;
}

std::optional<float> arithmetic(Opcode op, float x, float y) {
  float z = 0;
  switch (op) {
    case Opcode::Add:
      z = x + y;
      break;
    case Opcode::Sub:
      z = x - y;
      break;
    case Opcode::Mul:
      z = x * y;
      break;
    case Opcode::Div:
      z = x / y;
      break;
    case Opcode::Maximum:
      if (x == y) return {};
      z = x > y ? x : y;
      break;
    case Opcode::Minimum:
      if (x == y) return {};
      z = x < y ? x : y;
      break;
    default:
      return {};
  }
  if (std::isnan(x) || std::isnan(y) || std::isnan(z)) return {};
  return z;
}

std::optional<int64_t> arithmetic(Opcode op, int64_t x, int64_t y) {
  int64_t z = 0;
  switch (op) {
    case Opcode::Add:
      return __builtin_add_overflow(x, y, &z) ? std::nullopt : std::optional(z);
    case Opcode::Sub:
      return __builtin_sub_overflow(x, y, &z) ? std::nullopt : std::optional(z);
    case Opcode::Mul:
      return __builtin_mul_overflow(x, y, &z) ? std::nullopt : std::optional(z);
    case Opcode::Div:
      if (y == 0) return 0;
      if (y == -1) return __builtin_sub_overflow(int64_t{0}, x, &z) ? std::nullopt : std::optional(z);
      return x / y;
    case Opcode::Maximum:
      return x > y ? x : y;
    case Opcode::Minimum:
      return x < y ? x : y;
    default:
      return {};
  }
}

template <class T>
std::optional<bool> compare(Opcode op, T x, T y) {
  if (x != x || y != y) return {};
  switch (op) {
    case Opcode::Eq:
      return x == y;
    case Opcode::Ne:
      return x != y;
    case Opcode::Lt:
      return x < y;
    case Opcode::Le:
      return x <= y;
    case Opcode::Gt:
      return x > y;
    case Opcode::Ge:
      return x >= y;
    default:
      return {};
  }
}

std::optional<int64_t> load_int(const Data& d, int64_t i) {
  switch (d.dtype) {
    case DType::I8:
      return load<int8_t>(d, i);
    case DType::I32:
      return load<int32_t>(d, i);
    case DType::I64:
      return load<int64_t>(d, i);
    case DType::Bool: {
      const auto b = load<uint8_t>(d, i);
      return b <= 1 ? std::optional<int64_t>(b) : std::nullopt;
    }
    default:
      return {};
  }
}

template <class T>
bool in_range(int64_t x) {
  return x >= std::numeric_limits<T>::min() && x <= std::numeric_limits<T>::max();
}

bool store_int(Data& d, int64_t i, int64_t x) {
  switch (d.dtype) {
    case DType::I8:
      return in_range<int8_t>(x) && (store(d, i, static_cast<int8_t>(x)), true);
    case DType::I32:
      return in_range<int32_t>(x) && (store(d, i, static_cast<int32_t>(x)), true);
    case DType::I64:
      return store(d, i, x), true;
    case DType::Bool:
      return (x == 0 || x == 1) && (store(d, i, static_cast<uint8_t>(x)), true);
    default:
      return false;
  }
}

std::optional<float> load_float(const Data& d, int64_t i) {
  float x = 0;
  switch (d.dtype) {
    case DType::F32:
      x = load<float>(d, i);
      break;
    case DType::BF16:
      x = to_f32(load<bf16>(d, i));
      break;
    case DType::F16:
      x = to_f32(load<f16>(d, i));
      break;
    default:
      return {};
  }
  return std::isnan(x) ? std::nullopt : std::optional(x);
}

bool store_float(Data& d, int64_t i, float x) {
  switch (d.dtype) {
    case DType::F32:
      return store(d, i, x), true;
    case DType::BF16:
      return store(d, i, from_f32<bf16>(x)), true;
    case DType::F16:
      return store(d, i, from_f32<f16>(x)), true;
    default:
      return false;
  }
}

bool is_arithmetic(Opcode op) { return op >= Opcode::Add && op <= Opcode::Minimum; }
bool is_comparison(Opcode op) { return op >= Opcode::Eq && op <= Opcode::Ge; }

bool binary_element(Opcode op, const Data& x, int64_t i, const Data& y, int64_t k, Data& z, int64_t at) {
  if (x.dtype == DType::F32) {
    const auto a = load<float>(x, i), b = load<float>(y, k);
    if (is_comparison(op)) {
      const auto c = compare(op, a, b);
      return c && store_int(z, at, *c);
    }
    const auto c = arithmetic(op, a, b);
    return c && z.dtype == DType::F32 && (store(z, at, *c), true);
  }
  const auto a = load_int(x, i), b = load_int(y, k);
  if (!a || !b) return false;
  if (is_comparison(op)) {
    const auto c = compare(op, *a, *b);
    return c && store_int(z, at, *c);
  }
  if (op == Opcode::LogicalAnd || op == Opcode::LogicalOr) {
    if (x.dtype != DType::Bool) return false;
    return store_int(z, at, op == Opcode::LogicalAnd ? *a & *b : *a | *b);
  }
  if (x.dtype == DType::Bool) return false;
  const auto c = arithmetic(op, *a, *b);
  return c && store_int(z, at, *c);
}

bool unary_element(Opcode op, const Data& x, Data& y, int64_t i) {
  if (op == Opcode::LogicalNot) {
    const auto b = load_int(x, i);
    return b && store_int(y, i, 1 - *b);
  }
  if (const auto f = load_float(x, i)) return store_float(y, i, op == Opcode::Neg ? -*f : std::fabs(*f));
  const auto n = load_int(x, i);
  if (!n || x.dtype == DType::Bool || *n == std::numeric_limits<int64_t>::min()) return false;
  return store_int(y, i, op == Opcode::Neg ? -*n : (*n < 0 ? -*n : *n));
}

bool cast_element(const Data& x, Data& y, int64_t i) {
  if (const auto f = load_float(x, i)) {
    if (is_float(abi_dtype(y.dtype))) return store_float(y, i, *f);
    // Whole numbers of moderate size convert the same way everywhere.
    return y.dtype != DType::Bool && std::fabs(*f) < 1e9f && store_int(y, i, static_cast<int64_t>(*f));
  }
  const auto n = load_int(x, i);
  if (!n) return false;
  if (is_float(abi_dtype(y.dtype)))
    return *n >= -(1 << 24) && *n <= (1 << 24) && store_float(y, i, static_cast<float>(*n));
  return store_int(y, i, *n);
}

class Evaluation {
 public:
  Evaluation(const Op& op, const std::vector<const Data*>& in, std::vector<Data>& out)
      : op_(op), in_(in), out_(out) {}

  // Shapes are looked at again: a program that verifies need not have passed shape inference.
  bool run() {
    for (const Data* d : in_)
      for (const Data& out : out_)
        if (info(op_.code).has(kLayout) && d->dtype != out.dtype) return false;
    const bool one_to_one = in_.size() == 1 && count(in_[0]->shape) == count(out_[0].shape);
    switch (op_.code) {
      case Opcode::Neg:
      case Opcode::Abs:
      case Opcode::LogicalNot:
        return one_to_one && in_[0]->dtype == out_[0].dtype &&
               each([&](int64_t i) { return unary_element(op_.code, *in_[0], out_[0], i); });
      case Opcode::Cast:
        return one_to_one && each([&](int64_t i) { return cast_element(*in_[0], out_[0], i); });
      case Opcode::Where:
        if (!all_broadcast() || in_[1]->dtype != out_[0].dtype || in_[2]->dtype != out_[0].dtype)
          return false;
        return each([&](int64_t i) {
          const auto c = load_int(*in_[0], at(i, 0));
          if (!c) return false;
          const size_t pick = *c != 0 ? 1 : 2;
          return copy(*in_[pick], at(i, pick), out_[0], i, 1);
        });
      case Opcode::Reshape:
        out_[0].bytes = in_[0]->bytes;
        return one_to_one;
      case Opcode::BroadcastTo:
        return all_broadcast() && each([&](int64_t i) { return copy(*in_[0], at(i, 0), out_[0], i, 1); });
      case Opcode::Slice:
        return slice(axis("axis", in_[0]->shape.size()), integer("begin"), out_[0]);
      case Opcode::Take:
        return take();
      case Opcode::Split:
        return split();
      case Opcode::Concat:
        return concat();
      case Opcode::Transpose:
        return transpose();
      case Opcode::Full:
        return full();
      case Opcode::Arange:
        return each([&](int64_t i) { return store_int(out_[0], i, integer("begin").value_or(0) + i); }) &&
               integer("begin").has_value();
      default:
        break;
    }
    const bool two = is_arithmetic(op_.code) || is_comparison(op_.code) || op_.code == Opcode::LogicalAnd ||
                     op_.code == Opcode::LogicalOr;
    if (!two || in_[0]->dtype != in_[1]->dtype || !all_broadcast()) return false;
    if (is_arithmetic(op_.code) && in_[0]->dtype != out_[0].dtype) return false;
    return each([&](int64_t i) {
      return binary_element(op_.code, *in_[0], at(i, 0), *in_[1], at(i, 1), out_[0], i);
    });
  }

 private:
  template <class F>
  bool each(F f) {
    const int64_t n = count(out_[0].shape);
    for (int64_t i = 0; i < n; ++i)
      if (!f(i)) return false;
    return true;
  }

  int64_t at(int64_t i, size_t operand) const { return broadcast_at(i, out_[0].shape, in_[operand]->shape); }
  bool all_broadcast() const {
    for (const Data* d : in_)
      if (!broadcasts(d->shape, out_[0].shape)) return false;
    return true;
  }

  static bool copy(const Data& from, int64_t i, Data& to, int64_t k, int64_t n) {
    const size_t w = width(from.dtype);
    std::memcpy(to.bytes.data() + static_cast<size_t>(k) * w, from.bytes.data() + static_cast<size_t>(i) * w,
                static_cast<size_t>(n) * w);
    return true;
  }

  const Attr& attr(std::string_view name) const {
    return op_.attrs[static_cast<size_t>(attr_index(info(op_.code), name))];
  }
  std::optional<int64_t> integer(std::string_view name) const {
    const auto* d = std::get_if<Dim>(&attr(name));
    if (d == nullptr) {
      // Only axes have defaults here.
      const Param& p = attr_param(info(op_.code), static_cast<size_t>(attr_index(info(op_.code), name)));
      return p.default_text == "0" ? std::optional<int64_t>(0) : std::nullopt;
    }
    return d->is_constant() ? std::optional(d->constant()) : std::nullopt;
  }
  std::optional<size_t> axis(std::string_view name, size_t rank) const {
    auto a = integer(name);
    if (a && *a < 0) *a += static_cast<int64_t>(rank);
    return a && *a >= 0 && *a < static_cast<int64_t>(rank) ? std::optional(static_cast<size_t>(*a))
                                                           : std::nullopt;
  }

  // Rows before the axis and elements behind it.
  static std::pair<int64_t, int64_t> around(const Shape& shape, size_t axis) {
    return {count({shape.begin(), shape.begin() + static_cast<long>(axis)}),
            count({shape.begin() + static_cast<long>(axis) + 1, shape.end()})};
  }

  bool slice(std::optional<size_t> along, std::optional<int64_t> begin, Data& out) {
    if (!along || !begin || out.shape.size() != in_[0]->shape.size()) return false;
    const int64_t n = out.shape[*along], all = in_[0]->shape[*along];
    if (*begin < 0 || *begin > all - n) return false;
    const auto [rows, inner] = around(in_[0]->shape, *along);
    if (count(out.shape) != rows * n * inner) return false;
    for (int64_t r = 0; r < rows; ++r)
      copy(*in_[0], (r * all + *begin) * inner, out, r * n * inner, n * inner);
    return true;
  }

  bool take() {
    const auto along = axis("axis", in_[0]->shape.size());
    auto index = integer("index");
    if (!along || !index) return false;
    const int64_t all = in_[0]->shape[*along];
    if (*index < 0) *index += all;
    if (*index < 0 || *index >= all) return false;
    const auto [rows, inner] = around(in_[0]->shape, *along);
    if (count(out_[0].shape) != rows * inner) return false;
    for (int64_t r = 0; r < rows; ++r) copy(*in_[0], (r * all + *index) * inner, out_[0], r * inner, inner);
    return true;
  }

  bool split() {
    const auto along = axis("axis", in_[0]->shape.size());
    int64_t begin = 0;
    for (Data& out : out_) {
      if (!along || out.shape.size() != in_[0]->shape.size() || !slice(along, begin, out)) return false;
      begin += out.shape[*along];
    }
    return true;
  }

  bool concat() {
    const auto along = axis("axis", out_[0].shape.size());
    if (!along) return false;
    const auto [rows, inner] = around(out_[0].shape, *along);
    const int64_t all = out_[0].shape[*along];
    int64_t begin = 0;
    for (const Data* d : in_) {
      if (d->shape.size() != out_[0].shape.size() || d->dtype != out_[0].dtype) return false;
      const int64_t n = d->shape[*along];
      if (begin + n > all || count(d->shape) != rows * n * inner) return false;
      for (int64_t r = 0; r < rows; ++r)
        copy(*d, r * n * inner, out_[0], (r * all + begin) * inner, n * inner);
      begin += n;
    }
    return begin == all;
  }

  bool transpose() {
    const Shape& from = in_[0]->shape;
    const auto a = axis("axis0", from.size()), b = axis("axis1", from.size());
    Shape swapped = from;
    if (a && b) std::swap(swapped[*a], swapped[*b]);
    if (!a || !b || swapped != out_[0].shape) return false;
    Shape stride(from.size(), 1);
    for (size_t k = from.size(); k-- > 1;) stride[k - 1] = stride[k] * from[k];
    std::swap(stride[*a], stride[*b]);
    return each([&](int64_t i) {
      int64_t rest = i, source = 0;
      for (size_t k = from.size(); k-- > 0;) {
        source += rest % out_[0].shape[k] * stride[k];
        rest /= out_[0].shape[k];
      }
      return copy(*in_[0], source, out_[0], i, 1);
    });
  }

  bool full() {
    const auto* value = std::get_if<double>(&attr("value"));
    if (value == nullptr || std::isnan(*value)) return false;
    const bool whole = std::trunc(*value) == *value && std::fabs(*value) < 1e15;
    if (out_[0].dtype == DType::F32)
      return each([&](int64_t i) { return store_float(out_[0], i, static_cast<float>(*value)); });
    return whole && each([&](int64_t i) { return store_int(out_[0], i, static_cast<int64_t>(*value)); });
  }

  const Op& op_;
  const std::vector<const Data*>& in_;
  std::vector<Data>& out_;
};

}  // namespace

std::optional<std::vector<ConstantData>> evaluate(const Op& op,
                                                  const std::vector<const ConstantData*>& operands,
                                                  const std::vector<Type>& results) {
  std::vector<ConstantData> out;
  for (const Type& t : results) {
    ConstantData& d = out.emplace_back();
    d.dtype = t.dtype;
    for (const Dim& x : t.dims) {
      if (!x.is_constant() || x.constant() < 0) return {};
      d.shape.push_back(x.constant());
    }
    d.bytes.resize(static_cast<size_t>(count(d.shape)) * width(d.dtype));
  }
  if (out.empty() || !Evaluation(op, operands, out).run()) return {};
  return out;
}

}  // namespace skdsl::passes
