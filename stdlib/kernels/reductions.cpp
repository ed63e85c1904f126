// reductions — sum, mean, max, any, all along one axis
//
// A tile is one result. Its elements are read along the axis in chunks whatever the strides are, so a
// reduction of a transposed view has the bits of the plain one. Integers are reduced in i64 registers.
#include "stdlib/kernels/formulas.h"
#include "stdlib/kernels/reduce.h"
#include "stdlib/kernels/walk.h"

namespace skdsl::kernels {
namespace {

template <class Reg>
class Sum {
 public:
  void add(const Reg* x, int64_t n) {
    if constexpr (std::is_same_v<Reg, float>)
      lanes_.add(x, n);
    else
      for (int64_t i = 0; i < n; ++i) total_ = formulas::Add::of(total_, x[i]);
  }
  Reg result(int64_t) const {
    if constexpr (std::is_same_v<Reg, float>)
      return lanes_.sum();
    else
      return total_;
  }

 private:
  LaneSum lanes_;
  int64_t total_ = 0;
};

template <class Reg>
class Mean : public Sum<Reg> {
 public:
  Reg result(int64_t n) const { return formulas::Div::of(Sum<Reg>::result(n), static_cast<Reg>(n)); }
};

template <class Reg>
class Max {
 public:
  void add(const Reg* x, int64_t n) {
    for (int64_t i = 0; i < n; ++i) max_ = formulas::Maximum::of(max_, x[i]);
  }
  Reg result(int64_t) const { return max_; }

 private:
  Reg max_ = std::numeric_limits<Reg>::has_infinity ? -std::numeric_limits<Reg>::infinity()
                                                    : std::numeric_limits<Reg>::min();
};

template <class Reg>
class Any {
 public:
  void add(const Reg* x, int64_t n) {
    for (int64_t i = 0; i < n; ++i) any_ |= x[i] != 0;
  }
  Reg result(int64_t) const { return any_; }

 private:
  bool any_ = false;
};

template <class Reg>
class All {
 public:
  void add(const Reg* x, int64_t n) {
    for (int64_t i = 0; i < n; ++i) all_ &= x[i] != 0;
  }
  Reg result(int64_t) const { return all_; }

 private:
  bool all_ = true;
};

template <class Reg, class Reducer>
void reduce_as(const sk_call& call, uint32_t block, uint32_t blocks) {
  const sk_tensor& x = call.in[0];
  const sk_tensor& y = call.out[0];
  const uint32_t axis = axis_of(call.attr[0].i, x.rank);
  Walk<1> results;
  for (uint32_t d = 0; d < x.rank; ++d)
    if (d != axis) results.push(x.dim[d], {x.stride[d]});
  const int64_t length = x.dim[axis], stride = x.stride[axis];
  const Share share = share_of(results.size, block, blocks);
  int64_t to = share.begin;
  results.runs(share.begin, share.end, [&](const int64_t* offset, int64_t n) {
    for (int64_t r = 0; r < n; ++r, ++to) {
      Reducer reducer;
      Reg chunk[kChunk];
      for (int64_t i = 0; i < length; i += kChunk) {
        const int64_t m = std::min(kChunk, length - i);
        load(chunk, at(x, *offset + r * results.inner_stride(0) + i * stride), dtype_of(x), stride, m);
        reducer.add(chunk, m);
      }
      const Reg result = reducer.result(length);
      store(at(y, to), dtype_of(y), 1, &result, 1);
    }
  });
}

template <template <class> class Reducer>
void reduce(const sk_call& call, uint32_t block, uint32_t blocks) {
  if (is_float(dtype_of(call.in[0])))
    reduce_as<float, Reducer<float>>(call, block, blocks);
  else
    reduce_as<int64_t, Reducer<int64_t>>(call, block, blocks);
}

}  // namespace
}  // namespace skdsl::kernels

SK_KERNEL(reduce_sum) { skdsl::kernels::reduce<skdsl::kernels::Sum>(*call, block, blocks); }
SK_KERNEL(reduce_mean) { skdsl::kernels::reduce<skdsl::kernels::Mean>(*call, block, blocks); }
SK_KERNEL(reduce_max) { skdsl::kernels::reduce<skdsl::kernels::Max>(*call, block, blocks); }
SK_KERNEL(reduce_any) { skdsl::kernels::reduce<skdsl::kernels::Any>(*call, block, blocks); }
SK_KERNEL(reduce_all) { skdsl::kernels::reduce<skdsl::kernels::All>(*call, block, blocks); }
