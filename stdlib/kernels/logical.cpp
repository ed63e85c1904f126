// logical — and, or, not of bools
#include "stdlib/kernels/elementwise.h"

SK_ELEMENTWISE(LogicalAnd, logical_and, 2)
SK_ELEMENTWISE(LogicalOr, logical_or, 2)
SK_ELEMENTWISE(LogicalNot, logical_not, 1)
