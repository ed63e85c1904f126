// kernel — what every kernel file starts from: shares of the tiles, elements as registers, index faults
//
// Numbers live in two kinds of registers: every float storage is read as f32, every integer storage as i64.
// Chunks of up to kChunk elements are loaded, computed and stored, so a result may lie on top of an operand
// of its shape.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "runtime/abi/abi.h"
#include "runtime/abi/dtype.h"

/// The head of a kernel's definition; the body sees `call`, `phase`, `block` and `blocks`.
#define SK_KERNEL(op_name)                                                                                   \
  extern "C" void sk_kernel_##op_name([[maybe_unused]] const sk_call* call, [[maybe_unused]] uint32_t phase, \
                                      [[maybe_unused]] uint32_t block,                                       \
                                      [[maybe_unused]] uint32_t blocks) noexcept
/// The head of a kernel's workspace function: bytes for one block.
#define SK_WORKSPACE(op_name) extern "C" uint64_t sk_workspace_##op_name(const sk_call* call) noexcept

namespace skdsl::kernels {

inline constexpr int64_t kChunk = 64;
inline constexpr int64_t kTileElements = 2048;

/// Tiles [begin, end) of one block.
struct Share {
  int64_t begin, end;
};
inline Share share_of(int64_t tiles, uint32_t block, uint32_t blocks) {
  return {tiles * block / blocks, tiles * (block + 1) / blocks};
}
/// The elements of one block when `n` elements are cut into tiles of kTileElements.
inline Share elements_of(int64_t n, uint32_t block, uint32_t blocks) {
  const Share s = share_of((n + kTileElements - 1) / kTileElements, block, blocks);
  return {s.begin * kTileElements, std::min(n, s.end * kTileElements)};
}

/// SK_BOOL storage; any byte but 0 is true.
struct Bool {
  uint8_t byte;
};

inline sk_dtype dtype_of(const sk_tensor& t) { return static_cast<sk_dtype>(t.dtype); }
inline bool present(const sk_tensor& t) { return t.dtype != SK_NONE; }
inline int64_t element_count(const sk_tensor& t) {
  int64_t n = 1;
  for (uint32_t d = 0; d < t.rank; ++d) n *= t.dim[d];
  return n;
}
inline int64_t last_dim(const sk_tensor& t) { return t.dim[t.rank - 1]; }
inline int64_t last_stride(const sk_tensor& t) { return t.stride[t.rank - 1]; }
/// Rows along the last axis.
inline int64_t row_count(const sk_tensor& t) {
  int64_t n = 1;
  for (uint32_t d = 0; d + 1 < t.rank; ++d) n *= t.dim[d];
  return n;
}
/// Where position `flat` of the first `axes` axes begins, in elements.
inline int64_t offset_of(const sk_tensor& t, int64_t flat, uint32_t axes) {
  int64_t offset = 0;
  for (uint32_t d = axes; d-- > 0;) {
    offset += flat % t.dim[d] * t.stride[d];
    flat /= t.dim[d];
  }
  return offset;
}
inline int64_t row_offset(const sk_tensor& t, int64_t row) { return offset_of(t, row, t.rank - 1); }
inline void* at(const sk_tensor& t, int64_t offset) {
  return static_cast<char*>(t.data) + offset * dtype_bytes(dtype_of(t));
}
/// An axis attribute, negative ones counted from the end.
inline uint32_t axis_of(int64_t axis, uint32_t rank) {
  return static_cast<uint32_t>(axis < 0 ? axis + rank : axis);
}

/// Calls `f` with a value of the storage type of `t`.
template <class F>
inline void with_storage(sk_dtype t, F&& f) {
  switch (t) {
    case SK_F32:
      return f(float{});
    case SK_BF16:
      return f(bf16{});
    case SK_F16:
      return f(f16{});
    case SK_I8:
      return f(int8_t{});
    case SK_I32:
      return f(int32_t{});
    case SK_I64:
      return f(int64_t{});
    case SK_BOOL:
      return f(Bool{});
    case SK_NONE:
      return;
  }
}
/// As with_storage, for float storages only.
template <class F>
inline void with_float(sk_dtype t, F&& f) {
  switch (t) {
    case SK_F32:
      return f(float{});
    case SK_BF16:
      return f(bf16{});
    case SK_F16:
      return f(f16{});
    default:
      return;
  }
}

/// Storage to register R (float or int64_t).
template <class R, class S>
inline R read(S x) {
  if constexpr (std::is_same_v<S, bf16> || std::is_same_v<S, f16>)
    return static_cast<R>(to_f32(x));
  else if constexpr (std::is_same_v<S, Bool>)
    return static_cast<R>(x.byte != 0);
  else
    return static_cast<R>(x);
}

/// Towards zero, saturating, NaN to 0.
template <class I>
inline I saturate(float x) {
  if (!(x == x)) return 0;
  // As a float the largest I may be one step above it: compare before converting.
  constexpr float kEnd = -static_cast<float>(std::numeric_limits<I>::min());
  if (x >= kEnd) return std::numeric_limits<I>::max();
  if (x < -kEnd) return std::numeric_limits<I>::min();
  return static_cast<I>(x);
}

/// from_f32<bf16> without branches, so that loops over it become vectors; NaN is the quiet one.
inline bf16 rounded_to_bf16(float x) {
  const auto u = std::bit_cast<uint32_t>(x);
  const uint32_t rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
  return {static_cast<uint16_t>(x == x ? rounded : 0x7fc0u)};
}

/// Register to storage: floats round to nearest even, float to integer saturates, integers wrap. There is one
/// NaN: which of two NaN operands an addition keeps is the compiler's choice and may differ between loops.
template <class S, class R>
inline S written(R x) {
  if constexpr (std::is_same_v<S, Bool>)
    return {static_cast<uint8_t>(x != 0)};
  else if constexpr (std::is_integral_v<S> && std::is_floating_point_v<R>)
    return saturate<S>(x);
  else if constexpr (std::is_integral_v<S>)
    return static_cast<S>(x);
  else if constexpr (std::is_same_v<S, bf16>)
    return rounded_to_bf16(static_cast<float>(x));
  else
    return from_f32<S>(x == x ? static_cast<float>(x) : std::numeric_limits<float>::quiet_NaN());
}

/// n elements into registers; stride 0 repeats one.
template <class R>
inline void load(R* to, const void* from, sk_dtype dtype, int64_t stride, int64_t n) {
  with_storage(dtype, [&](auto tag) {
    using S = decltype(tag);
    const S* p = static_cast<const S*>(from);
    if (stride == 1)
      for (int64_t i = 0; i < n; ++i) to[i] = read<R>(p[i]);
    else
      for (int64_t i = 0; i < n; ++i) to[i] = read<R>(p[i * stride]);
  });
}
template <class R>
inline void store(void* to, sk_dtype dtype, int64_t stride, const R* from, int64_t n) {
  with_storage(dtype, [&](auto tag) {
    using S = decltype(tag);
    S* p = static_cast<S*>(to);
    if (stride == 1)
      for (int64_t i = 0; i < n; ++i) p[i] = written<S>(from[i]);
    else
      for (int64_t i = 0; i < n; ++i) p[i * stride] = written<S>(from[i]);
  });
}

/// n elements of one dtype, bit by bit.
inline void copy_elements(void* to, int64_t to_stride, const void* from, int64_t from_stride, int64_t bytes,
                          int64_t n) {
  if (n == 0) return;
  if (to_stride == 1 && from_stride == 1) {
    std::memmove(to, from, static_cast<size_t>(n * bytes));
    return;
  }
  const auto strided = [&]<class U>(U) {
    for (int64_t i = 0; i < n; ++i)
      std::memcpy(static_cast<char*>(to) + i * to_stride * bytes,
                  static_cast<const char*>(from) + i * from_stride * bytes, sizeof(U));
  };
  switch (bytes) {
    case 1:
      return strided(uint8_t{});
    case 2:
      return strided(uint16_t{});
    case 4:
      return strided(uint32_t{});
    case 8:
      return strided(uint64_t{});
  }
}

/// n elements from one dtype to another; equal dtypes keep their bits.
inline void convert(void* to, sk_dtype to_dtype, int64_t to_stride, const void* from, sk_dtype from_dtype,
                    int64_t from_stride, int64_t n) {
  if (to_dtype == from_dtype)
    return copy_elements(to, to_stride, from, from_stride, dtype_bytes(to_dtype), n);
  const auto chunks = [&](auto* registers) {
    for (int64_t i = 0; i < n; i += kChunk) {
      const int64_t m = std::min(kChunk, n - i);
      load(registers, static_cast<const char*>(from) + i * from_stride * dtype_bytes(from_dtype), from_dtype,
           from_stride, m);
      store(static_cast<char*>(to) + i * to_stride * dtype_bytes(to_dtype), to_dtype, to_stride, registers,
            m);
    }
  };
  if (is_float(from_dtype)) {
    float r[kChunk];
    chunks(r);
  } else {
    int64_t r[kChunk];
    chunks(r);
  }
}

inline void zero(void* to, sk_dtype dtype, int64_t n) {
  if (n > 0) std::memset(to, 0, static_cast<size_t>(n * dtype_bytes(dtype)));
}

/// The integer at `offset` elements of an index tensor.
inline int64_t index_at(const sk_tensor& t, int64_t offset) {
  int64_t value = 0;
  load(&value, at(t, offset), dtype_of(t), 1, 1);
  return value;
}

/// Records an index that had to lie in [0, limit); the first one of a launch wins.
inline void report_index(const sk_call& call, int64_t value, int64_t limit, int64_t row) {
  sk_fault* fault = call.fault;
  if (fault == nullptr) return;
  uint32_t none = SK_FAULT_NONE;
  if (!__atomic_compare_exchange_n(&fault->code, &none, static_cast<uint32_t>(SK_FAULT_INDEX), false,
                                   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    return;
  fault->value = value;
  fault->limit = limit;
  fault->row = row;
  __atomic_store_n(&fault->ready, 1u, __ATOMIC_RELEASE);
}

/// The workspace of one block.
inline float* workspace_of(const sk_call& call, uint32_t block) {
  return reinterpret_cast<float*>(call.workspace + call.workspace_stride * block);
}

}  // namespace skdsl::kernels
