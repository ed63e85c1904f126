// commands — the table of commands, and :help
#include <algorithm>

#include "cli/repl/repl.h"

namespace skdsl::cli::repl {

#define SK_REPL_COMMAND(name, group, arguments, summary, example) \
  bool command_##name(Repl& repl, const Arguments& given);
#include "cli/repl/commands.def"
#undef SK_REPL_COMMAND

namespace {

constexpr ReplCommand kCommands[] = {
#define SK_REPL_COMMAND(name, group, arguments, summary, example) \
  {#name, #group, arguments, summary, example, &command_##name},
#include "cli/repl/commands.def"
#undef SK_REPL_COMMAND
};

}  // namespace

std::span<const ReplCommand> repl_commands() { return kCommands; }

const ReplCommand* find_command(std::string_view name) {
  for (const ReplCommand& c : kCommands)
    if (c.name == name) return &c;
  return nullptr;
}

std::string nearest_command(std::string_view name) {
  std::vector<std::string> names;
  for (const ReplCommand& c : kCommands) names.emplace_back(c.name);
  return diag::nearest(name, names);
}

bool command_help(Repl& repl, const Arguments& arguments) {
  std::ostream& out = repl.context().out;
  if (!arguments.words.empty()) {
    std::string_view name = arguments.words[0];
    if (name.starts_with(":")) name.remove_prefix(1);
    const ReplCommand* c = find_command(name);
    if (!c) {
      Error e{ErrorKind::Usage, fmt::format("there is no command `:{}`", name), {}};
      if (const std::string near = nearest_command(name); !near.empty())
        e.notes.push_back("help: did you mean `:" + near + "`?");
      return repl.failed(e);
    }
    out << fmt::format(":{}{}{}\n  {}\nExample:\n  {}\n", c->name, c->arguments.empty() ? "" : " ",
                       c->arguments, c->summary, c->example);
    return true;
  }
  std::string_view group;
  for (const ReplCommand& c : repl_commands()) {
    if (c.group != group) {
      static constexpr std::pair<std::string_view, std::string_view> kTitles[] = {
          {"Scopes", "Change the schedule of the model:"},
          {"Inspect", "Look:"},
          {"Run", "Run:"},
          {"Session", "The session:"}};
      group = c.group;
      for (const auto& [key, title] : kTitles)
        if (key == group) out << title << '\n';
    }
    out << fmt::format("  :{}{}{}\n      {}\n", c.name, c.arguments.empty() ? "" : " ", c.arguments,
                       c.summary);
  }
  out << "Anything else is a statement or a definition and runs at once, in eager: x = f32([1, 2]) + 1\n";
  return true;
}

bool command_quit(Repl& repl, const Arguments&) {
  repl.quit();
  return true;
}

}  // namespace skdsl::cli::repl
