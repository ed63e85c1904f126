// unary — y = f(x), one formula each
#include "stdlib/kernels/elementwise.h"

SK_ELEMENTWISE(Neg, neg, 1)
SK_ELEMENTWISE(Abs, abs, 1)
SK_ELEMENTWISE(Exp, exp, 1)
SK_ELEMENTWISE(Sqrt, sqrt, 1)
SK_ELEMENTWISE(Rsqrt, rsqrt, 1)
SK_ELEMENTWISE(Sigmoid, sigmoid, 1)
SK_ELEMENTWISE(Silu, silu, 1)
SK_ELEMENTWISE(Gelu, gelu, 1)
SK_ELEMENTWISE(Relu, relu, 1)
