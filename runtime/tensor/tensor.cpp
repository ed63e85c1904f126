#include "runtime/tensor/tensor.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include "runtime/base/assert.h"

namespace skdsl {

namespace {
std::shared_ptr<void> allocate(int64_t bytes) {
  constexpr std::align_val_t kAlign{64};
  void* p = ::operator new(static_cast<size_t>(bytes > 0 ? bytes : 1), kAlign);
  return {p, [](void* q) { ::operator delete(q, kAlign); }};
}
}  // namespace

sk_tensor contiguous_view(sk_dtype dtype, std::span<const int64_t> shape, void* data) {
  SK_ASSERT(shape.size() <= SK_MAX_RANK, "ranks are checked by the compiler");
  sk_tensor t{};
  t.data = data;
  t.rank = static_cast<uint32_t>(shape.size());
  t.dtype = dtype;
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    t.dim[i] = shape[i];
    t.stride[i] = stride;
    stride *= shape[i];
  }
  return t;
}

Tensor Tensor::empty(sk_dtype dtype, std::span<const int64_t> shape) {
  Tensor t;
  t.view = contiguous_view(dtype, shape, nullptr);
  t.keep = allocate(t.bytes());
  t.view.data = t.keep.get();
#ifdef SKDSL_POISON
  std::memset(t.view.data, 0xff, static_cast<size_t>(t.bytes()));
#endif
  return t;
}

Tensor Tensor::zeros(sk_dtype dtype, std::span<const int64_t> shape) {
  Tensor t = empty(dtype, shape);
  std::memset(t.view.data, 0, static_cast<size_t>(t.bytes()));
  return t;
}

Tensor Tensor::borrow(sk_dtype dtype, std::span<const int64_t> shape, void* data,
                      std::shared_ptr<void> keep) {
  return {contiguous_view(dtype, shape, data), std::move(keep)};
}

int64_t Tensor::elements() const {
  int64_t n = 1;
  for (uint32_t i = 0; i < view.rank; ++i) n *= view.dim[i];
  return n;
}

bool Tensor::contiguous() const {
  int64_t stride = 1;
  for (uint32_t i = view.rank; i-- > 0;) {
    if (view.dim[i] != 1 && view.stride[i] != stride) return false;
    stride *= view.dim[i];
  }
  return true;
}

Tensor Tensor::reshaped(std::span<const int64_t> new_shape) const {
  SK_ASSERT(contiguous(), "only contiguous tensors change shape without a copy");
  Tensor t{contiguous_view(dtype(), new_shape, view.data), keep};
  SK_ASSERT(t.elements() == elements(), "a reshape keeps the number of elements");
  return t;
}

std::string describe(const sk_tensor& t) {
  std::string out(dtype_name(static_cast<sk_dtype>(t.dtype)));
  out += '[';
  for (uint32_t i = 0; i < t.rank; ++i) out += (i ? ", " : "") + std::to_string(t.dim[i]);
  return out + "]";
}

}  // namespace skdsl
