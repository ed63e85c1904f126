#include "jit/load/perf_map.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace skdsl::jit {

void write_perf_map(std::span<const Function> functions) {
  if (!std::getenv("SKDSL_PERF_MAP")) return;
  const std::string name = "/tmp/perf-" + std::to_string(::getpid()) + ".map";
  if (std::FILE* out = std::fopen(name.c_str(), "a")) {
    for (const Function& f : functions)
      std::fprintf(out, "%lx %lx %s\n", static_cast<unsigned long>(f.address),
                   static_cast<unsigned long>(f.size), f.name.c_str());
    std::fclose(out);
  }
}

}  // namespace skdsl::jit
