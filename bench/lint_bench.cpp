// How fast is `skdsl lint`? As a program on a file of 300 lines, cold; lines a second of one core when every
// file is looked at anew in all three modes; and from the cache.
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "cli/lint_run.h"
#include "compiler/lint/cache.h"
#include "compiler/lint/lint.h"

extern char** environ;

namespace {

using namespace skdsl;
namespace fs = std::filesystem;

/// A program of about `lines` lines: layers of different sizes with norms, products, scopes and streams, each
/// used once in one model.
std::string program(size_t lines, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto pick = [&](uint64_t n) { return random() % n; };
  std::string layers, members, body;
  size_t n = 0;
  for (size_t written = 30; written < lines; ++n) {
    const size_t width = 64 * (1 + pick(8));
    std::string l = fmt::format(
        "// Block {0}: a norm, two products and what stands between them.\nlayer Block{0}(dim: int, scale: "
        "float = 1.0) {{\n"
        "  weight gamma: [dim] from \"gamma\"\n  weight up: [{1}, dim] from \"up\"\n  weight down: [dim, "
        "{1}] from \"down\"\n\n"
        "  forward(h: act[T, dim]) -> act[T, dim] {{\n",
        n, width);
    if (pick(2) == 0) {
      l += fmt::format(
          "    superkernel \"block_{0}\" when fused <\n      x = rms_norm(h, gamma)\n      a = linear(x, "
          "up)\n      b = sigmoid(a) * a\n"
          "      y = linear(b, down)\n    >\n",
          n);
    } else {
      l += "    x = rms_norm(h, gamma)\n    a = linear(x, up)\n    b = sigmoid(a) * a\n    prefetch down "
           "after a max 4KiB when fused\n    y = linear(b, down)\n";
    }
    l += "    return h + y * scale\n  }\n}\n\n";
    written += static_cast<size_t>(std::count(l.begin(), l.end(), '\n')) + 2;
    layers += l;
    members += fmt::format("  block_{0} = Block{0}(width, scale = {1}.5) from \"blocks.{0}\"\n", n, pick(3));
    body += fmt::format("    h = block_{}(h)\n", n);
  }
  return layers +
         "config {\n  width: int = 256\n  vocab: int = 1000\n  fused: bool = exe_mode == "
         "\"ge_graph\"\n}\n\nmodel Bench {\n  weight table: [vocab, width] from \"table\"\n" +
         members + "\n  fn trunk(ids: i32[T]) -> act[T, width] {\n    h = embedding(ids, table)\n" + body +
         "    return h\n  }\n\n  prefill(ids: i32[T], step: Step) -> act[B, width] {\n    return "
         "index_select(trunk(ids), 0, step.actual_seq_lengths_cu_q - 1)\n  }\n\n"
         "  decode(ids: i32[T], step: Step) -> act[T, width] {\n    return trunk(ids)\n  }\n}\n";
}

double cpu_seconds() {
  struct rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

struct Cold {
  double wall_ms, cpu_ms;
};

/// One run of the program, from its start to its end.
Cold cold(const std::string& file) {
  const char* args[] = {SKDSL_PROGRAM, "lint", "--no-cache", file.c_str(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", 1, 0);
  const auto begin = std::chrono::steady_clock::now();
  pid_t pid = 0;
  int status = 0;
  struct rusage usage{};
  if (::posix_spawn(&pid, SKDSL_PROGRAM, &actions, nullptr, const_cast<char**>(args), environ) != 0 ||
      ::wait4(pid, &status, 0, &usage) != pid || status != 0) {
    std::fprintf(stderr, "lint_bench: `%s lint` failed on %s\n", SKDSL_PROGRAM, file.c_str());
    std::exit(1);
  }
  posix_spawn_file_actions_destroy(&actions);
  const auto ms = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) / 1e3;
  };
  return {std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count(),
          ms(usage.ru_utime) + ms(usage.ru_stime)};
}

}  // namespace

int main() {
  std::string name = (fs::temp_directory_path() / "skdsl-lint-bench-XXXXXX").string();
  const fs::path folder = ::mkdtemp(name.data());
  constexpr size_t kFiles = 40;
  std::vector<std::string> paths;
  size_t lines = 0;
  for (size_t i = 0; i < kFiles; ++i) {
    const std::string text = program(300, i);
    lines += static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
    paths.push_back((folder / fmt::format("f{}.sk", i)).string());
    std::ofstream(paths.back()) << text;
  }

  std::vector<double> wall, cpu;
  for (int i = 0; i < 21; ++i) {
    const Cold c = cold(paths[0]);
    wall.push_back(c.wall_ms);
    cpu.push_back(c.cpu_ms);
  }
  std::sort(wall.begin(), wall.end());
  std::sort(cpu.begin(), cpu.end());
  std::printf(
      "cold, one file of 300 lines, three modes: median %.1f ms, best %.1f ms; of the processor median %.1f "
      "ms\n",
      wall[10], wall[0], cpu[10]);

  lint::Options options;
  options.resolve = cli::run_resolver({});
  const lint::Cache cache((folder / "cache").string(), "bench");
  size_t found = 0;
  double checking = 0;
  for (const std::string& path : paths) {
    source::Sources sources;
    const double begin = cpu_seconds();
    const uint32_t file = *sources.read(path);
    const lint::Result r = lint::check(file, sources, options);
    checking += cpu_seconds() - begin;
    found += r.findings.size();
    cache.keep(file, sources, r);
  }
  std::printf("uncached: %.0f lines/s on one core (%zu lines, %zu findings)\n",
              static_cast<double>(lines) / checking, lines, found);

  const double begin = cpu_seconds();
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round)
    for (const std::string& path : paths) {
      source::Sources sources;
      if (!cache.find(*sources.read(path), sources)) {
        std::fprintf(stderr, "lint_bench: not in the cache\n");
        return 1;
      }
    }
  std::printf("from the cache: %.0f lines/s on one core\n",
              static_cast<double>(lines) * kRounds / (cpu_seconds() - begin));
  fs::remove_all(folder);
  return 0;
}
