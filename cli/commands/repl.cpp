// repl — an interactive session; piped input is a script
#include "cli/repl/repl.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>

#include "cli/cli.h"
#include "cli/repl/completion.h"
#include "cli/repl/editor.h"
#include "cli/repl/input.h"
#include "runtime/base/file.h"

namespace skdsl::cli {

namespace {

struct Options : ModelOptions {
  int64_t batch = 1;
  bool no_startup = false;
  bool no_bits = false;
};

std::atomic<bool> interrupt{false};

/// Ctrl-C sets the flag and ends a waiting read; what runs looks at the flag. The handler before comes back.
class InterruptHandler {
 public:
  InterruptHandler() {
    struct sigaction mine{};
    mine.sa_handler = [](int) { interrupt.store(true); };
    ::sigemptyset(&mine.sa_mask);
    ::sigaction(SIGINT, &mine, &before_);
  }
  ~InterruptHandler() { ::sigaction(SIGINT, &before_, nullptr); }

 private:
  struct sigaction before_{};
};

/// Inputs of a script one after the other; false at the first that fails.
bool run_script(repl::Repl& session, std::istream& in) {
  std::string input, line;
  uint32_t number = 0, first = 1;
  const auto flush = [&] {
    const bool good = session.run(input, first);
    input.clear();
    return good;
  };
  while (!session.done() && std::getline(in, line)) {
    ++number;
    if (input.empty()) first = number;
    input += line + "\n";
    if (repl::needs_more(input)) continue;
    if (!flush()) return false;
  }
  return session.done() || input.empty() || flush();
}

/// How long the first prompt waits for the model, in milliseconds.
constexpr int kPatience = 20;

int interactive(repl::Repl& session, const Options& options, Context& context) {
  if (!options.file.empty() && !session.start_loading(options.file, kPatience)) return kInputHasErrors;
  repl::EditorOptions eo;
  eo.colour = context.out_colour;
  eo.history_file = repl::history_path();
  eo.interrupt = &interrupt;
  eo.complete = [&](const std::string& before) { return repl::completions(session, before); };
  repl::Editor editor(std::move(eo));
  if (!options.no_startup) {
    const std::string path = repl::startup_path();
    std::error_code ignored;
    if (!path.empty() && std::filesystem::exists(path, ignored)) {
      session.finish_loading();
      if (auto text = read_file(path)) {
        std::istringstream in(*text);
        if (!run_script(session, in)) context.err << "warning: " << path << " ended at its first error\n";
      } else {
        report(text.error(), context);
      }
    }
  }
  for (std::string input; !session.done();) {
    context.out.flush();
    const repl::Editor::Got got = editor.read(input);
    session.finish_loading();
    if (got == repl::Editor::Got::End) break;
    if (got == repl::Editor::Got::Input) session.run(input);
  }
  context.out.flush();
  return kDone;
}

int run_repl(const Options& options, Context& context) {
  const InterruptHandler handler;
  interrupt.store(false);
  repl::Repl session(context, interrupt, options, options.batch);
  session.check_bits = !options.no_bits;
  if (&context.in == &std::cin && ::isatty(STDIN_FILENO) != 0 && context.out_is_terminal)
    return interactive(session, options, context);
  if (!options.file.empty() && !session.load(options.file)) return kInputHasErrors;
  const bool good = run_script(session, context.in);
  return good ? kDone : interrupt.load() ? 130 : static_cast<int>(kInputHasErrors);
}

}  // namespace

Run define_repl(CLI::App& app) {
  auto options = std::make_shared<Options>();
  add_model_options(app, *options);
  app.get_option("file")->required(false)->description(
      "the .sk file whose schedule is changed; without one, lines alone");
  app.add_option("--batch", options->batch, "requests of the decode step")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_flag("--no-startup", options->no_startup, "do not read repl.sk of the configuration folder");
  app.add_flag("--no-bits", options->no_bits, "do not run the model after each change to compare its bits");
  return [options](Context& context) { return run_repl(*options, context); };
}

}  // namespace skdsl::cli
