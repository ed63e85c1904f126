// cli — the command table, common options, exit codes
#include "cli/cli.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace skdsl::cli {

#define SK_COMMAND(name, summary, example) Run define_##name(CLI::App& app);
#include "cli/commands.def"
#undef SK_COMMAND

namespace {

constexpr Command kCommands[] = {
#define SK_COMMAND(name, summary, example) {#name, summary, example, &define_##name},
#include "cli/commands.def"
#undef SK_COMMAND
};

/// The first argument that is no option.
std::string first_word(const std::vector<std::string>& args) {
  for (const std::string& arg : args) {
    if (!arg.starts_with("-")) return arg;
  }
  return {};
}

std::string nearest_command(std::string_view word) {
  std::vector<std::string> names;
  for (const Command& c : kCommands) names.emplace_back(c.name);
  return diag::nearest(word, names);
}

std::string lower_first(std::string text) {
  if (text.size() > 1 && text[0] >= 'A' && text[0] <= 'Z' && !(text[1] >= 'A' && text[1] <= 'Z'))
    text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return text;
}

}  // namespace

std::span<const Command> commands() { return kCommands; }

std::string version_text() {
  return fmt::format("skdsl {} (commit {})\nkernels: {}\n", SKDSL_VERSION, SKDSL_COMMIT, SKDSL_ISA);
}

int run(const std::vector<std::string>& args, Context& context) {
  try {
    CLI::App app{"skdsl: models as .sk files, run and scheduled as on an NPU"};
    app.name("skdsl");
    app.require_subcommand(0, 1);
    bool version = false;
    app.add_flag("--version", version, "print version and build");
    Run chosen;
    const std::string asked = first_word(args);
    for (const Command& command : kCommands) {
      CLI::App* const sub = app.add_subcommand(std::string(command.name), std::string(command.summary));
      sub->footer(fmt::format("Example:\n  {}", command.example));
      // Declaring every option of every command would take longer than some commands do.
      if (command.name != asked) continue;
      Run run = command.define(*sub);
      sub->callback([&chosen, run] { chosen = run; });
    }
    app.footer(
        "Example:\n  skdsl fmt --check examples/longcat.sk\n\n`skdsl COMMAND --help` tells more about a "
        "command.");
    std::vector<std::string> reversed(args.rbegin(), args.rend());
    try {
      app.parse(reversed);
    } catch (const CLI::ParseError& e) {
      if (e.get_exit_code() == 0) {
        app.exit(e, context.out, context.err);
        return kDone;
      }
      const bool unknown = app.get_subcommands().empty() && !asked.empty();
      context.err << "error: "
                  << (unknown ? fmt::format("unknown command `{}`", asked) : lower_first(e.what())) << '\n';
      if (app.get_subcommands().empty()) {
        if (const std::string meant = nearest_command(asked); !meant.empty()) {
          context.err << fmt::format("  = help: did you mean `skdsl {}`?\n", meant);
        }
        context.err << "  = help: `skdsl --help` lists the commands\n";
      } else {
        context.err << fmt::format("  = help: `skdsl {} --help` lists its options\n",
                                   app.get_subcommands().front()->get_name());
      }
      return kUsage;
    }
    if (version) {
      context.out << version_text();
      return kDone;
    }
    if (!chosen) {
      context.err << app.help();
      return kUsage;
    }
    return chosen(context);
  } catch (const std::bad_alloc&) {
    context.err << "error: out of memory\n";
    return kEnvironment;
  } catch (const std::exception& e) {
    context.err << fmt::format(
        "skdsl: internal error: {}\nhelp: this is a bug of skdsl; please report it with the command line and "
        "the input files\n",
        e.what());
    return kInternal;
  }
}

int report(const Error& error, Context& context) {
  const std::string_view red = context.err_colour ? "\x1b[1;31m" : "";
  const std::string_view reset = context.err_colour ? "\x1b[0m" : "";
  context.err << fmt::format("{}error{}: {}\n", red, reset, error.message);
  for (const std::string& note : error.notes) {
    context.err << fmt::format("  = {}{}\n", note.starts_with("help: ") ? "" : "note: ", note);
  }
  return static_cast<int>(error.kind);
}

int report(const diag::Engine& diags, Context& context, size_t first_number) {
  std::vector<const diag::Diagnostic*> order;
  for (size_t i = first_number; i < diags.all().size(); ++i) order.push_back(&diags.all()[i]);
  // Equal places keep the order of the reports: elements of one vector, so addresses tell it.
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return std::tuple(a->span.file, a->span.begin, a) < std::tuple(b->span.file, b->span.begin, b);
  });
  bool first = true;
  for (const diag::Diagnostic* d : order) {
    if (!first) context.err << '\n';
    first = false;
    context.err << diag::to_human(*d, diags.sources(), context.err_colour);
  }
  if (diags.omitted() > 0)
    context.err << fmt::format("\n{} more reports of the same kinds are left out\n", diags.omitted());
  return diags.has_errors() ? kInputHasErrors : kDone;
}

std::string diagnostics_json(const diag::Engine& diags) {
  std::string out = "[";
  for (const diag::Diagnostic& d : diags.all()) {
    if (out.size() > 1) out += ',';
    out += diag::to_json(d, diags.sources());
  }
  return out + "]";
}

}  // namespace skdsl::cli
