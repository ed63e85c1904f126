// How long does it take to parse and check a file? A 300-line one as the first thing a process does, and a
// generated one of 100,000 lines. Printed beside the limits that the project sets itself; nothing is
// asserted.
#include <chrono>
#include <cstdio>
#include <string>

#include "compiler/sema/elaborate.h"

namespace {

using namespace skdsl;

/// Functions over f32[T, 8] that call each other, 50 lines each, until `lines` lines are full.
std::string program(size_t lines) {
  std::string out = "fn base(x: f32[T, 8]) -> f32[T, 8] {\n  return x + 1.0\n}\n";
  for (size_t n = 3, k = 0; n + 50 <= lines; n += 50, ++k) {
    out += "\nfn part_" + std::to_string(k) + "(x: f32[T, 8], y: f32[T, 8]) -> f32[T, 8] {\n";
    for (int i = 0; i < 46; ++i) out += "  x = add(x * 2.0, y) - where(x > y, x, y)\n";
    out += "  return base(x)\n}\n";
  }
  return out;
}

double check(const std::string& text) {
  const auto begin = std::chrono::steady_clock::now();
  source::Sources sources;
  diag::Engine diags(sources);
  sema::Modules modules(diags);
  modules.load_text("generated.sk", text);
  if (!diags.has_errors()) sema::elaborate(modules, {}, diags);
  if (diags.has_errors()) {
    std::fputs(diag::to_human(diags.all()[0], sources, false).c_str(), stderr);
    std::exit(1);
  }
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main() {
  for (const auto& [lines, limit] : {std::pair<size_t, double>{300, 20.0}, {100'000, 4000.0}}) {
    const double ms = check(program(lines));
    std::printf("parse + check, %6zu lines, first in this process: %8.2f ms (limit %.0f ms)\n", lines, ms,
                limit);
  }
  return 0;
}
