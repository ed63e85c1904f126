// cast — y = x in the dtype of the result; see `written` in kernel.h for the rounding
#include "stdlib/kernels/elementwise.h"

SK_ELEMENTWISE(Cast, cast, 1)
