#include "runtime/base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace skdsl {

void assertion_failed(const char* file, int line, const char* condition, const char* why) {
  std::fprintf(stderr,
               "skdsl: internal error at %s:%d: `%s` does not hold (%s)\n"
               "help: this is a bug of skdsl; please report it with the command line and the input files\n",
               file, line, condition, why);
  std::_Exit(70);
}

}  // namespace skdsl
