// elementwise — applies a formula to broadcast operands
//
// Floats are computed in f32 (also when an i64 or another float meets them, as a rank-0 scalar may), integers
// in i64; the result is rounded once to its dtype. A chunk is read whole before it is written: the result may
// be operand 0.
#pragma once
#include "stdlib/kernels/formulas.h"
#include "stdlib/kernels/walk.h"

namespace skdsl::kernels {

template <class R, class... X>
inline void apply(R* out, int64_t n, auto formula, const X*... x) {
  for (int64_t i = 0; i < n; ++i) out[i] = formula(x[i]...);
}

/// Formula F in registers of type Reg over walk 0: out, 1 … N: operands.
template <class F, class Reg, int N>
inline void elementwise_as(const sk_call& call, const Walk<N + 1>& walk, uint32_t block, uint32_t blocks) {
  const auto formula = [](auto... x) { return F::of(x...); };
  using Result = decltype([]<size_t... I>(std::index_sequence<I...>) {
    return F::of(((void)I, Reg{})...);
  }(std::make_index_sequence<N>{}));
  const Share share = elements_of(walk.size, block, blocks);
  walk.runs(share.begin, share.end, [&](const int64_t* offset, int64_t n) {
    Reg x[N][kChunk];
    Result y[kChunk];
    for (int64_t i = 0; i < n; i += kChunk) {
      const int64_t m = std::min(kChunk, n - i);
      for (int k = 0; k < N; ++k) {
        const int64_t stride = walk.inner_stride(k + 1);
        load(x[k], at(call.in[k], offset[k + 1] + i * stride), dtype_of(call.in[k]), stride, m);
      }
      [&]<size_t... I>(std::index_sequence<I...>) {
        apply(y, m, formula, x[I]...);
      }(std::make_index_sequence<N>{});
      const int64_t stride = walk.inner_stride(0);
      store(at(call.out[0], offset[0] + i * stride), dtype_of(call.out[0]), stride, y, m);
    }
  });
}

/// out = F(in 0 … N - 1), broadcasting.
template <class F, int N>
inline void elementwise(const sk_call& call, uint32_t block, uint32_t blocks) {
  const sk_tensor& out = call.out[0];
  Walk<N + 1> walk;
  for (uint32_t d = 0; d < out.rank; ++d) {
    int64_t strides[N + 1] = {out.stride[d]};
    for (int k = 0; k < N; ++k) strides[k + 1] = broadcast_stride(call.in[k], d, out.rank);
    walk.push(out.dim[d], strides);
  }
  bool floats = !F::kIntegers;
  for (int k = 0; k < N; ++k) floats |= is_float(dtype_of(call.in[k]));
  if (floats) return elementwise_as<F, float, N>(call, walk, block, blocks);
  if constexpr (F::kIntegers) elementwise_as<F, int64_t, N>(call, walk, block, blocks);
}

}  // namespace skdsl::kernels

/// The kernel `op_name` of N operands computes formulas::Name.
#define SK_ELEMENTWISE(Name, op_name, N) \
  SK_KERNEL(op_name) { skdsl::kernels::elementwise<skdsl::kernels::formulas::Name, N>(*call, block, blocks); }
