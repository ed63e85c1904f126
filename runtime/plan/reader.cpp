#include "runtime/plan/reader.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <limits>

#include "runtime/plan/text.h"

namespace skdsl::plan::text {

bool Reader::wrong(std::string_view what) {
  if (!error_) error_ = Error{ErrorKind::Input, fmt::format("plan text, line {}: {}", token_.line, what), {}};
  return false;
}

bool Reader::expected(std::string_view what) {
  std::string found = at_end() ? "the end" : fmt::format("`{}`", token_.spelling.substr(0, 40));
  if (token_.kind == Token::Kind::Unknown && !token_.spelling.empty() &&
      (token_.spelling[0] == '"' || token_.spelling[0] == '`'))
    found = "a string that does not end or has an unknown escape";
  return wrong(fmt::format("expected {}, found {}", what, found));
}

bool Reader::is(std::string_view spelling) const {
  return ok() && (token_.kind == Token::Kind::Word || token_.kind == Token::Kind::Punct) &&
         token_.spelling == spelling;
}

bool Reader::accept(std::string_view spelling) {
  if (!is(spelling)) return false;
  advance();
  return true;
}

bool Reader::expect(std::string_view spelling) {
  return accept(spelling) || expected(fmt::format("`{}`", spelling));
}

std::optional<std::string> Reader::string() {
  if (!ok() || token_.kind != Token::Kind::String) {
    expected("a string");
    return {};
  }
  std::string s = std::move(token_.value);
  advance();
  return s;
}

std::optional<std::string> Reader::word_or_string() {
  if (!ok() || token_.kind != Token::Kind::Word) return string();
  std::string s(token_.spelling);
  advance();
  return s;
}

std::optional<uint64_t> Reader::unsigned_integer() {
  if (!ok() || token_.kind != Token::Kind::Int) {
    expected("an integer");
    return {};
  }
  std::string_view s = token_.spelling;
  const bool hex = s.starts_with("0x");
  if (hex) s.remove_prefix(2);
  uint64_t x = 0;
  const auto [end, ec] = std::from_chars(s.data(), s.data() + s.size(), x, hex ? 16 : 10);
  if (ec != std::errc() || end != s.data() + s.size()) {
    wrong(fmt::format("`{}` does not fit 64 bits", token_.spelling));
    return {};
  }
  advance();
  return x;
}

std::optional<uint32_t> Reader::index() {
  const auto x = unsigned_integer();
  if (x && *x < kNone) return static_cast<uint32_t>(*x);
  if (x) wrong(fmt::format("{} is no index", *x));
  return {};
}

std::optional<int64_t> Reader::integer() {
  const bool negative = accept("-");
  const auto x = unsigned_integer();
  if (!x) return {};
  const uint64_t limit = static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) + negative;
  if (*x > limit) {
    wrong(fmt::format("{}{} does not fit 64 bits", negative ? "-" : "", *x));
    return {};
  }
  return static_cast<int64_t>(negative ? 0 - *x : *x);
}

bool Reader::is_float() const {
  const Token& t = is("-") ? next_ : token_;
  return ok() && (t.kind == Token::Kind::Float ||
                  (t.kind == Token::Kind::Word && (t.spelling == "inf" || t.spelling == "nan")));
}

bool Reader::is_type() const {
  return ok() && token_.kind == Token::Kind::Word && dtype_named(token_.spelling) && next_.spelling == "[";
}

std::optional<Reader::Real> Reader::real() {
  Real out;
  const bool negative = accept("-");
  if (accept("nan")) {
    if (!expect("(")) return {};
    const auto bits = unsigned_integer();
    if (!bits || !expect(")")) return {};
    out.is_nan = true;
    out.nan_bits = *bits;
    out.f64 = std::bit_cast<double>(*bits);
    return out;
  }
  if (accept("inf")) {
    out.f64 = std::numeric_limits<double>::infinity();
    out.f32 = std::numeric_limits<float>::infinity();
  } else {
    const std::string_view s = token_.spelling;
    const bool number = ok() && (token_.kind == Token::Kind::Float || token_.kind == Token::Kind::Int);
    if (!number || std::from_chars(s.data(), s.data() + s.size(), out.f64).ptr != s.data() + s.size()) {
      expected("a number");
      return {};
    }
    const auto narrow = std::from_chars(s.data(), s.data() + s.size(), out.f32);
    if (narrow.ec == std::errc::result_out_of_range) out.f32 = static_cast<float>(out.f64);
    advance();
  }
  if (negative) {
    out.f64 = -out.f64;
    out.f32 = -out.f32;
  }
  return out;
}

