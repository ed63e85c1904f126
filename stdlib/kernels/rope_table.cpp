// rope_table — cos and sin of position * frequency, computed in double and rounded once
//
// The frequency of pair i is theta^(-2i/dim), changed by `scaling`:
//   linear   divided by `factor`
//   yarn     a pair that turns more than beta_fast times in the original length keeps it, one that turns less
//   than
//            beta_slow times is divided by `factor`, with a linear ramp over the pairs between
//   llama3   a wave longer than length / low_freq_factor is divided by `factor`, one shorter than length /
//            high_freq_factor keeps it, with a linear ramp over 1 / wave length between
// A tile is one position.
#include "stdlib/kernels/kernel.h"
#include "stdlib/kernels/math.h"

namespace skdsl::kernels {
namespace {

enum Scaling : int64_t { kDefault, kLinear, kYarn, kLlama3 };  // the choices of ops.def
constexpr double kTwoPi = 6.283185307179586477;

/// The attributes in table order.
struct Rule {
  double dim, theta;
  int64_t scaling;
  double factor, length, beta_fast, beta_slow;
  bool truncate;
  double low_freq_factor, high_freq_factor, attention_factor;
};

double clamped(double x, double low, double high) { return x < low ? low : x > high ? high : x; }
double floored(double x) {
  if (x != x) return x;
  const auto whole = static_cast<double>(static_cast<int64_t>(clamped(x, -1e15, 1e15)));
  return whole > x ? whole - 1.0 : whole;
}

/// The pair, as a real number, that turns `rotations` times in the original length.
double pair_of_rotations(const Rule& r, double rotations) {
  return r.dim * math::log2(r.length / (rotations * kTwoPi)) / (2.0 * math::log2(r.theta));
}

double frequency(const Rule& r, int64_t i) {
  const double plain = math::pow(r.theta, -2.0 * static_cast<double>(i) / r.dim);
  switch (r.scaling) {
    case kLinear:
      return plain / r.factor;
    case kYarn: {
      double low = pair_of_rotations(r, r.beta_fast), high = pair_of_rotations(r, r.beta_slow);
      if (r.truncate) {
        low = floored(low);
        high = -floored(-high);
      }
      low = low < 0.0 ? 0.0 : low;
      high = high > r.dim - 1.0 ? r.dim - 1.0 : high;
      if (high == low) high += 0.001;
      const double ramp = clamped((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
      return plain / r.factor * ramp + plain * (1.0 - ramp);
    }
    case kLlama3: {
      const double turns = r.length * plain / kTwoPi;  // in the original length
      const double keep =
          clamped((turns - r.low_freq_factor) / (r.high_freq_factor - r.low_freq_factor), 0.0, 1.0);
      return plain / r.factor * (1.0 - keep) + plain * keep;
    }
    default:
      return plain;
  }
}

}  // namespace
}  // namespace skdsl::kernels

SK_KERNEL(rope_table) {
  using namespace skdsl::kernels;
  const sk_tensor& cos = call->out[0];
  const sk_tensor& sin = call->out[1];
  const sk_attr* a = call->attr;
  const Rule rule{static_cast<double>(a[1].i),
                  a[2].f,
                  a[3].i,
                  a[4].f,
                  static_cast<double>(a[5].i),
                  a[6].f,
                  a[7].f,
                  a[8].i != 0,
                  a[9].f,
                  a[10].f,
                  a[11].f};
  const int64_t length = cos.dim[0], pairs = cos.dim[1];
  const Share positions = share_of(length, block, blocks);
  // Pairs outside, so that each power is computed once a block.
  for (int64_t i = 0; i < pairs; ++i) {
    const double turn = frequency(rule, i);
    for (int64_t p = positions.begin; p < positions.end; ++p) {
      const math::SinCos value = math::sin_cos(static_cast<double>(p) * turn);
      const double c = value.cos * rule.attention_factor, s = value.sin * rule.attention_factor;
      store(at(cos, p * pairs + i), dtype_of(cos), 1, &c, 1);
      store(at(sin, p * pairs + i), dtype_of(sin), 1, &s, 1);
    }
  }
}
