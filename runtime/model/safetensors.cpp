#include "runtime/model/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <tuple>

#include "runtime/base/json.h"

namespace skdsl::model {

namespace {

constexpr uint64_t kLengthBytes = 8;
constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the format's own limit

/// The types of the format and their bits; those that kDTypeNames has too are ours to compute with.
struct FormatType {
  std::string_view name;
  uint64_t bits;
};
constexpr FormatType kFormatTypes[] = {
    {"BOOL", 8}, {"U8", 8},   {"I8", 8},    {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"I16", 16},
    {"U16", 16}, {"F16", 16}, {"BF16", 16}, {"I32", 32},    {"U32", 32},    {"F32", 32},    {"F64", 64},
    {"I64", 64}, {"U64", 64}, {"C64", 64},  {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6}};

sk_dtype dtype_in_file(std::string_view name) {
  for (const auto& row : kDTypeNames)
    if (row.safetensors == name) return row.type;
  return SK_NONE;
}

std::optional<uint64_t> bits_of(std::string_view name) {
  for (const auto& row : kFormatTypes)
    if (row.name == name) return row.bits;
  return {};
}

/// Bytes that a shape needs; nothing when the number does not fit, or is no whole number of bytes. An empty
/// tensor's other dims must fit as well, because strides are computed from them.
std::optional<uint64_t> bytes_needed(const std::vector<int64_t>& shape, uint64_t bits) {
  auto n = static_cast<int64_t>(bits);
  bool empty = false;
  for (const int64_t d : shape) {
    if (d == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(n, d, &n)) {
      return {};
    }
  }
  if (empty) return 0;
  if (n % 8 != 0) return {};
  return static_cast<uint64_t>(n) / 8;
}

std::optional<std::vector<int64_t>> non_negative_integers(const Json* json) {
  if (!json || !json->is_array()) return {};
  std::vector<int64_t> out;
  for (const Json& element : json->as_array()) {
    if (!element.is_int() || element.as_int() < 0) return {};
    out.push_back(element.as_int());
  }
  return out;
}

std::string shape_text(const std::vector<int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

/// One entry of the header, checked against the `available` bytes behind it.
Expected<TensorInfo> read_entry(const std::string& name, const Json& entry, uint64_t available,
                                const std::string& where) {
  const auto refuse = [&](const std::string& what) {
    return fail(fmt::format("`{}`: tensor `{}`: {}", where, name, what));
  };
  if (!entry.is_object()) return refuse(fmt::format("expected an object, found {}", entry.kind()));
  TensorInfo info;
  info.name = name;
  const Json* dtype = entry.find("dtype");
  if (!dtype || !dtype->is_string()) return refuse("expected a string as `dtype`");
  info.dtype_name = dtype->as_string();
  info.dtype = dtype_in_file(info.dtype_name);
  auto shape = non_negative_integers(entry.find("shape"));
  if (!shape) return refuse("expected a list of non-negative integers as `shape`");
  info.shape = std::move(*shape);
  const auto range = non_negative_integers(entry.find("data_offsets"));
  if (!range || range->size() != 2) return refuse("expected two non-negative integers as `data_offsets`");
  const auto begin = static_cast<uint64_t>((*range)[0]);
  const auto end = static_cast<uint64_t>((*range)[1]);
  if (begin > end) return refuse(fmt::format("data_offsets [{}, {}] end before they begin", begin, end));
  if (end > available) {
    return refuse(
        fmt::format("data_offsets [{}, {}] reach past the {} bytes of data in the file; the file is cut "
                    "short or its header is wrong",
                    begin, end, available));
  }
  info.offset = begin;
  info.bytes = end - begin;
  if (const auto bits = bits_of(info.dtype_name)) {
    const auto needed = bytes_needed(info.shape, *bits);
    if (!needed) {
      return refuse(fmt::format("shape {} of {} has no size that can be stored", shape_text(info.shape),
                                info.dtype_name));
    }
    if (*needed != info.bytes) {
      return refuse(fmt::format("shape {} of {} needs {} bytes, data_offsets [{}, {}] give {}",
                                shape_text(info.shape), info.dtype_name, *needed, begin, end, info.bytes));
    }
  }
  return info;
}

/// The tensors must follow one another from the first data byte to the last.
Expected<void> check_cover(const std::vector<TensorInfo>& sorted, uint64_t available,
                           const std::string& where) {
  // Overlaps first: a tensor in a wrong place leaves a hole too, and its name says more than the hole's.
  uint64_t at = 0;
  const TensorInfo* before = nullptr;
  for (const TensorInfo& t : sorted) {
    if (t.offset < at) {
      return fail(
          fmt::format("`{}`: tensors `{}` and `{}` overlap: one ends at data byte {}, the other begins at {}",
                      where, before->name, t.name, at, t.offset));
    }
    at = t.offset + t.bytes;
    before = &t;
  }
  at = 0;
  for (const TensorInfo& t : sorted) {
    if (t.offset > at) {
      return fail(
          fmt::format("`{}`: no tensor owns data bytes {} to {} (before `{}`); the format allows no holes",
                      where, at, t.offset, t.name));
    }
    at = t.offset + t.bytes;
  }
  if (at != available) {
    return fail(fmt::format("`{}`: no tensor owns the last {} of {} data bytes; the format allows no holes",
                            where, available - at, available));
  }
  return {};
}

}  // namespace

Expected<std::vector<TensorInfo>> read_safetensors_header(std::span<const std::byte> file,
                                                          const std::string& where) {
  const std::vector<std::string> help = {
      "help: is this a complete .safetensors file? Download or copy it again"};
  if (file.size() < kLengthBytes) {
    return fail(
        fmt::format("`{}`: {} bytes; a safetensors file begins with {} bytes that tell the length of its "
                    "header",
                    where, file.size(), kLengthBytes),
        help);
  }
  uint64_t length = 0;
  for (uint64_t i = kLengthBytes; i-- > 0;) length = length << 8 | static_cast<uint64_t>(file[i]);
  const uint64_t behind = file.size() - kLengthBytes;
  if (length > kMaxHeaderBytes) {
    return fail(
        fmt::format("`{}`: a header of {} bytes; at most {} are allowed", where, length, kMaxHeaderBytes),
        help);
  }
  if (length > behind) {
    return fail(fmt::format("`{}`: a header of {} bytes, but the file has only {} after its length", where,
                            length, behind),
                help);
  }
  const std::string_view text(reinterpret_cast<const char*>(file.data()) + kLengthBytes, length);
  const auto header = parse_json(text, fmt::format("`{}`: header", where));
  if (!header) return tl::unexpected(header.error());
  if (!header->is_object()) {
    return fail(fmt::format("`{}`: the header is {}; expected an object of tensors", where, header->kind()),
                help);
  }

  const uint64_t available = behind - length;
  std::vector<TensorInfo> tensors;
  tensors.reserve(header->as_object().size());
  for (const auto& [name, entry] : header->as_object()) {
    if (name == "__metadata__") continue;
    auto info = read_entry(name, entry, available, where);
    if (!info) return tl::unexpected(info.error());
    tensors.push_back(std::move(*info));
  }
  // An empty tensor stands before the one that begins at the same byte.
  std::sort(tensors.begin(), tensors.end(), [](const TensorInfo& a, const TensorInfo& b) {
    return std::tie(a.offset, a.bytes, a.name) < std::tie(b.offset, b.bytes, b.name);
  });
  if (auto covered = check_cover(tensors, available, where); !covered) return tl::unexpected(covered.error());
  for (TensorInfo& t : tensors) t.offset += kLengthBytes + length;
  return tensors;
}

std::string safetensors_header(std::span<const TensorInfo> tensors) {
  Json header{Json::Object{{"__metadata__", Json::Object{{"format", "pt"}}}}};
  uint64_t at = 0;
  for (const TensorInfo& t : tensors) {
    Json::Array shape;
    for (const int64_t d : t.shape) shape.emplace_back(d);
    header.as_object().emplace_back(t.name, Json::Object{{"dtype", t.dtype_name},
                                                         {"shape", std::move(shape)},
                                                         {"data_offsets", Json::Array{at, at + t.bytes}}});
    at += t.bytes;
  }
  std::string text = to_json(header);
  while ((kLengthBytes + text.size()) % 8 != 0) text += ' ';
  std::string out;
  for (uint64_t i = 0; i < kLengthBytes; ++i) out += static_cast<char>(text.size() >> (8 * i) & 0xff);
  return out + text;
}

}  // namespace skdsl::model
