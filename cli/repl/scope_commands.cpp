// scope_commands — commands that change the schedule of the model, and those that walk its changes
#include <algorithm>
#include <charconv>

#include "cli/repl/document.h"
#include "cli/repl/edits.h"
#include "cli/repl/repl.h"
#include "compiler/config/config.h"
#include "compiler/lint/fix.h"
#include "compiler/superkernel/options.h"

namespace skdsl::cli::repl {

namespace {

bool usage(Repl& repl, std::string_view name) {
  const ReplCommand* c = find_command(name);
  return repl.failed(Error{ErrorKind::Usage,
                           fmt::format("write :{} {}", c->name, c->arguments),
                           {fmt::format("help: for example {}", c->example)}});
}

/// The edited text becomes the model. `scopes` were named for it; one that an imported file has is no
/// business of it.
bool edit(Repl& repl, const std::vector<std::string>& scopes, const Expected<std::string>& text,
          const std::string& what) {
  if (!text) {
    const auto all = repl.scopes();
    for (const std::string& name : scopes)
      if (const SourceScope* const s = source_of(all, name); s && !s->file.empty())
        return repl.failed(Error{
            ErrorKind::Input,
            fmt::format("scope `{}` stands in {}:{}, which {} imports; edits change the loaded file only",
                        name, s->file, s->line, repl.file()),
            {"help: change it there, then :reload; or copy the layer into the loaded file"}});
    return repl.failed(text.error());
  }
  Snapshot next = repl.now();
  next.text = *text;
  return repl.change(std::move(next), what, true);
}

std::string unquoted(std::string s) {
  if (s.size() > 1 && s.front() == '"' && s.back() == '"') s = s.substr(1, s.size() - 2);
  return s;
}

/// The scopes of the plan that a name stands for.
std::vector<std::string> plan_scopes(const Unit& unit, const std::string& name) {
  std::vector<std::string> out;
  for (const auto& r : unit.reports)
    for (const auto& s : r.scopes)
      if (names_scope(name, s.name) > 0) out.push_back(s.name);
  return out;
}

/// The instance paths of an operator in the scopes of that name.
std::vector<std::string> paths_of(Repl& repl, const std::string& scope, const std::string& op) {
  std::vector<std::string> out;
  for (const std::string& s : plan_scopes(repl.unit(), scope))
    for (std::string& p : repl.unit().paths(s, op)) out.push_back(std::move(p));
  return out;
}

}  // namespace

bool command_scopes(Repl& repl, const Arguments&) {
  if (!repl.need_model()) return false;
  std::ostream& out = repl.context().out;
  const Unit& u = repl.unit();
  const auto written = repl.scopes();
  if (written.empty()) {
    out << "neither the file nor what it imports has a `superkernel` block\n";
    return true;
  }
  for (const SourceScope& s : written) {
    size_t scopes = 0, pieces = 0, ops = 0, fused = 0;
    for (const auto& r : u.reports)
      for (const auto& p : r.scopes) {
        const SourceScope* const made_by = source_of(written, p.name);
        if (!made_by || made_by->name != s.name || made_by->file != s.file) continue;
        ++scopes;
        pieces += p.pieces.size();
        ops += p.ops;
        fused += p.fused;
      }
    out << fmt::format("{}{}{}\n", s.name, s.options.empty() ? "" : " ", s.options);
    out << "  " << where(s) << '\n';
    if (scopes == 0)
      out << fmt::format("  not in effect{}{}\n", s.guard.empty() ? "" : ": when ", s.guard);
    else
      out << fmt::format("  {} scope{}, {} piece{}, {} of {} ops fused\n", scopes, scopes == 1 ? "" : "s",
                         pieces, pieces == 1 ? "" : "s", fused, ops);
  }
  if (u.schedules.empty())
    out << repl.scope_summary(u) << '\n';
  else
    out << superkernel::summary(u.reports.front()) << '\n';
  return true;
}

bool command_scope(Repl& repl, const Arguments& a) {
  if (!repl.need_model()) return false;
  if (a.words.size() != 1) return usage(repl, "scope");
  const std::string name = unquoted(a.words[0]);
  std::ostream& out = repl.context().out;
  const Unit& u = repl.unit();
  bool found = false;
  const auto written = repl.scopes();
  for (const SourceScope& s : written) {
    const SourceScope* const meant = source_of(written, name);
    if (!meant || meant->name != s.name || meant->file != s.file) continue;
    found = true;
    out << fmt::format("superkernel \"{}\"{}{}{}{}\n  {}\n", s.name, s.options.empty() ? "" : " ", s.options,
                       s.guard.empty() ? "" : " when ", s.guard, where(s));
    for (const std::string& statement : s.statements) out << "    " << statement << '\n';
  }
  for (size_t i = 0; i < u.reports.size(); ++i)
    for (const auto& s : u.reports[i].scopes) {
      if (s.name != name && !names_scope(name, s.name)) continue;
      found = true;
      out << fmt::format("{}: {} piece{}, {} of {} ops fused\n", s.name, s.pieces.size(),
                         s.pieces.size() == 1 ? "" : "s", s.fused, s.ops);
      for (const uint32_t p : s.pieces) {
        const plan::SuperKernel& k = u.schedules[i].superkernels[p];
        out << fmt::format("  {} kernels, {}, {} blocks, {}\n", k.kernels.size(), plan::name(k.type),
                           k.block_dim, k.two_stream ? "two queues" : "one queue");
      }
      if (name.find('{') != std::string::npos) break;  // the first layer stands for all
    }
  if (found) return true;
  std::vector<std::string> names = repl.scope_names();
  Error e{ErrorKind::Usage, fmt::format("there is no scope `{}`", name), {}};
  if (const std::string near = diag::nearest(name, names); !near.empty())
    e.notes.push_back("help: did you mean `" + near + "`?");
  return repl.failed(e);
}

bool command_merge(Repl& repl, const Arguments& a) {
  if (!repl.need_model()) return false;
  if (a.words.size() != 2) return usage(repl, "merge");
  return edit(repl, {unquoted(a.words[0]), unquoted(a.words[1])},
              merge(repl.now().text, unquoted(a.words[0]), unquoted(a.words[1])),
              fmt::format("merged {} and {}", a.words[0], a.words[1]));
}

bool command_split(Repl& repl, const Arguments& a) {
  if (!repl.need_model()) return false;
  if (a.words.size() != 3 || a.words[1] != "at") return usage(repl, "split");
  const std::string scope = unquoted(a.words[0]);
  return edit(repl, {scope}, split(repl.now().text, scope, a.words[2], paths_of(repl, scope, a.words[2])),
              fmt::format("split {} at {}", scope, a.words[2]));
}

bool command_move(Repl& repl, const Arguments& a) {
  if (!repl.need_model()) return false;
  if (a.words.size() != 3 || a.words[1] != "to") return usage(repl, "move");
  const std::string scope = unquoted(a.words[2]);
  return edit(repl, {scope}, move(repl.now().text, a.words[0], scope, {}),
              fmt::format("moved {} to {}", a.words[0], scope));
}

bool command_drop(Repl& repl, const Arguments& a) {
  if (!repl.need_model()) return false;
  if (a.words.size() != 1) return usage(repl, "drop");
  const std::string scope = unquoted(a.words[0]);
  return edit(repl, {scope}, drop(repl.now().text, scope), "dropped " + scope);
}

bool command_option(Repl& repl, const Arguments& a) {
  if (!repl.need_model()) return false;
  if (a.words.size() != 2) return usage(repl, "option");
  const size_t eq = a.words[1].find('=');
  const std::string scope = unquoted(a.words[0]), key = a.words[1].substr(0, eq),
                    value = eq == std::string::npos ? "" : a.words[1].substr(eq + 1);
  if (!value.empty()) {
    superkernel::Options checked;
    if (auto good = superkernel::add_option(checked, key, unquoted(value)); !good) {
      Error e{ErrorKind::Input, good.error().message, {}};
      if (!good.error().help.empty()) e.notes.push_back("help: " + good.error().help);
      return repl.failed(e);
    }
  }
  return edit(repl, {scope}, set_option(repl.now().text, scope, key, value),
              value.empty() ? fmt::format("{}: {} is left to its default", scope, key)
                            : fmt::format("{}: {} = {}", scope, key, value));
}

bool command_stream(Repl& repl, const Arguments& a) {
  if (!repl.need_model()) return false;
  if (a.words.size() != 2) return usage(repl, "stream");
  const std::string scope = unquoted(a.words[0]), stream = unquoted(a.words[1]);
  if (stream == "none")
    return edit(repl, {scope}, set_stream(repl.now().text, scope, ""), scope + ": on the main stream");
  return edit(repl, {scope}, set_stream(repl.now().text, scope, stream),
              fmt::format("{}: on stream {}", scope, stream));
}

bool command_cores(Repl& repl, const Arguments& a) {
  if (!repl.need_model()) return false;
  if (a.words.size() < 2) return usage(repl, "cores");
  const std::string scope = unquoted(a.words[0]);
  std::vector<std::pair<std::string, std::string>> cores;
  if (!(a.words.size() == 2 && a.words[1] == "none"))
    for (size_t i = 1; i < a.words.size(); ++i) {
      const size_t eq = a.words[i].find('=');
      if (eq == std::string::npos || eq + 1 == a.words[i].size()) return usage(repl, "cores");
      const std::string key = a.words[i].substr(0, eq);
      if (key != "aic" && key != "aiv")
        return repl.failed(Error{ErrorKind::Usage,
                                 fmt::format("`{}` is no kind of core", key),
                                 {"help: aic are the cube cores, aiv the vector cores"}});
      cores.emplace_back(key, a.words[i].substr(eq + 1));
    }
  return edit(
      repl, {scope}, set_cores(repl.now().text, scope, cores),
      scope + (cores.empty() ? ": without a core limit" : ": cores " + a.text.substr(a.text.find(' ') + 1)));
}

bool command_prefetch(Repl& repl, const Arguments& a) {
  if (!repl.need_model()) return false;
  const auto& w = a.words;
  if (w.size() == 3 && w[2] == "none")
    return edit(repl, {unquoted(w[0])}, set_prefetch(repl.now().text, unquoted(w[0]), w[1], "", ""),
                fmt::format("no prefetch of {}", w[1]));
  if ((w.size() != 4 && w.size() != 6) || w[2] != "after" || (w.size() == 6 && w[4] != "max"))
    return usage(repl, "prefetch");
  return edit(repl, {unquoted(w[0])},
              set_prefetch(repl.now().text, unquoted(w[0]), w[1], w[3], w.size() == 6 ? w[5] : ""),
              fmt::format("prefetch {} after {}", w[1], w[3]));
}

bool command_mode(Repl& repl, const Arguments& a) {
  if (!repl.need_model()) return false;
  if (a.words.empty()) {
    repl.context().out << repl.unit().mode << '\n';
    return true;
  }
  if (a.words.size() != 1) return usage(repl, "mode");
  Snapshot next = repl.now();
  next.options.mode = a.words[0];
  return repl.change(std::move(next), "mode " + a.words[0], false);
}

bool command_set(Repl& repl, const Arguments& a) {
  if (!repl.need_model()) return false;
  Snapshot next = repl.now();
  if (a.words.empty()) {
    for (const std::string& s : next.options.set) repl.context().out << "  " << s << '\n';
    if (next.options.set.empty()) repl.context().out << "nothing is set; :set KEY=VALUE does\n";
    return true;
  }
  const size_t eq = a.text.find('=');
  std::string key = a.text.substr(0, eq);
  while (!key.empty() && key.back() == ' ') key.pop_back();
  const bool remove = eq == std::string::npos || eq + 1 == a.text.size();
  if (!remove)
    if (auto parsed = config::parse_set(a.text); !parsed) return repl.failed(parsed.error());
  const size_t gone =
      std::erase_if(next.options.set, [&](const std::string& s) { return s.substr(0, s.find('=')) == key; });
  if (remove && gone == 0)
    return repl.failed(
        Error{ErrorKind::Usage, fmt::format("`{}` is not set", key), {"help: write :set KEY=VALUE"}});
  if (!remove) next.options.set.push_back(a.text);
  return repl.change(std::move(next), remove ? key + " is left to its default" : "set " + a.text, false);
}

bool command_batch(Repl& repl, const Arguments& a) {
  if (!repl.need_model()) return false;
  if (a.words.empty()) {
    repl.context().out << repl.now().batch << '\n';
    return true;
  }
  int64_t n = 0;
  const auto [end, bad] = std::from_chars(a.text.data(), a.text.data() + a.text.size(), n);
  if (bad != std::errc() || end != a.text.data() + a.text.size() || n < 1 || n > 1 << 20)
    return repl.failed(Error{
        ErrorKind::Usage, fmt::format("`{}` is no number of requests", a.text), {"help: write :batch 4"}});
  Snapshot next = repl.now();
  next.batch = n;
  return repl.change(std::move(next), fmt::format("batch {}", n), false);
}

bool command_undo(Repl& repl, const Arguments&) { return repl.undo(); }
bool command_redo(Repl& repl, const Arguments&) { return repl.redo(); }

bool command_diff(Repl& repl, const Arguments&) {
  if (!repl.need_model()) return false;
  std::string file(repl.original());
  const std::string diff = lint::unified_diff(repl.file(), file, repl.now().text);
  repl.context().out << (diff.empty() ? "no change of the file\n" : diff);
  return true;
}

}  // namespace skdsl::cli::repl
