// layout_cases — operators that move elements, and tensors made from nothing
#include <utility>

#include "tests/unit/kernels/op_cases.h"

namespace skdsl::test {
namespace {

/// A case whose result element at an index is the operand's element at from(index); exact in every dtype.
OpCase moves(const Attrs& attrs, const Tensor& x, const Shape& out, std::function<Shape(const Shape&)> from) {
  OpCase c;
  c.attrs = attrs;
  c.operands = {x};
  c.results = {{x.dtype(), out}};
  c.reference = [x, out, from] {
    Values y;
    for_each_index(out,
                   [&](const Shape& index) { y.push_back(element(x, flat_index(x.shape(), from(index)))); });
    return std::vector<Values>{y};
  };
  return c;
}

OpCase reshape(Random& random, const CaseOptions& o) {
  Shape shape = random_shape(random, o, 1, 4), out = shape;
  for (size_t i = out.size(); i-- > 1;)
    std::swap(out[i], out[static_cast<size_t>(random.between(0, static_cast<int64_t>(i)))]);
  if (random.chance(0.3)) out = {product(shape)};
  return moves({{"shape", out}}, random_tensor(random, o.dtype, shape), out,
               [shape, out](const Shape& index) {
                 int64_t flat = flat_index(out, index);
                 Shape from(shape.size());
                 for (size_t d = shape.size(); d-- > 0; flat /= shape[d]) from[d] = flat % shape[d];
                 return from;
               });
}

OpCase transpose(Random& random, const CaseOptions& o) {
  const Shape shape = random_shape(random, o, 2, 4);
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t a = random.between(0, rank - 1), b = random.between(0, rank - 1);
  Shape out = shape;
  std::swap(out[static_cast<size_t>(a)], out[static_cast<size_t>(b)]);
  return moves({{"axis0", a}, {"axis1", b - rank}}, random_tensor(random, o.dtype, shape), out,
               [a, b](Shape index) {
                 std::swap(index[static_cast<size_t>(a)], index[static_cast<size_t>(b)]);
                 return index;
               });
}

OpCase slice(Random& random, const CaseOptions& o) {
  const Shape shape = random_shape(random, {}, 1, 4);
  const int64_t axis = random.between(0, static_cast<int64_t>(shape.size()) - 1),
                size = shape[static_cast<size_t>(axis)];
  const int64_t begin = random.between(0, size), end = o.empty ? begin : random.between(begin, size);
  Shape out = shape;
  out[static_cast<size_t>(axis)] = end - begin;
  return moves({{"axis", axis}, {"begin", begin}, {"end", end}}, random_tensor(random, o.dtype, shape), out,
               [axis, begin](Shape index) {
                 index[static_cast<size_t>(axis)] += begin;
                 return index;
               });
}

OpCase take(Random& random, const CaseOptions& o) {
  Shape shape = random_shape(random, {}, 2, 4);
  const int64_t axis = random.between(0, static_cast<int64_t>(shape.size()) - 1),
                size = shape[static_cast<size_t>(axis)];
  if (o.empty) shape[axis == 0 ? 1 : 0] = 0;
  const int64_t index = random.between(-size, size - 1);
  Shape out = shape;
  out.erase(out.begin() + axis);
  return moves({{"axis", axis}, {"index", index}}, random_tensor(random, o.dtype, shape), out,
               [axis, at = index < 0 ? index + size : index](Shape i) {
                 i.insert(i.begin() + axis, at);
                 return i;
               });
}

OpCase broadcast_to(Random& random, const CaseOptions& o) {
  const Shape out = random_shape(random, o, 1, 4);
  Shape shape = out;
  shape.erase(shape.begin(), shape.begin() + random.between(0, static_cast<int64_t>(out.size())));
  for (int64_t& d : shape)
    if (d != 0 && random.chance(0.5)) d = 1;
  return moves({{"shape", out}}, random_tensor(random, o.dtype, shape), out, [shape](const Shape& index) {
    Shape from(index.end() - static_cast<int64_t>(shape.size()), index.end());
    for (size_t d = 0; d < shape.size(); ++d)
      if (shape[d] == 1) from[d] = 0;
    return from;
  });
}

OpCase identity(Random& random, const CaseOptions& o) {
  const Shape shape = random_shape(random, o, 1, 3);
  return moves({}, random_tensor(random, o.dtype, shape), shape, [](const Shape& index) { return index; });
}

OpCase index_select(Random& random, const CaseOptions& o) {
  const Shape shape = random_shape(random, {}, 1, 3);
  const int64_t axis = random.between(0, static_cast<int64_t>(shape.size()) - 1);
  Shape out = shape;
  const int64_t picked = o.empty ? 0 : random.between(1, 12);
  out[static_cast<size_t>(axis)] = picked;
  const Tensor index = random_indices(random, random.chance(0.5) ? SK_I32 : SK_I64, {picked}, 0,
                                      shape[static_cast<size_t>(axis)] - 1);
  OpCase c = moves({{"axis", axis}}, random_tensor(random, o.dtype, shape), out, [axis, index](Shape i) {
    int64_t& at = i[static_cast<size_t>(axis)];
    at = static_cast<int64_t>(element(index, at));
    return i;
  });
  c.operands.push_back(index);
  if (axis == 0) {
    c.rows = picked;
    c.operand_rows = {{-1, 1}, {0, 1}};
    c.result_rows = {{0, 1}};
  }
  return c;
}

OpCase concat(Random& random, const CaseOptions& o) {
  OpCase c;
  Shape out = random_shape(random, {}, 1, 3);
  const auto axis = static_cast<size_t>(random.between(0, static_cast<int64_t>(out.size()) - 1));
  if (o.empty && out.size() > 1) out[axis == 0 ? 1 : 0] = 0;
  const int64_t n = random.between(1, 4);
  out[axis] = 0;
  std::vector<int64_t> ends;
  for (int64_t k = 0; k < n; ++k) {
    Shape shape = out;
    shape[axis] = random.between(0, 5);
    c.operands.push_back(random_tensor(random, o.dtype, shape));
    ends.push_back((ends.empty() ? 0 : ends.back()) + shape[axis]);
  }
  out[axis] = ends.back();
  c.attrs = {{"axis", static_cast<int64_t>(axis)}};
  c.results = {{o.dtype, out}};
  c.reference = [xs = c.operands, out, axis, ends] {
    Values y;
    for_each_index(out, [&](Shape index) {
      size_t k = 0;
      while (index[axis] >= ends[k]) ++k;
      index[axis] -= k == 0 ? 0 : ends[k - 1];
      y.push_back(element(xs[k], flat_index(xs[k].shape(), index)));
    });
    return std::vector<Values>{y};
  };
  return c;
}

OpCase split(Random& random, const CaseOptions& o) {
  OpCase c;
  Shape shape = random_shape(random, o, 1, 3);
  const auto axis = static_cast<size_t>(random.between(0, static_cast<int64_t>(shape.size()) - 1));
  std::vector<int64_t> sizes;
  for (int64_t rest = shape[axis]; rest > 0; rest -= sizes.back()) sizes.push_back(random.between(0, rest));
  if (sizes.empty()) sizes = {0};
  c.attrs = {{"sizes", sizes}, {"axis", static_cast<int64_t>(axis) - static_cast<int64_t>(shape.size())}};
  c.operands = {random_tensor(random, o.dtype, shape)};
  for (const int64_t size : sizes) {
    Shape piece = shape;
    piece[axis] = size;
    c.results.push_back({o.dtype, piece});
  }
  c.reference = [x = c.operands[0], results = c.results, axis] {
    std::vector<Values> out;
    int64_t begin = 0;
    for (const TensorType& r : results) {
      out.push_back(values_of(axis_range(x, static_cast<int>(axis), begin, r.shape[axis])));
      begin += r.shape[axis];
    }
    return out;
  };
  return c;
}

OpCase full(Random& random, const CaseOptions& o) {
  OpCase c;
  const Shape shape = random_shape(random, o, 1, 3);
  const double value = o.dtype == SK_BOOL ? 1 : static_cast<double>(random.between(-100, 100));
  c.attrs = {{"shape", shape}, {"value", value}, {"dtype", std::string(dtype_name(o.dtype))}};
  c.results = {{o.dtype, shape}};
  c.reference = [=] { return std::vector<Values>{Values(static_cast<size_t>(product(shape)), value)}; };
  return c;
}

OpCase arange(Random& random, const CaseOptions& o) {
  OpCase c;
  const int64_t begin = random.between(-50, 50), n = o.empty ? 0 : random.between(1, 6000);
  c.attrs = {{"begin", begin}, {"end", begin + n}};
  c.results = {{SK_I32, {n}}};
  c.reference = [=] {
    Values y;
    for (int64_t i = 0; i < n; ++i) y.push_back(static_cast<double>(begin + i));
    return std::vector<Values>{y};
  };
  return c;
}

OpCase index_put(Random& random, const CaseOptions& o) {
  OpCase c;
  const Shape shape = random_shape(random, o, 1, 3);
  const Shape mask_shape(shape.begin(),
                         shape.begin() + random.between(1, static_cast<int64_t>(shape.size())));
  const Shape rest(shape.begin() + static_cast<int64_t>(mask_shape.size()), shape.end());
  const Tensor mask = random_tensor(random, SK_BOOL, mask_shape);
  int64_t matches = 0;
  for (const double m : values_of(mask)) matches += m != 0;
  Shape value_shape;
  const int64_t kind = random.between(0, 2);
  if (kind > 0) value_shape = rest;
  if (kind == 2) value_shape.insert(value_shape.begin(), matches);
  const Tensor x = random_tensor(random, o.dtype, shape), value = random_tensor(random, o.dtype, value_shape);
  c.operands = {x, mask, value};
  c.results = {{o.dtype, shape}};
  c.reference = [=] {
    Values y;
    const Values values = values_of(value);
    const int64_t slice = product(rest);
    int64_t match = 0;
    for (int64_t i = 0; i < mask.elements(); ++i) {
      const bool set = element(mask, i) != 0;
      for (int64_t j = 0; j < slice; ++j) {
        const int64_t from = kind == 0 ? 0 : kind == 1 ? j : match * slice + j;
        y.push_back(set ? values[static_cast<size_t>(from)] : element(x, i * slice + j));
      }
      match += set;
    }
    return std::vector<Values>{y};
  };
  return c;
}

OpCase scatter_update(Random& random, const CaseOptions& o) {
  OpCase c;
  const int64_t blocks = random.between(1, 5), size = random.between(1, 4),
                rows = o.empty ? 0 : random.between(1, 20);
  const Shape rest = random_shape(random, {}, 1, 2);
  Shape cache = {blocks, size}, row = {rows};
  cache.insert(cache.end(), rest.begin(), rest.end());
  row.insert(row.end(), rest.begin(), rest.end());
  // Repeated slots, too: the last row stays.
  c.operands = {random_tensor(random, o.dtype, cache),
                random_indices(random, SK_I32, {rows}, -1, blocks * size - 1),
                random_tensor(random, o.dtype, row)};
  c.reference = [in = c.operands, width = product(rest)] {
    Values y = values_of(in[0]);
    for (int64_t t = 0; t < in[1].elements(); ++t)
      for (int64_t i = 0; i < width && element(in[1], t) >= 0; ++i)
        y[static_cast<size_t>(static_cast<int64_t>(element(in[1], t)) * width + i)] =
            element(in[2], t * width + i);
    return std::vector<Values>{y};
  };
  return c;
}

}  // namespace

std::vector<CaseRow> layout_cases() {
  return {
      {Opcode::Reshape, kAllTypes, reshape},
      {Opcode::Transpose, kAllTypes, transpose},
      {Opcode::Concat, kAllTypes, concat},
      {Opcode::Split, kAllTypes, split},
      {Opcode::Slice, kAllTypes, slice},
      {Opcode::Take, kAllTypes, take},
      {Opcode::IndexSelect, kAllTypes, index_select},
      {Opcode::BroadcastTo, kAllTypes, broadcast_to},
      {Opcode::Full, kAllTypes, full},
      {Opcode::Arange, {SK_I32}, arange},
      {Opcode::IndexPut, kAllTypes, index_put},
      {Opcode::ScatterUpdate, kAllTypes, scatter_update},
      {Opcode::AllReduce, kAllTypes, identity},
      {Opcode::ReduceScatter, kAllTypes, identity},
      {Opcode::AllGather, kAllTypes, identity},
      {Opcode::AllToAll, kAllTypes, identity},
      {Opcode::Broadcast, kAllTypes, identity},
  };
}

}  // namespace skdsl::test
