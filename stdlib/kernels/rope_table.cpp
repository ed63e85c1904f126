// rope_table — cos and sin of position * theta^(-2i/dim), computed in double and rounded once
//
// Linear scaling divides the angle by `factor`. A tile is one position.
#include "stdlib/kernels/kernel.h"
#include "stdlib/kernels/math.h"

namespace {
enum Scaling : int64_t { kDefault, kLinear };  // the choices of ops.def
}

SK_KERNEL(rope_table) {
  using namespace skdsl::kernels;
  const sk_tensor& cos = call->out[0];
  const sk_tensor& sin = call->out[1];
  const double dim = static_cast<double>(call->attr[1].i), theta = call->attr[2].f;
  const double factor = call->attr[3].i == kLinear ? call->attr[4].f : 1.0;
  const int64_t length = cos.dim[0], pairs = cos.dim[1];
  const Share positions = share_of(length, block, blocks);
  // Pairs outside, so that each power is computed once a block.
  for (int64_t i = 0; i < pairs; ++i) {
    const double frequency = math::pow(theta, -2.0 * static_cast<double>(i) / dim) / factor;
    for (int64_t p = positions.begin; p < positions.end; ++p) {
      const math::SinCos value = math::sin_cos(static_cast<double>(p) * frequency);
      store(at(cos, p * pairs + i), dtype_of(cos), 1, &value.cos, 1);
      store(at(sin, p * pairs + i), dtype_of(sin), 1, &value.sin, 1);
    }
  }
}
