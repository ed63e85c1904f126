// tensor — a view plus what keeps its bytes alive
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/abi/abi.h"
#include "runtime/abi/dtype.h"

namespace skdsl {

/// A tensor of the host runtime. Copies share the bytes.
struct Tensor {
  sk_tensor view{};
  std::shared_ptr<void> keep;  // owner of the bytes: an allocation, a mapped file, an arena

  /// Fresh, contiguous, 64-byte aligned; filled with NaN patterns in poisoned builds (SKDSL_POISON), else
  /// unspecified.
  static Tensor empty(sk_dtype dtype, std::span<const int64_t> shape);
  static Tensor zeros(sk_dtype dtype, std::span<const int64_t> shape);
  /// A contiguous view of foreign bytes.
  static Tensor borrow(sk_dtype dtype, std::span<const int64_t> shape, void* data,
                       std::shared_ptr<void> keep);

  explicit operator bool() const { return view.dtype != SK_NONE; }
  sk_dtype dtype() const { return static_cast<sk_dtype>(view.dtype); }
  std::vector<int64_t> shape() const { return {view.dim, view.dim + view.rank}; }
  int64_t elements() const;
  int64_t bytes() const { return elements() * dtype_bytes(dtype()); }  // of a contiguous tensor
  bool contiguous() const;
  /// The same bytes under another shape of as many elements; only for contiguous tensors.
  Tensor reshaped(std::span<const int64_t> shape) const;
  template <class T>
  T* data() const {
    return static_cast<T*>(view.data);
  }
};

/// A contiguous view.
sk_tensor contiguous_view(sk_dtype dtype, std::span<const int64_t> shape, void* data);
/// "bf16[3, 64]"
std::string describe(const sk_tensor& t);

}  // namespace skdsl
