// arith — arithmetic on numbers known now, on host numbers of a run, and on tensors by operator signs
#include <cmath>
#include <limits>

#include "compiler/sema/elaborator.h"

namespace skdsl::sema {

using plan::Dim;
using plan::DType;

namespace {
struct Sign {
  std::string_view text;
  Opcode op;
  std::string_view host;  // the `fn` of host_fn
};
constexpr Sign kSigns[] = {
    {"+", Opcode::Add, "add"},      {"-", Opcode::Sub, "sub"},    {"*", Opcode::Mul, "mul"},
    {"/", Opcode::Div, "div"},      {"==", Opcode::Eq, "eq"},     {"!=", Opcode::Ne, "ne"},
    {"<", Opcode::Lt, "lt"},        {"<=", Opcode::Le, "le"},     {">", Opcode::Gt, "gt"},
    {">=", Opcode::Ge, "ge"},       {"%", Opcode::kCount, "mod"}, {"**", Opcode::kCount, "pow"},
    {"and", Opcode::kCount, "and"}, {"or", Opcode::kCount, "or"},
};
const Sign* find_sign(std::string_view text) {
  for (const Sign& s : kSigns)
    if (s.text == text) return &s;
  return nullptr;
}

bool is_comparison(std::string_view op) {
  return op == "==" || op == "!=" || op == "<" || op == "<=" || op == ">" || op == ">=";
}

template <class T>
bool compare(std::string_view op, const T& a, const T& b) {
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "<") return a < b;
  if (op == "<=") return a <= b;
  if (op == ">") return a > b;
  return a >= b;
}

bool is_number(const Value& v) { return v.is(Value::Kind::Int) || v.is(Value::Kind::Float); }
bool is_static_number(const Value& v) {
  return v.is(Value::Kind::Float) || (v.is(Value::Kind::Int) && v.dim.is_constant());
}
double as_double(const Value& v) {
  return v.is(Value::Kind::Float) ? v.number : static_cast<double>(v.dim.constant());
}
}  // namespace

Value Elaborator::binary(Frame& f, std::string_view op, Value a, Value b, Span at, Span a_span, Span b_span) {
  using K = Value::Kind;
  const Sign* sign = find_sign(op);
  const bool tensors = f.builder && (is_tensor(f, a) || is_tensor(f, b));
  if (tensors) {
    if (sign->op == Opcode::kCount) {
      report(at, diag::Id::TypeMismatch, fmt::format("an operand of `{}`", op), "a tensor",
             "a number; tensors have + - * / and comparisons");
      return {};
    }
    // A number beside a tensor becomes a scalar constant of a dtype that fits it.
    const auto dtype_beside = [&](const Value& tensor) {
      const plan::ValueId id = to_ir(f, tensor, at);
      return id == plan::kNone ? DType::None : type_of(f, id).dtype;
    };
    const bool a_tensor = is_tensor(f, a), b_tensor = is_tensor(f, b);
    const plan::ValueId x = a_tensor ? to_ir(f, a, a_span) : to_tensor(f, a, a_span, dtype_beside(b));
    const plan::ValueId y = b_tensor ? to_ir(f, b, b_span) : to_tensor(f, b, b_span, dtype_beside(a));
    if (x == plan::kNone || y == plan::kNone) return {};
    return emit_inferred(f, sign->op, {x, y}, {}, at, {a_span, b_span}, {});
  }
  if (a.is(K::Ir) || b.is(K::Ir)) return host_binary(f, op, a, b, at);
  if (is_number(a) && is_number(b)) {
    if (is_static_number(a) && is_static_number(b)) return static_binary(op, a, b, at);
    // Sizes that are not known yet: polynomials stay polynomials, everything else is computed by the run.
    if (a.is(K::Int) && b.is(K::Int)) {
      if (op == "+") return Value::integer(a.dim + b.dim);
      if (op == "-") return Value::integer(a.dim - b.dim);
      if (op == "*") return Value::integer(a.dim * b.dim);
      if (op == "/")
        if (const auto q = a.dim.divide_exactly(b.dim)) return Value::integer(*q);
      const Dim difference = a.dim - b.dim;
      if (is_comparison(op) && difference.is_constant())
        return Value::boolean(compare<int64_t>(op, difference.constant(), 0));
    }
    if (f.builder) return host_binary(f, op, a, b, at);
    report(at, diag::Id::NotStatic, fmt::format("the result of `{}`", op),
           describe(&f, a.is(K::Int) && !a.dim.is_constant() ? a : b));
    return {};
  }
  if (a.kind == b.kind && (op == "==" || op == "!=")) {
    if (a.is(K::Bool)) return Value::boolean(compare(op, a.flag, b.flag));
    if (a.is(K::Str)) return Value::boolean(compare(op, a.text, b.text));
    if (a.is(K::DType)) return Value::boolean(compare(op, a.dtype, b.dtype));
  }
  if (a.is(K::Str) && b.is(K::Str) && op == "+") return Value::string(a.text + b.text);
  if (a.is(K::List) && b.is(K::List) && op == "+") {
    std::vector<Value>& joined = a.items.edit();
    joined.insert(joined.end(), b.items.begin(), b.items.end());
    return a;
  }
  const bool a_bad = !is_number(a);
  report(a_bad ? a_span : b_span, diag::Id::TypeMismatch,
         fmt::format("the {} operand of `{}`", a_bad ? "left" : "right", op), describe(&f, a_bad ? a : b),
         a_bad && is_number(b) ? "a number"
                               : fmt::format("something that goes with {}", describe(&f, a_bad ? b : a)));
  return {};
}

