// formulas — one formula for each elementwise operator, used by every kernel that needs the function
//
// `kIntegers`: the formula also holds for integers, in i64 registers; sums and products wrap.
#pragma once
#include "stdlib/kernels/kernel.h"
#include "stdlib/kernels/math.h"

namespace skdsl::kernels::formulas {

/// i64 arithmetic that wraps.
inline int64_t wrapped(uint64_t x) { return static_cast<int64_t>(x); }
inline uint64_t bits(int64_t x) { return static_cast<uint64_t>(x); }

struct Add {
  static constexpr bool kIntegers = true;
  static float of(float x, float y) { return x + y; }
  static int64_t of(int64_t x, int64_t y) { return wrapped(bits(x) + bits(y)); }
};
struct Sub {
  static constexpr bool kIntegers = true;
  static float of(float x, float y) { return x - y; }
  static int64_t of(int64_t x, int64_t y) { return wrapped(bits(x) - bits(y)); }
};
struct Mul {
  static constexpr bool kIntegers = true;
  static float of(float x, float y) { return x * y; }
  static int64_t of(int64_t x, int64_t y) { return wrapped(bits(x) * bits(y)); }
};
struct Div {
  static constexpr bool kIntegers = true;
  static float of(float x, float y) { return x / y; }
  static int64_t of(int64_t x, int64_t y) {
    if (y == 0) return 0;
    return y == -1 ? wrapped(0 - bits(x)) : x / y;
  }
};
struct Maximum {
  static constexpr bool kIntegers = true;
  static float of(float x, float y) { return x != x ? x : (x > y ? x : y); }
  static int64_t of(int64_t x, int64_t y) { return x > y ? x : y; }
};
struct Minimum {
  static constexpr bool kIntegers = true;
  static float of(float x, float y) { return x != x ? x : (x < y ? x : y); }
  static int64_t of(int64_t x, int64_t y) { return x < y ? x : y; }
};

#define SK_COMPARISON(Name, sign)                                \
  struct Name {                                                  \
    static constexpr bool kIntegers = true;                      \
    static int64_t of(float x, float y) { return x sign y; }     \
    static int64_t of(int64_t x, int64_t y) { return x sign y; } \
  };
SK_COMPARISON(Eq, ==)
SK_COMPARISON(Ne, !=)
SK_COMPARISON(Lt, <)
SK_COMPARISON(Le, <=)
SK_COMPARISON(Gt, >)
SK_COMPARISON(Ge, >=)
#undef SK_COMPARISON

struct LogicalAnd {
  static constexpr bool kIntegers = true;
  static float of(float x, float y) { return x != 0 && y != 0; }
  static int64_t of(int64_t x, int64_t y) { return x != 0 && y != 0; }
};
struct LogicalOr {
  static constexpr bool kIntegers = true;
  static float of(float x, float y) { return x != 0 || y != 0; }
  static int64_t of(int64_t x, int64_t y) { return x != 0 || y != 0; }
};
struct LogicalNot {
  static constexpr bool kIntegers = true;
  static float of(float x) { return x == 0; }
  static int64_t of(int64_t x) { return x == 0; }
};

struct Neg {
  static constexpr bool kIntegers = true;
  static float of(float x) { return -x; }
  static int64_t of(int64_t x) { return wrapped(0 - bits(x)); }
};
struct Abs {
  static constexpr bool kIntegers = true;
  static float of(float x) { return __builtin_fabsf(x); }
  static int64_t of(int64_t x) { return x < 0 ? wrapped(0 - bits(x)) : x; }
};
struct Exp {
  static constexpr bool kIntegers = false;
  static float of(float x) { return math::exp(x); }
};
struct Sqrt {
  static constexpr bool kIntegers = false;
  static float of(float x) { return __builtin_sqrtf(x); }
};
struct Rsqrt {
  static constexpr bool kIntegers = false;
  static float of(float x) { return 1.0f / __builtin_sqrtf(x); }
};
struct Sigmoid {
  static constexpr bool kIntegers = false;
  static float of(float x) { return math::sigmoid(x); }
};
struct Silu {
  static constexpr bool kIntegers = false;
  static float of(float x) { return x * math::sigmoid(x); }
};
struct Gelu {
  static constexpr bool kIntegers = false;
  // (1 + tanh(u)) / 2 is sigmoid(2 u); u = sqrt(2 / pi) (x + 0.044715 x³).
  static float of(float x) { return x * math::sigmoid(1.5957691216f * (x + 0.044715f * (x * x * x))); }
};
struct Relu {
  static constexpr bool kIntegers = false;
  static float of(float x) { return x > 0.0f || x != x ? x : 0.0f; }
};

struct Where {
  static constexpr bool kIntegers = true;
  static float of(float cond, float x, float y) { return cond != 0 ? x : y; }
  static int64_t of(int64_t cond, int64_t x, int64_t y) { return cond != 0 ? x : y; }
};
/// Copies; the store converts.
struct Cast {
  static constexpr bool kIntegers = true;
  static float of(float x) { return x; }
  static int64_t of(int64_t x) { return x; }
};

}  // namespace skdsl::kernels::formulas
