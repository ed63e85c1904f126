// where — z = x where cond, else y
#include "stdlib/kernels/elementwise.h"

SK_ELEMENTWISE(Where, where, 3)
