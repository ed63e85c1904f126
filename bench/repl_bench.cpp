// How fast does a session answer? The first prompt of `skdsl repl`, without and with a model; and from an
// edit of a scope to the new counts on a LongCat-shaped model of 28 layers. Milliseconds of wall time.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "cli/repl/repl.h"

namespace {

using namespace skdsl;
using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// Milliseconds until the prompt stands on a terminal of its own.
double prompt_ms(const std::vector<std::string>& args) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0 || ::grantpt(terminal) != 0 || ::unlockpt(terminal) != 0) std::exit(1);
  const std::string name = ::ptsname(terminal);
  const auto start = Clock::now();
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setsid();
    const int line = ::open(name.c_str(), O_RDWR);
    for (const int fd : {0, 1, 2}) ::dup2(line, fd);
    ::setenv("TERM", "xterm", 1);
    std::vector<char*> argv;
    for (const std::string& a : args) argv.push_back(const_cast<char*>(a.c_str()));
    argv.push_back(nullptr);
    ::execv(SKDSL_PROGRAM, argv.data());
    ::_exit(127);
  }
  std::string seen;
  while (seen.find("sk> ") == std::string::npos) {
    struct pollfd waiting{terminal, POLLIN, 0};
    char bytes[4096];
    ssize_t n = 0;
    if (::poll(&waiting, 1, 20000) != 1 || (n = ::read(terminal, bytes, sizeof bytes)) <= 0) {
      std::fprintf(stderr, "repl_bench: no prompt came; the terminal shows:\n%s\n", seen.c_str());
      std::exit(1);
    }
    seen.append(bytes, static_cast<size_t>(n));
  }
  const double out = ms_since(start);
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  ::close(terminal);
  return out;
}

void print(const char* what, std::vector<double> xs, const char* unit) {
  std::sort(xs.begin(), xs.end());
  std::printf("%s: median %.1f %s, best %.1f\n", what, xs[xs.size() / 2], unit, xs.front());
}

}  // namespace

int main() {
  const std::string model = std::string(SKDSL_SOURCE_DIR) + "/examples/longcat.sk";
  std::vector<double> bare, with;
  for (int i = 0; i < 15; ++i) {
    bare.push_back(prompt_ms({"skdsl", "repl", "--no-startup"}));
    with.push_back(prompt_ms({"skdsl", "repl", "--no-startup", model}));
  }
  print("first prompt", bare, "ms");
  print("first prompt with examples/longcat.sk", with, "ms");

  std::istringstream in;
  std::ostringstream out, err;
  cli::Context context{in, out, err};
  std::atomic<bool> interrupt{false};
  cli::ModelOptions options;
  options.weights = "synthetic";
  options.set = {"num_layers=28"};
  cli::repl::Repl repl(context, interrupt, options, 1);
  if (!repl.load(model)) {
    std::fprintf(stderr, "repl_bench: %s", err.str().c_str());
    return 1;
  }
  // Every option and merge makes a model that is new; each split but the first comes back to the one before
  // the merge, whose plan is kept. The counts alone, then with the comparison of bits that a session makes
  // behind them.
  const char* const kinds[] = {"split", "option", "merge"};
  std::vector<double> wall[2][3];
  for (int i = 0; i < 60; ++i) {
    repl.check_bits = i >= 30;
    const std::string option = ":option scope_{i}_part2_moe split-mode=" + std::to_string(2 + i);
    const std::string command = i % 3 == 0   ? ":split scope_0_part1 at norm_post[0]"
                                : i % 3 == 1 ? option
                                             : ":merge scope_0_part1 scope_0_part1_2";
    const auto start = Clock::now();
    const bool good = repl.run(command);
    wall[repl.check_bits ? 1 : 0][i % 3].push_back(ms_since(start));
    if (!good) {
      std::fprintf(stderr, "repl_bench: %s", err.str().c_str());
      return 1;
    }
  }
  for (int bits = 0; bits < 2; ++bits)
    for (int k = 0; k < 3; ++k)
      print((std::string(kinds[k]) + " of a scope, 28 layers, to new counts" +
             (bits ? " and compared bits" : ""))
                .c_str(),
            wall[bits][k], "ms");
  return 0;
}