Value Elaborator::static_binary(std::string_view op, const Value& a, const Value& b, Span at) {
  using K = Value::Kind;
  const bool ints = a.is(K::Int) && b.is(K::Int);
  if (is_comparison(op))
    return Value::boolean(ints ? compare(op, a.dim.constant(), b.dim.constant())
                               : compare(op, as_double(a), as_double(b)));
  const auto overflow = [&] {
    report(at, diag::Id::NumberOutOfRange, fmt::format("{} {} {}", text_of(a), op, text_of(b)), "64 bits");
    return Value{};
  };
  if (ints) {
    const int64_t x = a.dim.constant(), y = b.dim.constant();
    int64_t out = 0;
    if (op == "+") return __builtin_add_overflow(x, y, &out) ? overflow() : Value::integer(out);
    if (op == "-") return __builtin_sub_overflow(x, y, &out) ? overflow() : Value::integer(out);
    if (op == "*") return __builtin_mul_overflow(x, y, &out) ? overflow() : Value::integer(out);
    if (op == "/" || op == "%") {
      if (y == 0) {
        report(at, diag::Id::DivisionByZero);
        return {};
      }
      if (y == -1)
        return op == "%"                                  ? Value::integer(0)
               : x == std::numeric_limits<int64_t>::min() ? overflow()
                                                          : Value::integer(-x);
      if (op == "%") return Value::integer(((x % y) + y) % y);  // the sign of the divisor, as in Python
      if (x % y == 0) return Value::integer(x / y);
      return Value::real(static_cast<double>(x) / static_cast<double>(y));
    }
    if (op == "**" && y >= 0) {
      out = 1;
      int64_t base = x;
      for (int64_t e = y; e > 0; e >>= 1) {
        if ((e & 1) && __builtin_mul_overflow(out, base, &out)) return overflow();
        if (e > 1 && __builtin_mul_overflow(base, base, &base)) return overflow();
      }
      return Value::integer(out);
    }
  }
  const double x = as_double(a), y = as_double(b);
  if (op == "+") return Value::real(x + y);
  if (op == "-") return Value::real(x - y);
  if (op == "*") return Value::real(x * y);
  if (op == "/") {
    if (y == 0) {
      report(at, diag::Id::DivisionByZero);
      return {};
    }
    return Value::real(x / y);
  }
  if (op == "%") {
    if (y == 0) {
      report(at, diag::Id::DivisionByZero);
      return {};
    }
    const double r = std::fmod(x, y);
    return Value::real(r != 0 && (r < 0) != (y < 0) ? r + y : r);
  }
  // Halves through the square root, which every platform rounds alike.
  if (y == 0.5) return Value::real(std::sqrt(x));
  if (y == -0.5) return Value::real(1.0 / std::sqrt(x));
  return Value::real(std::pow(x, y));
}

