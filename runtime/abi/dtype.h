// dtype — sizes, names and bit conversions of the element types
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "runtime/abi/abi.h"

namespace skdsl {

/// bfloat16 storage: the upper half of an f32, rounded to nearest even.
struct bf16 {
  uint16_t bits;
};

/// IEEE binary16 storage.
struct f16 {
  uint16_t bits;
};

inline float to_f32(float x) { return x; }
inline float to_f32(bf16 x) { return std::bit_cast<float>(static_cast<uint32_t>(x.bits) << 16); }
inline float to_f32(f16 x) {
  _Float16 h;
  std::memcpy(&h, &x.bits, sizeof h);
  return static_cast<float>(h);
}

template <class T>
T from_f32(float x);
template <>
inline float from_f32<float>(float x) {
  return x;
}
template <>
inline bf16 from_f32<bf16>(float x) {
  const auto u = std::bit_cast<uint32_t>(x);
  // NaN keeps its sign and becomes quiet; rounding it could give infinity.
  if ((u & 0x7fffffffu) > 0x7f800000u) return {static_cast<uint16_t>((u >> 16) | 0x40u)};
  return {static_cast<uint16_t>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16)};
}
template <>
inline f16 from_f32<f16>(float x) {
  const auto h = static_cast<_Float16>(x);
  f16 out;
  std::memcpy(&out.bits, &h, sizeof h);
  return out;
}

/// Bytes of one element; 0 for SK_NONE.
constexpr int64_t dtype_bytes(sk_dtype t) {
  switch (t) {
    case SK_F32:
    case SK_I32:
      return 4;
    case SK_BF16:
    case SK_F16:
      return 2;
    case SK_I8:
    case SK_BOOL:
      return 1;
    case SK_I64:
      return 8;
    case SK_NONE:
      break;
  }
  return 0;
}

constexpr bool is_float(sk_dtype t) { return t == SK_F32 || t == SK_BF16 || t == SK_F16; }

struct DTypeName {
  sk_dtype type;
  std::string_view skdsl;        // in .sk files
  std::string_view torch;        // in config.json and --set dtype=
  std::string_view safetensors;  // in checkpoint headers
};
inline constexpr DTypeName kDTypeNames[] = {
    {SK_F32, "f32", "float32", "F32"}, {SK_BF16, "bf16", "bfloat16", "BF16"},
    {SK_F16, "f16", "float16", "F16"}, {SK_I8, "i8", "int8", "I8"},
    {SK_I32, "i32", "int32", "I32"},   {SK_I64, "i64", "int64", "I64"},
    {SK_BOOL, "bool", "bool", "BOOL"},
};

/// "f32", "bf16" … ; "none" for SK_NONE.
constexpr std::string_view dtype_name(sk_dtype t) {
  for (const auto& n : kDTypeNames)
    if (n.type == t) return n.skdsl;
  return "none";
}

}  // namespace skdsl
