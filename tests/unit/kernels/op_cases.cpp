#include "tests/unit/kernels/op_cases.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace skdsl::test {

std::vector<CaseRow> all_cases() {
  std::vector<CaseRow> all;
  for (auto part : {elementwise_cases(), reduction_cases(), layout_cases(), matrix_cases(), layer_cases(),
                    moe_cases(), quant_cases()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

int64_t product(std::span<const int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

void set_element(const Tensor& t, int64_t i, double value) {
  switch (t.dtype()) {
    case SK_F32:
      t.data<float>()[i] = static_cast<float>(value);
      break;
    case SK_BF16:
      t.data<bf16>()[i] = from_f32<bf16>(static_cast<float>(value));
      break;
    case SK_F16:
      t.data<f16>()[i] = from_f32<f16>(static_cast<float>(value));
      break;
    case SK_I8:
      t.data<int8_t>()[i] = static_cast<int8_t>(value);
      break;
    case SK_I32:
      t.data<int32_t>()[i] = static_cast<int32_t>(value);
      break;
    case SK_I64:
      t.data<int64_t>()[i] = static_cast<int64_t>(value);
      break;
    case SK_BOOL:
      t.data<uint8_t>()[i] = value != 0;
      break;
    case SK_NONE:
      break;
  }
}

Tensor random_tensor(Random& random, sk_dtype dtype, const Shape& shape) {
  Tensor t = Tensor::empty(dtype, shape);
  for (int64_t i = 0; i < t.elements(); ++i)
    set_element(t, i,
                is_float(dtype)    ? random.real(-4, 4)
                : dtype == SK_BOOL ? static_cast<double>(random.between(0, 1))
                                   : static_cast<double>(random.between(-100, 100)));
  return t;
}

Tensor random_indices(Random& random, sk_dtype dtype, const Shape& shape, int64_t low, int64_t high) {
  Tensor t = Tensor::empty(dtype, shape);
  for (int64_t i = 0; i < t.elements(); ++i)
    set_element(t, i, static_cast<double>(random.between(low, high)));
  return t;
}

Tensor int_tensor(sk_dtype dtype, const Shape& shape, const std::vector<int64_t>& values) {
  Tensor t = Tensor::empty(dtype, shape);
  for (size_t i = 0; i < values.size(); ++i)
    set_element(t, static_cast<int64_t>(i), static_cast<double>(values[i]));
  return t;
}

Values values_of(const Tensor& t) {
  Values out;
  for (int64_t i = 0; i < t.elements(); ++i) out.push_back(element(t, i));
  return out;
}

Tensor converted(const Tensor& t, sk_dtype dtype) {
  Tensor out = Tensor::empty(dtype, t.shape());
  for (int64_t i = 0; i < t.elements(); ++i) set_element(out, i, element(t, i));
  return out;
}

Tensor strided_copy(Random& random, const Tensor& t) {
  if (!t || t.view.rank == 0) return t;
  const uint32_t rank = t.view.rank;
  std::vector<uint32_t> order(rank);
  std::iota(order.begin(), order.end(), 0u);
  for (uint32_t i = rank; i-- > 1;) std::swap(order[i], order[static_cast<size_t>(random.between(0, i))]);
  sk_tensor view = t.view;
  int64_t stride = random.between(1, 2);
  for (const uint32_t axis : order) {
    view.stride[axis] = stride;
    stride *= t.view.dim[axis] + random.between(0, 2);
  }
  Tensor out = poisoned({SK_I8, {std::max<int64_t>(1, stride) * dtype_bytes(t.dtype())}});
  view.data = out.view.data;
  const int64_t bytes = dtype_bytes(t.dtype());
  int64_t flat = 0;
  for_each_index(t.shape(), [&](const Shape& index) {
    int64_t offset = 0;
    for (uint32_t d = 0; d < rank; ++d) offset += index[d] * view.stride[d];
    std::memcpy(static_cast<char*>(view.data) + offset * bytes,
                static_cast<const char*>(t.view.data) + flat++ * bytes, static_cast<size_t>(bytes));
  });
  out.view = view;
  return out;
}

std::vector<uint8_t> bytes_of(const Tensor& t) {
  std::vector<uint8_t> out;
  const int64_t bytes = dtype_bytes(t.dtype());
  for_each_index(t.shape(), [&](const Shape& index) {
    int64_t offset = 0;
    for (size_t d = 0; d < index.size(); ++d) offset += index[d] * t.view.stride[d];
    const auto* p = static_cast<const uint8_t*>(t.view.data) + offset * bytes;
    out.insert(out.end(), p, p + bytes);
  });
  return out;
}

Tensor poisoned(const TensorType& type) {
  Tensor t = Tensor::empty(type.dtype, type.shape);
  std::memset(t.view.data, 0xff, static_cast<size_t>(t.bytes()));
  return t;
}

Tensor axis_range(const Tensor& t, int axis, int64_t begin, int64_t n) {
  Shape shape = t.shape();
  shape[static_cast<size_t>(axis)] = n;
  Tensor out = Tensor::empty(t.dtype(), shape);
  const int64_t bytes = dtype_bytes(t.dtype());
  int64_t to = 0;
  for_each_index(shape, [&](const Shape& index) {
    Shape from = index;
    from[static_cast<size_t>(axis)] += begin;
    std::memcpy(static_cast<char*>(out.view.data) + to++ * bytes,
                static_cast<const char*>(t.view.data) + flat_index(t.shape(), from) * bytes,
                static_cast<size_t>(bytes));
  });
  return out;
}

void for_each_index(const Shape& shape, const std::function<void(const Shape&)>& f) {
  if (product(shape) == 0) return;
  Shape index(shape.size(), 0);
  while (true) {
    f(index);
    size_t d = shape.size();
    while (d > 0 && ++index[d - 1] == shape[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

int64_t flat_index(const Shape& shape, const Shape& index) {
  int64_t flat = 0;
  for (size_t d = 0; d < shape.size(); ++d) flat = flat * shape[d] + index[d];
  return flat;
}

double broadcast_element(const Values& values, const Shape& shape, const Shape& index) {
  Shape own(shape.size());
  for (size_t d = 0; d < shape.size(); ++d)
    own[d] = shape[d] == 1 ? 0 : index[index.size() - shape.size() + d];
  return values[static_cast<size_t>(flat_index(shape, own))];
}

Shape random_shape(Random& random, const CaseOptions& options, int min_rank, int max_rank, int64_t max_dim) {
  Shape shape(static_cast<size_t>(random.between(min_rank, max_rank)));
  for (int64_t& d : shape) d = random.between(1, max_dim);
  // Sometimes long enough for several tiles and chunks.
  if (!shape.empty() && random.chance(0.2))
    shape.back() = random.between(60, 3000 / std::max<int64_t>(1, product(shape)) + 70);
  if (options.empty && !shape.empty())
    shape[static_cast<size_t>(random.between(0, static_cast<int64_t>(shape.size()) - 1))] = 0;
  return shape;
}

}  // namespace skdsl::test
