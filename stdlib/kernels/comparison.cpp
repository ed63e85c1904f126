// comparison — bool results; anything compared with NaN is false but `ne`
#include "stdlib/kernels/elementwise.h"

SK_ELEMENTWISE(Eq, eq, 2)
SK_ELEMENTWISE(Ne, ne, 2)
SK_ELEMENTWISE(Lt, lt, 2)
SK_ELEMENTWISE(Le, le, 2)
SK_ELEMENTWISE(Gt, gt, 2)
SK_ELEMENTWISE(Ge, ge, 2)
