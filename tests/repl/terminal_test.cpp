// The session on real terminals, driven through tmux: a whole piece of work on longcat.sk, dumb terminals, no
// colour, 40 columns, a locale without UTF-8, Ctrl-C and Ctrl-D at any time.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "tests/support/cli_run.h"

namespace skdsl::testing {
namespace {

namespace fs = std::filesystem;

struct Output {
  int status = 0;
  std::string text;
};

Output shell(const std::string& command) {
  Output out;
  FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
  char buffer[4096];
  for (size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.text.append(buffer, n);
  out.status = ::pclose(pipe);
  return out;
}

std::string quoted(const std::string& s) {
  std::string out = "'";
  for (const char c : s) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

bool tmux_is_here() { return shell("command -v tmux").status == 0; }

/// A terminal of its own with the program in it.
class Terminal {
 public:
  Terminal(const std::string& environment, const std::string& args, int columns = 100) {
    static int count = 0;
    socket_ = "skdsl-test-" + std::to_string(::getpid()) + "-" + std::to_string(count++);
    const std::string run = "env XDG_STATE_HOME=" + quoted(folder_ / "state") +
                            " XDG_CONFIG_HOME=" + quoted(folder_ / "config") + " " + environment + " " +
                            quoted(SKDSL_PROGRAM) + " repl " + args + "; echo \"exit $?\"; sleep 600";
    const Output made =
        shell("tmux -L " + socket_ + " -f /dev/null new-session -d -x " + std::to_string(columns) +
              " -y 60 " + quoted(run) + " \\; set-option -g history-limit 5000");
    EXPECT_EQ(made.status, 0) << made.text;
  }
  ~Terminal() { shell("tmux -L " + socket_ + " kill-server"); }

  void type(const std::string& text) { shell("tmux -L " + socket_ + " send-keys -l -- " + quoted(text)); }
  void key(const std::string& name) { shell("tmux -L " + socket_ + " send-keys " + name); }
  void line(const std::string& text) {
    type(text);
    key("Enter");
  }
  std::string screen(bool colours = false) const {
    return shell("tmux -L " + socket_ + " capture-pane -p -S -3000" + (colours ? " -e" : "")).text;
  }

  /// Waits until `text` stands on the screen `times` times.
  bool sees(const std::string& text, size_t times = 1) const {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    for (;;) {
      const std::string now = screen();
      size_t n = 0;
      for (size_t at = 0; (at = now.find(text, at)) != std::string::npos; at += text.size()) ++n;
      if (n >= times) return true;
      if (std::chrono::steady_clock::now() > deadline) {
        ADD_FAILURE() << "`" << text << "` does not come; the terminal shows\n" << now;
        return false;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }
  TemporaryFolder& folder() { return folder_; }

 private:
  TemporaryFolder folder_;
  std::string socket_;
};

#define NEED_TMUX() \
  if (!tmux_is_here()) GTEST_SKIP() << "skipped: tmux is not installed"

const std::string kModel = source_path("examples/longcat.sk");

/// The number behind the last `-> ` of a row of an answer.
int last_count(const std::string& screen, const std::string& row) {
  const size_t at = screen.rfind("  " + row + " ");
  const size_t arrow = screen.find("-> ", at);
  return at == std::string::npos || arrow == std::string::npos ? -1 : std::stoi(screen.substr(arrow + 3));
}

TEST(Terminal, AWholePieceOfWork) {
  NEED_TMUX();
  Terminal t("TERM=xterm-256color LC_ALL=C.UTF-8", "");
  ASSERT_TRUE(t.sees("sk>"));
  t.line(":load " + kModel);
  ASSERT_TRUE(t.sees("13 launches a step"));
  // Merge.
  t.line(":merge scope_0_part1 scope_0_part2_main");
  ASSERT_TRUE(t.sees("bits         same as the file in eager", 1));
  const int merged = last_count(t.screen(), "launches");
  EXPECT_GT(merged, 0);
  EXPECT_LT(merged, 13);
  // Split.
  t.line(":split scope_0_part2_moe at nothing");
  ASSERT_TRUE(t.sees("calls `nothing`"));
  t.line(":undo");
  ASSERT_TRUE(t.sees("undone"));
  t.line(":split scope_0_part1 at norm_post[0]");
  ASSERT_TRUE(t.sees("same as the file in eager", 2));
  EXPECT_EQ(last_count(t.screen(), "launches"), 15);
  // Break: in releases before 8.5 additions have kernels that no super kernel can call.
  t.line(":set target.cann=8.3");
  ASSERT_TRUE(t.sees("tells why"));
  ASSERT_TRUE(t.sees("same as the file in eager", 3));
  const int broken = last_count(t.screen(), "launches");
  EXPECT_GT(broken, 15);
  // Read why.
  t.line(":explain scope_0_part1");
  ASSERT_TRUE(t.sees("not fused: `add`"));
  // Fix, and see the counts fall.
  t.line(":set target.cann=8.5");
  ASSERT_TRUE(t.sees("same as the file in eager", 4));
  EXPECT_LT(last_count(t.screen(), "launches"), broken);
  t.line(":merge scope_0_part1 scope_0_part1_2");
  ASSERT_TRUE(t.sees("same as the file in eager", 5));
  EXPECT_EQ(last_count(t.screen(), "launches"), 13);
  t.line(":drop scope_0_part2_moe");
  ASSERT_TRUE(t.sees("same as the file in eager", 6));
  // Save; the file runs and verifies.
  const std::string saved = t.folder() / "tuned.sk";
  t.line(":save " + saved);
  ASSERT_TRUE(t.sees("wrote "));
  t.key("C-d");
  ASSERT_TRUE(t.sees("exit 0"));
  const std::string weights = source_path("examples/longcat-adder");
  const CommandResult run =
      run_command({"run", saved, "--mode", "ge_graph", "--weights", weights, "--prompt", "27+58="});
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_EQ(run.out, "85\n");
  const CommandResult verified =
      run_command({"verify", saved, "--weights", weights, "--prompt", "27+58=", "--threads", "1"});
  EXPECT_EQ(verified.exit, 0) << verified.out << verified.err;
  EXPECT_NE(verified.out.find("verdict: verified"), std::string::npos);
  EXPECT_EQ(run_command({"fmt", "--check", saved}).exit, 0);
}

TEST(Terminal, HistoryCompletionAndSeveralLines) {
  NEED_TMUX();
  Terminal t("TERM=xterm-256color LC_ALL=C.UTF-8", quoted(kModel));
  ASSERT_TRUE(t.sees("sk>"));
  t.line("fn twice(x: f32[N]) -> f32[N] {");
  ASSERT_TRUE(t.sees("..."));
  t.line("return x * 2");
  t.line("}");
  t.line("twice(f32([21]))");
  ASSERT_TRUE(t.sees("f32[1] [42]"));
  t.key("Up");
  t.key("Enter");
  ASSERT_TRUE(t.sees("f32[1] [42]", 2));
  t.type(":sc");
  t.key("Tab");
  t.type("s");
  t.key("Enter");
  ASSERT_TRUE(t.sees("scope_{i}_part2_moe (feed-sync-all = 1)"));
  t.type(":drop scope_0_part1");
  t.key("Tab");
  t.key("Enter");
  ASSERT_TRUE(t.sees("dropped scope_0_part1"));
  t.line(":quit");
  ASSERT_TRUE(t.sees("exit 0"));
  std::ifstream history(t.folder() / "state/skdsl/history");
  std::ostringstream kept;
  kept << history.rdbuf();
  EXPECT_NE(kept.str().find("twice"), std::string::npos) << "the history is kept";
}

TEST(Terminal, ColoursOnlyWhereTheyAreWanted) {
  NEED_TMUX();
  {
    Terminal t("TERM=xterm-256color LC_ALL=C.UTF-8", "");
    ASSERT_TRUE(t.sees("sk>"));
    t.type("let abc = (1)");
    ASSERT_TRUE(t.sees("let abc = (1)"));
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    EXPECT_NE(t.screen(true).find("\x1b[35mlet"), std::string::npos) << t.screen(true);
  }
  for (const char* environment : {"TERM=xterm-256color NO_COLOR=1", "TERM=dumb"}) {
    Terminal t(environment, "");
    ASSERT_TRUE(t.sees("sk>"));
    t.line("let abc = (1)");
    t.line("abc + nothing");
    ASSERT_TRUE(t.sees("unknown"));
    t.line("abc + 41");
    ASSERT_TRUE(t.sees("42"));
    if (std::string(environment) != "TERM=dumb") {
      const std::string seen = t.screen(true);
      EXPECT_EQ(seen.find("\x1b[35m"), std::string::npos) << seen;
    }
    t.key("C-d");
    ASSERT_TRUE(t.sees("exit 0"));
  }
}

TEST(Terminal, FortyColumnsAndOtherLocales) {
  NEED_TMUX();
  for (const char* environment : {"TERM=xterm LC_ALL=C.UTF-8", "TERM=xterm LC_ALL=C", "TERM=dumb LC_ALL=C",
                                  "TERM=vt100 LC_ALL=C.UTF-8"}) {
    SCOPED_TRACE(environment);
    Terminal t(environment, quoted(kModel), 40);
    ASSERT_TRUE(t.sees("sk>"));
    t.line(":merge scope_0_part1 scope_0_part2_main");
    ASSERT_TRUE(t.sees("same as the file in eager"));
    t.line("x = f32([[1, 2, 3], [4, 5, 6]]) * f32([[1, 2, 3], [4, 5, 6]])");
    t.line("x");
    ASSERT_TRUE(t.sees("25, 36"));
    t.line("\"\xc3\xa4\"");
    t.line("1 + 98");
    ASSERT_TRUE(t.sees("99"));
    t.key("C-d");
    ASSERT_TRUE(t.sees("exit 0"));
  }
}

TEST(Terminal, CtrlCLeavesAUsableSession) {
  NEED_TMUX();
  for (const char* environment : {"TERM=xterm", "TERM=dumb"}) {
    SCOPED_TRACE(environment);
    Terminal t(environment, quoted(kModel));
    ASSERT_TRUE(t.sees("sk>"));
    t.type("x = nonsense(");
    t.key("C-c");
    t.line("1 + 20");
    ASSERT_TRUE(t.sees("21"));
    t.line("fn f(");
    ASSERT_TRUE(t.sees("..."));
    t.key("C-c");
    t.line("1 + 30");
    ASSERT_TRUE(t.sees("31"));
    // A call that would not end.
    t.line("i = f32([0])");
    t.line("while reduce_max(i) < 1.0 { i = i * 1 }");
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    t.key("C-c");
    ASSERT_TRUE(t.sees("interrupted"));
    t.line("i + 41");
    ASSERT_TRUE(t.sees("[41]"));
    t.line(":time");
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    t.key("C-c");
    t.line(":scopes");
    ASSERT_TRUE(t.sees("scope_{i}_part2_main"));
    t.key("C-d");
    ASSERT_TRUE(t.sees("exit 0"));
  }
}

// A compile, a run that captures, a decode step, a comparison, code generation: cut off early, in the middle,
// or over already.
TEST(Terminal, CtrlCAtAnyMomentOfACommand) {
  NEED_TMUX();
  for (const char* environment : {"TERM=xterm", "TERM=dumb"}) {
    SCOPED_TRACE(environment);
    Terminal t(environment, quoted(kModel) + " --weights synthetic:1");
    ASSERT_TRUE(t.sees("sk>"));
    int answer = 710000;
    for (const int delay : {0, 4, 15, 50, 200, 700})
      for (const char* command : {":set num_layers=20", ":mode npugraph_ex", ":dump rms_norm",
                                  ":verify --threads 1", ":time", ":llvm scope_0_part1", ":undo"}) {
        SCOPED_TRACE(std::string(command) + " after " + std::to_string(delay) + " ms");
        t.line(command);
        std::this_thread::sleep_for(std::chrono::milliseconds(delay));
        t.key("C-c");
        answer += 17;
        t.line(std::to_string(answer - 5000) + " + 5000");
        ASSERT_TRUE(t.sees(std::to_string(answer)));
      }
    t.line(":mode ge_graph");
    t.line(":scopes");
    ASSERT_TRUE(t.sees("scope_{i}_part2_main"));
    t.key("C-d");
    ASSERT_TRUE(t.sees("exit 0"));
  }
}

TEST(Terminal, TheStartUpFileComesFirst) {
  NEED_TMUX();
  TemporaryFolder folder;
  fs::create_directories(folder / "skdsl");
  std::ofstream(folder / "skdsl/repl.sk") << "answer = 42\n";
  Terminal t("TERM=xterm XDG_CONFIG_HOME=" + quoted(folder / ""), "");
  ASSERT_TRUE(t.sees("sk>"));
  t.line("answer + 1");
  ASSERT_TRUE(t.sees("43"));
}

}  // namespace
}  // namespace skdsl::testing
