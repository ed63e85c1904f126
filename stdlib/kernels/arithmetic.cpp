// arithmetic — z = f(x, y), one formula each
#include "stdlib/kernels/elementwise.h"

SK_ELEMENTWISE(Add, add, 2)
SK_ELEMENTWISE(Sub, sub, 2)
SK_ELEMENTWISE(Mul, mul, 2)
SK_ELEMENTWISE(Div, div, 2)
SK_ELEMENTWISE(Maximum, maximum, 2)
SK_ELEMENTWISE(Minimum, minimum, 2)
