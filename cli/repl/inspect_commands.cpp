// inspect_commands — commands that show what the compiler made of the model, and what runs of it give
#include <algorithm>

#include "cli/repl/repl.h"
#include "cli/repl/show.h"

namespace skdsl::cli::repl {

namespace {

bool looks_like_diagnostic(const std::string& word) {
  return word.size() > 2 && word.starts_with("SK") && std::isdigit(static_cast<unsigned char>(word[2])) != 0;
}

bool no_plan(Repl& repl) {
  return repl.failed(Error{ErrorKind::Input,
                           "there is no plan: " + repl.scope_summary(repl.unit()),
                           {"help: :mode ge_graph makes one"}});
}

/// The scopes of the plan that a word means; empty after a report.
std::vector<std::string> chosen(Repl& repl, const std::string& word) {
  std::vector<std::string> out, names;
  for (const auto& r : repl.unit().reports)
    for (const auto& s : r.scopes) {
      names.push_back(s.name);
      if (s.name == word || names_scope(word, s.name)) out.push_back(s.name);
    }
  if (!out.empty()) return out;
  Error e{ErrorKind::Usage, fmt::format("the plan has no scope `{}`", word), {}};
  if (const std::string near = diag::nearest(word, names); !near.empty())
    e.notes.push_back("help: did you mean `" + near + "`?");
  repl.failed(e);
  return {};
}

bool scope_text(Repl& repl, const std::string& word, bool steps) {
  const Unit& u = repl.unit();
  if (u.schedules.empty()) return no_plan(repl);
  std::vector<std::string> scopes{""};
  if (!word.empty()) {
    scopes = chosen(repl, word);
    if (scopes.empty()) return false;
  }
  for (size_t i = 0; i < u.schedules.size(); ++i)
    for (const std::string& s : scopes)
      repl.context().out << superkernel::text(u.reports[i], u.schedules[i], *u.program, s, steps);
  return true;
}

std::vector<std::string> dump(Repl& repl, const std::string& stage) {
  std::vector<std::string> args{"dump", repl.file(), "--stage=" + stage, "--batch",
                                std::to_string(repl.now().batch)};
  for (std::string& f : repl.flags()) args.push_back(std::move(f));
  if (!repl.now().options.mode.empty()) args.insert(args.end(), {"--mode", repl.now().options.mode});
  return args;
}

}  // namespace

bool command_explain(Repl& repl, const Arguments& a) {
  if (a.words.size() == 1 && looks_like_diagnostic(a.words[0])) {
    repl.context().out.flush();
    return cli::run({"explain", a.words[0]}, repl.context()) == kDone;
  }
  if (!repl.need_model()) return false;
  const Unit& u = repl.unit();
  if (u.schedules.empty()) return no_plan(repl);
  if (a.words.empty()) repl.context().out << superkernel::summary(u.reports.front()) << '\n';
  return scope_text(repl, a.words.empty() ? "" : a.words[0], false);
}

bool command_plan(Repl& repl, const Arguments& a) {
  if (!repl.need_model()) return false;
  if (!a.words.empty()) return scope_text(repl, a.words[0], true);
  const Unit& u = repl.unit();
  if (u.schedules.empty()) return no_plan(repl);
  for (const plan::Schedule& s : u.schedules) repl.context().out << plan::print(s, *u.program);
  return true;
}

bool command_ir(Repl& repl, const Arguments&) {
  return repl.need_model() && repl.run_command(dump(repl, "ir"));
}

bool command_llvm(Repl& repl, const Arguments& a) {
  if (!repl.need_model()) return false;
  const Unit& u = repl.unit();
  if (u.schedules.empty()) return no_plan(repl);
  if (a.words.empty()) return repl.run_command(dump(repl, "llvm"));
  // Layers share code, so the first scope that a name stands for shows it.
  const auto scopes = chosen(repl, a.words[0]);
  if (scopes.empty()) return false;
  auto args = dump(repl, "llvm");
  args.insert(args.end(), {"--scope", scopes.front()});
  return repl.run_command(std::move(args));
}

bool command_dump(Repl& repl, const Arguments& a) {
  if (!repl.need_model()) return false;
  if (a.words.size() != 1)
    return repl.failed(
        Error{ErrorKind::Usage,
              "write :dump OP",
              {"help: for example :dump layers.0.norm_post.0, or an operator such as rms_norm"}});
  const std::string& op = a.words[0];
  const std::string below = op + ".";
  struct Seen {
    std::string name;
    Tensor value;
  };
  // The last kernel of an instance gives its result; of an operator, the first of each instance is shown.
  std::vector<Seen> by_path, by_name;
  bool decoding = false;
  LiveOptions options;
  options.whole = true;
  options.interrupt = &repl.interrupt();
  options.observe = [&](const exec::Observed& o) {
    if (!decoding || o.out.empty() || o.out[0].data == nullptr) return;
    const std::string name =
        o.path.empty() ? std::string(info(o.code).name) : o.path + "." + std::string(info(o.code).name);
    const Tensor value{o.out[0], nullptr};
    if (o.path == op || o.path.starts_with(below) || name == op) {
      by_path = {{name, copy_of(value)}};
    } else if (info(o.code).name == op && by_name.size() < 8) {
      by_name.push_back({name, copy_of(value)});
    }
  };
  auto live = Live::load(repl.now(), options);
  if (!live) return repl.failed(live.error());
  // One token comes from the prefill, the second from the decode step.
  decoding = true;
  auto run = (*live)->run(2);
  if (!run) return repl.failed(run.error());
  const std::vector<Seen>& seen = by_path.empty() ? by_name : by_path;
  if (seen.empty()) {
    Error e{ErrorKind::Input, fmt::format("no kernel of `{}` ran", op), {}};
    if (const std::string near = diag::nearest(op, repl.op_names()); !near.empty())
      e.notes.push_back("help: did you mean `" + near + "`?");
    return repl.failed(e);
  }
  for (const Seen& s : seen) repl.context().out << s.name << ": " << show(s.value) << '\n';
  return true;
}

}  // namespace skdsl::cli::repl
