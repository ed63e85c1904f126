// skdsl — the command line program
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "runtime/base/heap.h"

int main(int argc, char** argv) {
#ifdef SKDSL_ISA_CHECK
  // The kernels would stop at an unknown instruction; say what is missing instead.
  if (!__builtin_cpu_supports(SKDSL_ISA_CHECK)) {
    std::fprintf(stderr,
                 "error: this program was built for %s and the processor is older\n"
                 "  = help: configure with -DSKDSL_ISA=x86-64 and build again; the results are the same\n",
                 SKDSL_ISA_CHECK);
    return skdsl::cli::kEnvironment;
  }
#endif
  skdsl::keep_freed_memory();
  std::ios::sync_with_stdio(false);
  skdsl::cli::Context context{.in = std::cin, .out = std::cout, .err = std::cerr};
  const char* const no_color = std::getenv("NO_COLOR");
  const bool allowed = no_color == nullptr || *no_color == '\0';
  context.out_is_terminal = ::isatty(STDOUT_FILENO) != 0;
  context.err_is_terminal = ::isatty(STDERR_FILENO) != 0;
  context.out_colour = allowed && context.out_is_terminal;
  context.err_colour = allowed && context.err_is_terminal;
  const int code = skdsl::cli::run(std::vector<std::string>(argv + 1, argv + argc), context);
  std::cout.flush();
  if (!std::cout && code == 0) {
    std::cerr << "error: cannot write to standard output\n";
    return 3;
  }
  return code;
}
