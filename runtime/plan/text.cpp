#include "runtime/plan/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace skdsl::plan::text {

namespace {
// Up to this many elements a constant is printed as numbers; more are only readable to machines anyway.
constexpr size_t kMaxReadableElements = 64;

constexpr std::string_view kReserved[] = {"true", "false", "none", "inf", "nan", "_"};

template <class T>
T load(const uint8_t* bytes) {
  T x;
  std::memcpy(&x, bytes, sizeof x);
  return x;
}

template <class F>
std::string float_text(F x, uint64_t bits) {
  if (x != x) return fmt::format("nan({:#x})", bits);
  std::string s = fmt::format("{}", x);
  return s;
}

std::string element(DType dtype, const uint8_t* at) {
  switch (dtype) {
    case DType::F32:
      return float_text(load<float>(at), load<uint32_t>(at));
    case DType::BF16:
      return float_text(to_f32(load<bf16>(at)), load<uint16_t>(at));
    case DType::F16:
      return float_text(to_f32(load<f16>(at)), load<uint16_t>(at));
    case DType::I8:
      return std::to_string(load<int8_t>(at));
    case DType::I32:
      return std::to_string(load<int32_t>(at));
    case DType::I64:
      return std::to_string(load<int64_t>(at));
    case DType::Bool:
      return std::to_string(*at);
    case DType::None:
    case DType::Stored:
      break;
  }
  return "?";
}
}  // namespace

bool is_identifier(std::string_view s) {
  if (s.empty() || std::find(std::begin(kReserved), std::end(kReserved), s) != std::end(kReserved))
    return false;
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (!letter(s[0])) return false;
  return std::all_of(s.begin(), s.end(),
                     [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '.'; });
}

std::string quoted(std::string_view s, char quote) {
  std::string out(1, quote);
  for (const char c : s) {
    switch (c) {
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\\':
        out += "\\\\";
        break;
      default:
        if (c == quote) {
          out += '\\';
          out += c;
        } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        } else {
          out += c;
        }
    }
  }
  return out + quote;
}

std::string word(std::string_view s) { return is_identifier(s) ? std::string(s) : quoted(s); }
std::string symbol(std::string_view s) { return is_identifier(s) ? std::string(s) : quoted(s, '`'); }

std::string number(double x) {
  if (x != x) return fmt::format("nan({:#x})", std::bit_cast<uint64_t>(x));
  std::string s = fmt::format("{}", x);
  if (s.find_first_of(".en") == std::string::npos) s += ".0";
  return s;
}

std::string_view name(Context::Kind kind) {
  constexpr std::string_view kNames[] = {"superkernel", "no_superkernel", "stream", "cores"};
  const auto i = static_cast<size_t>(kind);
  return i < std::size(kNames) ? kNames[i] : "?";
}

std::string_view name(Storage storage) {
  constexpr std::string_view kNames[] = {"input", "arena", "weight", "state", "constant"};
  const auto i = static_cast<size_t>(storage);
  return i < std::size(kNames) ? kNames[i] : "?";
}

std::string_view name(Step::Kind kind) {
  constexpr std::string_view kNames[] = {"call", "record", "wait", "prefetch", "note", "superkernel"};
  const auto i = static_cast<size_t>(kind);
  return i < std::size(kNames) ? kNames[i] : "?";
}

std::string_view name(Core core) {
  constexpr std::string_view kNames[] = {"none", "aic", "aiv", "mix11", "mix12", "aicpu", "host"};
  const auto i = static_cast<size_t>(core);
  return i < std::size(kNames) ? kNames[i] : "?";
}

std::string of(const Program& program, const Dim& dim) {
  return dim.text([&](SymbolId s) {
    return s < program.symbols.size() ? symbol(program.symbols[s]) : fmt::format("?{}", s);
  });
}

std::string of(const Program& program, const Type& type) {
  switch (type.kind) {
    case Kind::HostInt:
      return "int(" + (type.dims.size() == 1 ? of(program, type.dims[0]) : "?") + ")";
    case Kind::HostFloat:
      return "float";
    case Kind::HostBool:
      return "bool";
    case Kind::HostList:
      return "list";
    case Kind::Tensor:
      break;
  }
  std::string out(plan::name(type.dtype));
  out += '[';
  for (size_t i = 0; i < type.dims.size(); ++i) {
    if (i) out += ", ";
    out += of(program, type.dims[i]);
  }
  return out + "]";
}

std::string of(const ConstantData& data) {
  std::string out = ": ";
  out += plan::name(data.dtype);
  out += fmt::format("[{}] = ", fmt::join(data.shape, ", "));
  const size_t size = static_cast<size_t>(dtype_bytes(abi_dtype(data.dtype)));
  const bool whole = size != 0 && byte_size(data.dtype, data.shape) == data.bytes.size();
  if (whole && data.bytes.size() / size <= kMaxReadableElements) {
    out += '[';
    for (size_t i = 0; i < data.bytes.size(); i += size) {
      if (i) out += ", ";
      out += element(data.dtype, data.bytes.data() + i);
    }
    return out + "]";
  }
  out += "hex \"";
  constexpr char kDigits[] = "0123456789abcdef";
  out.reserve(out.size() + data.bytes.size() * 2 + 1);
  for (const uint8_t b : data.bytes) {
    out += kDigits[b >> 4];
    out += kDigits[b & 15];
  }
  return out + "\"";
}

std::string of(const Loc& loc) {
  return fmt::format("loc({}:{}:{}+{})", loc.file, loc.line, loc.column, loc.length);
}

std::optional<uint64_t> byte_size(DType dtype, const std::vector<int64_t>& shape) {
  int64_t n = dtype_bytes(abi_dtype(dtype));
  bool empty = false;
  for (const int64_t d : shape) {
    if (d < 0) return {};
    empty |= d == 0;
  }
  if (empty) return 0;
  for (const int64_t d : shape)
    if (__builtin_mul_overflow(n, d, &n)) return {};
  return static_cast<uint64_t>(n);
}

}  // namespace skdsl::plan::text
