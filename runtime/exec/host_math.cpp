#include "runtime/exec/host_math.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace skdsl::exec {

namespace {

using Operands = std::span<const RuntimeValue>;

std::string operand_texts(Operands xs) {
  std::string out;
  for (const RuntimeValue& x : xs) out += (out.empty() ? "" : ", ") + text(x);
  return out;
}

// Integer forms give nothing on overflow; division by zero is caught before.
using IntFn = std::optional<int64_t> (*)(int64_t, int64_t);
using RealFn = double (*)(double, double);
using CompareFn = bool (*)(std::partial_ordering);

std::optional<int64_t> add(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_add_overflow(a, b, &r)) return {};
  return r;
}
std::optional<int64_t> sub(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_sub_overflow(a, b, &r)) return {};
  return r;
}
std::optional<int64_t> mul(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_mul_overflow(a, b, &r)) return {};
  return r;
}
std::optional<int64_t> floordiv(int64_t a, int64_t b) {
  if (b == -1) return sub(0, a);
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}
std::optional<int64_t> mod(int64_t a, int64_t b) {
  if (b == -1) return 0;
  const int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
std::optional<int64_t> power(int64_t a, int64_t n) {
  std::optional<int64_t> r = 1;
  for (std::optional<int64_t> base = a; n > 0; n >>= 1) {
    if (n & 1) {
      if (!base) return {};
      if (!(r = mul(*r, *base))) return {};
    }
    if (n > 1 && base) base = mul(*base, *base);
  }
  return r;
}

struct Arithmetic {
  std::string_view name;
  IntFn integers;
  RealFn reals;
  bool divides = false;
};
constexpr Arithmetic kArithmetic[] = {
    {"add", add, [](double a, double b) { return a + b; }},
    {"sub", sub, [](double a, double b) { return a - b; }},
    {"mul", mul, [](double a, double b) { return a * b; }},
    {"div", nullptr, [](double a, double b) { return a / b; }, true},
    {"floordiv", floordiv, [](double a, double b) { return std::floor(a / b); }, true},
    {"mod", mod, [](double a, double b) { return a - std::floor(a / b) * b; }, true},
    {"pow", power, [](double a, double b) { return std::pow(a, b); }},
    {"min", [](int64_t a, int64_t b) { return std::optional(std::min(a, b)); },
     [](double a, double b) { return std::fmin(a, b); }},
    {"max", [](int64_t a, int64_t b) { return std::optional(std::max(a, b)); },
     [](double a, double b) { return std::fmax(a, b); }},
};

struct Comparison {
  std::string_view name;
  CompareFn holds;
};
constexpr Comparison kComparisons[] = {
    {"eq", [](std::partial_ordering o) { return o == 0; }},
    {"ne", [](std::partial_ordering o) { return o != 0; }},
    {"lt", [](std::partial_ordering o) { return o < 0; }},
    {"le", [](std::partial_ordering o) { return o <= 0; }},
    {"gt", [](std::partial_ordering o) { return o > 0; }},
    {"ge", [](std::partial_ordering o) { return o >= 0; }},
};

tl::unexpected<Error> wrong_kinds(std::string_view name, Operands xs) {
  return fail(fmt::format("{}({}): the operands must be host numbers", name, operand_texts(xs)));
}

Expected<RuntimeValue> arithmetic(const Arithmetic& fn, Operands xs, plan::Kind result) {
  if (xs.size() != 2) return wrong_kinds(fn.name, xs);
  const auto a = as_integer(xs[0]), b = as_integer(xs[1]);
  const auto x = as_real(xs[0]), y = as_real(xs[1]);
  if (!x || !y) return wrong_kinds(fn.name, xs);
  if (fn.divides && *y == 0) return fail(fmt::format("{}({}): division by zero", fn.name, operand_texts(xs)));
  if (!a || !b) return RuntimeValue(fn.reals(*x, *y));
  if (!fn.integers) {  // real division, or an exact one where an integer is wanted
    if (result != plan::Kind::HostInt) return RuntimeValue(*x / *y);
    if (mod(*a, *b) != 0)
      return fail(fmt::format("{}({}): an integer is wanted here and the division leaves {}", fn.name,
                              operand_texts(xs), *mod(*a, *b)));
    if (const auto q = floordiv(*a, *b)) return RuntimeValue(*q);
    return fail(fmt::format("{}({}): the result does not fit 64 bits", fn.name, operand_texts(xs)));
  }
  if (fn.integers == power && *b < 0) return RuntimeValue(std::pow(*x, *y));
  if (const auto r = fn.integers(*a, *b)) return RuntimeValue(*r);
  return fail(fmt::format("{}({}): the result does not fit 64 bits", fn.name, operand_texts(xs)));
}

Expected<RuntimeValue> compare(const Comparison& fn, Operands xs) {
  if (xs.size() != 2) return wrong_kinds(fn.name, xs);
  if (const auto a = as_integer(xs[0]), b = as_integer(xs[1]); a && b)
    return RuntimeValue(fn.holds(*a <=> *b));
  if (const auto x = as_real(xs[0]), y = as_real(xs[1]); x && y) return RuntimeValue(fn.holds(*x <=> *y));
  const auto *l = std::get_if<std::vector<int64_t>>(&xs[0]), *r = std::get_if<std::vector<int64_t>>(&xs[1]);
  if (l && r && (fn.name == "eq" || fn.name == "ne")) return RuntimeValue((*l == *r) == (fn.name == "eq"));
  return wrong_kinds(fn.name, xs);
}

Expected<RuntimeValue> logical(std::string_view name, Operands xs) {
  bool all = true, any = false;
  for (const RuntimeValue& x : xs) {
    if (!as_real(x)) return wrong_kinds(name, xs);
    all &= truth(x);
    any |= truth(x);
  }
  if (name == "not") return RuntimeValue(!all);
  return RuntimeValue(name == "and" ? all : any);
}

// Doubles outside [-2^63, 2^63) have no integer.
std::optional<int64_t> whole(double x) {
  if (!(x >= -9223372036854775808.0 && x < 9223372036854775808.0)) return {};
  return static_cast<int64_t>(x);
}

Expected<RuntimeValue> convert_or_choose(std::string_view name, Operands xs) {
  if (name == "select") {
    if (xs.size() != 3 || !as_real(xs[0])) return wrong_kinds(name, xs);
    return truth(xs[0]) ? xs[1] : xs[2];
  }
  if (xs.size() != 1 || !as_real(xs[0])) return wrong_kinds(name, xs);
  const auto a = as_integer(xs[0]);
  if (name == "neg") {
    if (!a) return RuntimeValue(-*as_real(xs[0]));
    if (const auto r = sub(0, *a)) return RuntimeValue(*r);
  }
  if (name == "to_float") return RuntimeValue(*as_real(xs[0]));
  if (name == "to_int") {
    if (a) return RuntimeValue(*a);
    if (const auto n = whole(*as_real(xs[0]))) return RuntimeValue(*n);
  }
  return fail(fmt::format("{}({}): the result does not fit 64 bits", name, operand_texts(xs)));
}

Expected<RuntimeValue> evaluate(std::string_view name, Operands xs, plan::Kind result) {
  for (const Arithmetic& fn : kArithmetic)
    if (fn.name == name) return arithmetic(fn, xs, result);
  for (const Comparison& fn : kComparisons)
    if (fn.name == name) return compare(fn, xs);
  if (name == "and" || name == "or" || name == "not") return logical(name, xs);
  return convert_or_choose(name, xs);
}

}  // namespace