Value Elaborator::host_binary(Frame& f, std::string_view op, const Value& a, const Value& b, Span at) {
  const plan::ValueId x = to_ir(f, a, at), y = to_ir(f, b, at);
  if (x == plan::kNone || y == plan::kNone) return {};
  for (const plan::ValueId id : {x, y}) {
    const plan::Kind kind = type_of(f, id).kind;
    const bool logical = op == "and" || op == "or";
    const bool ok = logical ? kind == plan::Kind::HostBool
                            : kind == plan::Kind::HostInt || kind == plan::Kind::HostFloat ||
                                  (kind == plan::Kind::HostBool && is_comparison(op));
    if (ok) continue;
    report(at, diag::Id::TypeMismatch, fmt::format("an operand of `{}`", op), program_.text(type_of(f, id)),
           logical ? "a boolean" : "a host number");
    return {};
  }
  return emit_inferred(f, Opcode::HostFn, {x, y}, {std::string(find_sign(op)->host)}, at, {}, {});
}

Value Elaborator::builtin_function(Frame& f, std::string_view name, std::vector<CallArg> args, Span at) {
  using K = Value::Kind;
  const auto need = [&](size_t n) {
    for (const CallArg& a : args)
      if (!a.name.empty()) {
        report(a.name_span, diag::Id::UnknownArgument, fmt::format("`{}`", name), a.name);
        return false;
      }
    if (args.size() == n) return true;
    report(at, diag::Id::TooManyArguments, fmt::format("`{}`", name), n, args.size());
    return false;
  };
  if (name == "Step") return make_step(f, std::move(args), at);
  if (name == "dict" || name == "get" || name == "contains" || name == "keys")
    return dict_function(f, name, std::move(args), at);
  if (name == "str") {
    if (!need(1)) return {};
    return Value::string(text_of(args[0].value));
  }
  if (name == "len") {
    if (!need(1)) return {};
    const Value& v = args[0].value;
    if (v.is(K::List) || v.is(K::Tuple)) return Value::integer(static_cast<int64_t>(v.items.size()));
    if (v.is(K::Ir) && f.builder) {
      const plan::Type& t = type_of(f, v.id);
      if (t.kind == plan::Kind::HostList)
        return emit_inferred(f, Opcode::HostElement, {v.id}, {Dim(0), true}, at, {}, {});
      if (t.is_tensor() && t.rank() > 0) return Value::integer(t.dims[0]);
    }
    report(args[0].span, diag::Id::TypeMismatch, "the argument of `len`", describe(&f, v),
           "a list or a tensor");
    return {};
  }
  if (name == "min" || name == "max") {
    if (args.size() < 2) return need(2), Value{};
    Value best = args[0].value;
    for (size_t i = 1; i < args.size(); ++i) {
      const Value& v = args[i].value;
      if (is_static_number(best) && is_static_number(v)) {
        if (name == "min" ? as_double(v) < as_double(best) : as_double(v) > as_double(best)) best = v;
      } else if (f.builder && (best.is(K::Int) || best.is(K::Float) || best.is(K::Ir)) &&
                 !is_tensor(f, best) && !is_tensor(f, v)) {
        const plan::ValueId x = to_ir(f, best, args[0].span), y = to_ir(f, v, args[i].span);
        if (x == plan::kNone || y == plan::kNone) return {};
        best = emit_inferred(f, Opcode::HostFn, {x, y}, {std::string(name)}, at, {}, {});
        if (best.poison()) return {};
      } else {
        report(args[i].span, diag::Id::TypeMismatch, fmt::format("an argument of `{}`", name),
               describe(&f, v), "a number; tensors have `minimum` and `maximum`");
        return {};
      }
    }
    return best;
  }
  if (name == "floordiv" || name == "ceildiv") {
    if (!need(2)) return {};
    Value a = args[0].value, b = args[1].value;
    if (a.is(K::Int) && b.is(K::Int) && is_static_number(a) && is_static_number(b)) {
      const int64_t x = a.dim.constant(), y = b.dim.constant();
      if (y == 0) {
        report(at, diag::Id::DivisionByZero);
        return {};
      }
      if (y == -1) return static_binary("/", a, b, at);
      const int64_t q = x / y, r = x % y;
      return Value::integer(name == "floordiv" ? q - (r != 0 && (r < 0) != (y < 0))
                                               : q + (r != 0 && (r < 0) == (y < 0)));
    }
    if (!f.builder) {
      report(at, diag::Id::NotStatic, fmt::format("`{}`", name), describe(&f, a));
      return {};
    }
    if (name == "ceildiv")
      a = binary(f, "-", binary(f, "+", a, b, at, at, at), Value::integer(1), at, at, at);
    const plan::ValueId x = to_ir(f, a, args[0].span), y = to_ir(f, b, args[1].span);
    if (x == plan::kNone || y == plan::kNone) return {};
    return emit_inferred(f, Opcode::HostFn, {x, y}, {std::string("floordiv")}, at, {}, {});
  }
  if (!need(1)) return {};
  const Value& v = args[0].value;
  if (v.poison()) return {};
  // `exp` and `sqrt` are operators on tensors and functions on numbers.
  if (f.builder && is_tensor(f, v)) {
    if (find_op(name) != Opcode::kCount) return call_op(f, find_op(name), std::move(args), at);
    if (name == "int" || name == "float") {
      const plan::ValueId item = to_ir(f, v, at);
      const Value host = emit_inferred(f, Opcode::Item, {item}, {}, at, {args[0].span}, {});
      if (host.poison()) return {};
      args[0].value = host;
      return builtin_function(f, name, std::move(args), at);
    }
  }
  if (name == "int" || name == "float") {
    if (is_static_number(v)) {
      if (name == "float") return Value::real(as_double(v));
      if (std::abs(as_double(v)) < 9e18) return Value::integer(static_cast<int64_t>(as_double(v)));
    } else if (f.builder && (v.is(K::Ir) || v.is(K::Int))) {
      if (v.is(K::Int) && name == "int") return v;
      const plan::ValueId id = to_ir(f, v, at);
      if (id != plan::kNone && !type_of(f, id).is_tensor())
        return emit_inferred(f, Opcode::HostFn, {id}, {std::string(name == "int" ? "to_int" : "to_float")},
                             at, {}, {});
    }
    report(args[0].span, diag::Id::TypeMismatch, fmt::format("the argument of `{}`", name), describe(&f, v),
           "a number");
    return {};
  }
  const auto x = as_number(v, args[0].span, fmt::format("the argument of `{}`", name));
  if (!x) return {};
  if (name == "sqrt") {
    if (*x < 0) {
      report(args[0].span, diag::Id::BadValue, fmt::format("square root of the negative number {}", *x));
      return {};
    }
    return Value::real(std::sqrt(*x));
  }
  if (name == "exp") return Value::real(std::exp(*x));
  if (*x <= 0) {
    report(args[0].span, diag::Id::BadValue,
           fmt::format("logarithm of {}, a positive number is required", *x));
    return {};
  }
  return Value::real(std::log(*x));
}

}  // namespace skdsl::sema