bool Reader::add_symbol(std::string name) {
  if (!symbols_.emplace(name, static_cast<SymbolId>(program_.symbols.size())).second)
    return wrong(fmt::format("symbol `{}` stands twice", name));
  program_.symbols.push_back(std::move(name));
  return true;
}

// A sum of products: T*4+1, -T+2
std::optional<Dim> Reader::dim() {
  constexpr size_t kMaxFactors = 16;  // keeps a line of text from growing into a huge polynomial
  Dim sum;
  bool first = true;
  while (ok()) {
    bool negative = false;
    if (accept("-"))
      negative = true;
    else if (!first && !accept("+"))
      break;
    Dim product(negative ? -1 : 1);
    size_t factors = 0;
    do {
      if (++factors > kMaxFactors) {
        wrong(fmt::format("a product has more than {} factors", kMaxFactors));
        return {};
      }
      if (token_.kind == Token::Kind::Int) {
        const auto x = unsigned_integer();
        if (!x) return {};
        product = product * Dim(static_cast<int64_t>(*x));
      } else if (token_.kind == Token::Kind::Symbol || token_.kind == Token::Kind::Word) {
        const std::string name =
            token_.kind == Token::Kind::Symbol ? token_.value : std::string(token_.spelling);
        const auto it = symbols_.find(name);
        if (it == symbols_.end()) {
          wrong(fmt::format("`{}` is not a symbol of the program", name));
          return {};
        }
        product = product * Dim::symbol(it->second);
        advance();
      } else {
        expected("a size: integers and symbols with + - *");
        return {};
      }
    } while (accept("*"));
    sum = sum + product;
    first = false;
  }
  if (!ok()) return {};
  return sum;
}

std::optional<std::vector<Dim>> Reader::dims() {
  if (!expect("[")) return {};
  std::vector<Dim> out;
  while (ok() && !is("]")) {
    if (!out.empty() && !expect(",")) return {};
    auto d = dim();
    if (!d) return {};
    out.push_back(std::move(*d));
  }
  if (!expect("]")) return {};
  return out;
}

std::optional<DType> Reader::dtype() {
  if (ok() && token_.kind == Token::Kind::Word) {
    if (const auto t = dtype_named(token_.spelling)) {
      advance();
      return t;
    }
  }
  expected("a dtype");
  return {};
}

std::optional<Type> Reader::type() {
  if (accept("int")) {
    if (!expect("(")) return {};
    auto d = dim();
    if (!d || !expect(")")) return {};
    return Type::host_int(std::move(*d));
  }
  if (accept("float")) return Type::host(Kind::HostFloat);
  if (accept("list")) return Type::host(Kind::HostList);
  if (!ok() || token_.kind != Token::Kind::Word || !dtype_named(token_.spelling)) {
    expected("a type");
    return {};
  }
  const DType t = *dtype();
  // `bool` is a host bool, `bool[]` a tensor.
  if (t == DType::Bool && !is("[")) return Type::host(Kind::HostBool);
  auto d = dims();
  if (!d) return {};
  return Type::tensor(t, std::move(*d));
}

std::optional<Loc> Reader::loc() {
  Loc l;
  if (!expect("loc") || !expect("(")) return {};
  uint32_t* const parts[] = {&l.file, &l.line, &l.column, &l.length};
  constexpr std::string_view kAfter[] = {":", ":", "+", ")"};
  for (size_t i = 0; i < 4; ++i) {
    const auto x = unsigned_integer();
    if (!x) return {};
    if (*x > 0xffffffffu) {
      wrong("a place does not fit 32 bits");
      return {};
    }
    *parts[i] = static_cast<uint32_t>(*x);
    if (!expect(kAfter[i])) return {};
  }
  return l;
}

