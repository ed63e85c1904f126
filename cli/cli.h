// cli — the commands of skdsl and what they share
//
// commands.def is the one table of commands. A new command is a row there, a file commands/<name>.cpp that
// defines `Run define_<name>(CLI::App&)`, and its line in CMakeLists.txt. `define` declares the options on
// the app and gives what runs once they are read.
#pragma once
#include <functional>
#include <istream>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/diag/diag.h"
#include "runtime/base/error.h"

namespace CLI {
class App;
}

namespace skdsl::cli {

enum Exit : int { kDone = 0, kInputHasErrors = 1, kUsage = 2, kEnvironment = 3, kInternal = 70 };

/// Where a command reads and writes.
struct Context {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  bool out_colour = false;
  bool err_colour = false;
};

/// Runs a command and gives the exit code.
using Run = std::function<int(Context&)>;

struct Command {
  std::string_view name;
  std::string_view summary;
  std::string_view example;  // one worked example for --help
  Run (*define)(CLI::App& app);
};
std::span<const Command> commands();

/// Runs skdsl with the arguments after the program's name; gives the exit code, and never throws.
int run(const std::vector<std::string>& args, Context& context);

/// "skdsl 0.1.0 …" as --version prints it.
std::string version_text();

/// Prints `error: …` with its notes to context.err; gives the exit code that belongs to it.
int report(const Error& error, Context& context);

/// Prints the diagnostics from number `first` on to context.err in the order of their places, and how many
/// were left out. Gives kDone, or kInputHasErrors when there is an error among all of them.
int report(const diag::Engine& diags, Context& context, size_t first = 0);

/// The diagnostics as a JSON list, for --json documents.
std::string diagnostics_json(const diag::Engine& diags);

}  // namespace skdsl::cli