std::optional<double> as_real(const RuntimeValue& value) {
  if (const auto* x = std::get_if<double>(&value)) return *x;
  if (const auto n = as_integer(value)) return static_cast<double>(*n);
  return {};
}

std::optional<int64_t> as_integer(const RuntimeValue& value) {
  if (const auto* n = std::get_if<int64_t>(&value)) return *n;
  if (const auto* b = std::get_if<bool>(&value)) return *b ? 1 : 0;
  return {};
}

bool truth(const RuntimeValue& value) {
  const auto x = as_real(value);
  return x && *x != 0;
}

Expected<RuntimeValue> host_function(std::string_view name, std::span<const RuntimeValue> operands,
                                     plan::Kind result) {
  auto value = evaluate(name, operands, result);
  if (!value || kind_of(*value) == result) return value;
  // The declared kind wins: 2 ** 3.0 may be wanted as an integer, a comparison as a number.
  const auto x = as_real(*value);
  if (!x) return value;
  if (result == plan::Kind::HostFloat) return RuntimeValue(*x);
  if (result == plan::Kind::HostBool) return RuntimeValue(truth(*value));
  if (result == plan::Kind::HostInt) {
    if (const auto n = as_integer(*value)) return RuntimeValue(*n);
    if (const auto n = whole(*x); n && static_cast<double>(*n) == *x) return RuntimeValue(*n);
    return fail(
        fmt::format("{}({}) is {:.9g}; an integer is wanted here", name, operand_texts(operands), *x));
  }
  return value;
}

}  // namespace skdsl::exec