std::optional<Opcode> Reader::opcode() {
  if (ok() && token_.kind == Token::Kind::Word) {
    const Opcode code = find_op(token_.spelling);
    if (code != Opcode::kCount) {
      advance();
      return code;
    }
  }
  expected("an operator");
  return {};
}

std::optional<Reader::ValueName> Reader::value() {
  ValueName out;
  const std::string_view s = token_.spelling;
  if (ok() && token_.kind == Token::Kind::Value &&
      std::from_chars(s.data() + 1, s.data() + s.size(), out.number).ec == std::errc()) {
    out.name = std::move(token_.value);
    advance();
    return out;
  }
  expected("a value such as %3");
  return {};
}

std::optional<ConstantData> Reader::constant_data() {
  ConstantData data;
  if (!expect(":")) return {};
  const auto t = dtype();
  if (!t) return {};
  data.dtype = *t;
  const auto shape = dims();
  if (!shape) return {};
  for (const Dim& d : *shape) {
    if (!d.is_constant()) {
      wrong("the shape of a constant has a symbol");
      return {};
    }
    data.shape.push_back(d.constant());
  }
  if (!expect("=")) return {};
  if (accept("hex") ? !hex_bytes(data) : !elements(data)) return {};
  return data;
}

bool Reader::hex_bytes(ConstantData& data) {
  const auto s = string();
  if (!s) return false;
  if (s->size() % 2 != 0) return wrong("an odd number of hex digits");
  data.bytes.resize(s->size() / 2);
  for (size_t i = 0; i < data.bytes.size(); ++i) {
    const char* p = s->data() + 2 * i;
    const auto [end, ec] = std::from_chars(p, p + 2, data.bytes[i], 16);
    if (ec != std::errc() || end != p + 2) return wrong("a string of hex digits has another character");
  }
  return true;
}

bool Reader::elements(ConstantData& data) {
  if (!expect("[")) return false;
  const auto put = [&](auto x) {
    const auto* p = reinterpret_cast<const uint8_t*>(&x);
    data.bytes.insert(data.bytes.end(), p, p + sizeof x);
  };
  const auto ranged = [&](auto low, auto high, auto store) {
    const auto x = integer();
    if (!x) return false;
    if (*x < low || *x > high) return wrong(fmt::format("{} does not fit {}", *x, plan::name(data.dtype)));
    store(*x);
    return true;
  };
  bool first = true;
  while (ok() && !is("]")) {
    if (!first && !expect(",")) return false;
    first = false;
    bool good = false;
    switch (data.dtype) {
      case DType::F32:
      case DType::BF16:
      case DType::F16: {
        const auto x = real();
        if (!x) return false;
        good = true;
        if (data.dtype == DType::F32)
          x->is_nan ? put(static_cast<uint32_t>(x->nan_bits)) : put(x->f32);
        else if (x->is_nan)
          put(static_cast<uint16_t>(x->nan_bits));
        else
          put(data.dtype == DType::BF16 ? from_f32<bf16>(x->f32).bits : from_f32<f16>(x->f32).bits);
        break;
      }
      case DType::I8:
        good = ranged(-128, 127, [&](int64_t x) { put(static_cast<int8_t>(x)); });
        break;
      case DType::I32:
        good = ranged(int64_t{-2147483647} - 1, int64_t{2147483647},
                      [&](int64_t x) { put(static_cast<int32_t>(x)); });
        break;
      case DType::I64:
        good = ranged(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(),
                      [&](int64_t x) { put(x); });
        break;
      case DType::Bool:
        good = ranged(0, 255, [&](int64_t x) { put(static_cast<uint8_t>(x)); });
        break;
      case DType::None:
      case DType::Stored:
        return wrong("a constant of this dtype is written in hex");
    }
    if (!good) return false;
  }
  return expect("]");
}

bool Reader::read(uint32_t& out) {
  const auto x = index();
  if (x) out = *x;
  return ok();
}

bool Reader::read(std::string& out) {
  auto s = string();
  if (s) out = std::move(*s);
  return ok();
}

bool Reader::read(std::vector<uint32_t>& out) {
  if (!expect("[")) return false;
  while (ok() && !is("]"))
    if ((!out.empty() && !expect(",")) || !read(out.emplace_back())) return false;
  return expect("]");
}

}  // namespace skdsl::plan::text
