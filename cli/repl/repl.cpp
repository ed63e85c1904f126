#include "cli/repl/repl.h"

#include <algorithm>

#include "cli/repl/calls.h"
#include "compiler/source/overlay.h"
#include "compiler/superkernel/options.h"

namespace skdsl::cli::repl {

namespace {

constexpr size_t kKeptUnits = 6;

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out;
  std::string word;
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (!quoted && (c == ' ' || c == '\t' || c == '\n')) {
      if (!word.empty()) out.push_back(std::move(word));
      word.clear();
    } else {
      word += c;
    }
  }
  if (!word.empty()) out.push_back(std::move(word));
  return out;
}

std::string trimmed(std::string_view s) {
  const size_t first = s.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return "";
  return std::string(s.substr(first, s.find_last_not_of(" \t\r\n") - first + 1));
}

bool only_comments(std::string_view s) {
  while (!s.empty()) {
    const size_t end = std::min(s.find('\n'), s.size());
    const std::string line = trimmed(s.substr(0, end));
    if (!line.empty() && !line.starts_with("//")) return false;
    s.remove_prefix(std::min(end + 1, s.size()));
  }
  return true;
}

}  // namespace

Repl::Repl(Context& context, std::atomic<bool>& interrupt, ModelOptions options, int64_t batch)
    : context_(context),
      interrupt_(interrupt),
      options_(std::move(options)),
      batch_(batch),
      statements_(context, interrupt) {
  if (options_.mode.empty() && options_.config.empty()) options_.mode = "ge_graph";
}

bool Repl::failed(const Error& error) {
  context_.out.flush();
  report(error, context_);
  return false;
}

bool Repl::failed(const diag::Engine& diags) {
  context_.out.flush();
  report(diags, context_);
  return false;
}

bool Repl::failed(const Unit& unit) { return unit.error ? failed(*unit.error) : failed(unit.diags); }

bool Repl::need_model() {
  if (has_model()) return true;
  return failed(Error{ErrorKind::Usage, "no model is loaded", {"help: :load FILE takes one"}});
}

World Repl::world() const {
  if (!has_model()) return {"", options_};
  return {now().text, now().options};
}

const Unit& Repl::unit(const Snapshot& snapshot) {
  for (auto it = kept_.begin(); it != kept_.end(); ++it)
    if (same(*it->snapshot, snapshot)) {
      kept_.splice(kept_.begin(), kept_, it);
      return *kept_.front().unit;
    }
  auto copy = std::make_shared<Snapshot>(snapshot);
  kept_.push_front({copy, compile_unit(*copy)});
  if (kept_.size() > kKeptUnits) kept_.pop_back();
  return *kept_.front().unit;
}

Expected<std::shared_ptr<const Snapshot>> Repl::read(const std::string& file) const {
  source::Sources sources;
  auto text = sources.read(file);
  if (!text) return tl::unexpected(text.error());
  auto next = std::make_shared<Snapshot>();
  next->text = std::string(sources.text(*text));
  next->options = has_model() ? now().options : options_;
  next->options.file = file;
  next->batch = has_model() ? now().batch : batch_;
  return next;
}

/// The snapshot becomes the model when its plan is good.
bool Repl::take(std::shared_ptr<const Snapshot> snapshot) {
  const Unit& u = unit(*snapshot);
  if (!u.good()) return failed(u);
  file_ = snapshot->options.file;
  original_ = snapshot->text;
  snapshots_ = {std::move(snapshot)};
  at_ = 0;
  context_.out << fmt::format("{}: {}\n", file_, scope_summary(u));
  context_.out.flush();
  report(u.diags, context_);
  return true;
}

bool Repl::load(const std::string& file) {
  auto snapshot = read(file);
  return snapshot ? take(std::move(*snapshot)) : failed(snapshot.error());
}

bool Repl::start_loading(const std::string& file, int patience) {
  auto snapshot = read(file);
  if (!snapshot) return failed(snapshot.error());
  loading_ = std::move(*snapshot);
  compiling_ = std::async(std::launch::async, [snapshot = loading_] { return compile_unit(*snapshot); });
  if (compiling_.wait_for(std::chrono::milliseconds(patience)) != std::future_status::ready) return true;
  return finish_loading();
}

bool Repl::finish_loading() {
  if (!loading_) return true;
  kept_.push_front({loading_, compiling_.get()});
  return take(std::exchange(loading_, nullptr));
}

std::string Repl::scope_summary(const Unit& u) const {
  if (u.mode == "eager") return "eager, no static graph; scopes do nothing there";
  if (u.schedules.empty()) return u.mode + ", no decode phase to plan";
  const Counts& c = u.counts;
  return fmt::format("{}, {} scope{}, {} piece{}, {} launches a step", u.mode, c.scopes,
                     c.scopes == 1 ? "" : "s", c.pieces, c.pieces == 1 ? "" : "s", c.launches);
}

void Repl::answer(const std::string& what, const Unit& before, const Unit& after) {
  context_.out << what << '\n';
  if (after.schedules.empty() || before.schedules.empty()) {
    context_.out << "  " << scope_summary(before) << " -> " << scope_summary(after) << '\n';
    return;
  }
  const Counts &a = before.counts, &b = after.counts;
  const auto row = [&](std::string_view name, size_t x, size_t y) {
    context_.out << fmt::format("  {:<13}{:>5} -> {}\n", name, x, y);
  };
  row("scopes", a.scopes, b.scopes);
  row("pieces", a.pieces, b.pieces);
  row("ops fused", a.ops_fused, b.ops_fused);
  row("launches", a.launches, b.launches);
  for (const plan::SyncScope s : {plan::SyncScope::AllAic, plan::SyncScope::AllAiv, plan::SyncScope::AllMix})
    row(fmt::format("sync {}", plan::name(s)), a.syncs[static_cast<size_t>(s)],
        b.syncs[static_cast<size_t>(s)]);
  row("preloads", a.preloads, b.preloads);
  row("early starts", a.early_starts, b.early_starts);
  row("barriers", a.barriers, b.barriers);
  if (a.events != b.events) row("events", a.events, b.events);
  if (a.prefetches != b.prefetches) row("prefetches", a.prefetches, b.prefetches);
  if (a.modelled_us && b.modelled_us)
    context_.out << fmt::format("  {:<13}{:>5.1f} -> {:.1f} us\n", "modelled", *a.modelled_us,
                                *b.modelled_us);
  // Scopes that are no longer one super kernel.
  for (size_t i = 0; i < after.reports.size(); ++i)
    for (const superkernel::ScopeReport& s : after.reports[i].scopes) {
      if (s.pieces.size() == 1 && s.unfused.empty()) continue;
      context_.out << fmt::format("  {}: {} piece{}, {} of {} ops fused; :explain {} tells why\n", s.name,
                                  s.pieces.size(), s.pieces.size() == 1 ? "" : "s", s.fused, s.ops, s.name);
      return;
    }
}

void Repl::tell_bits() {
  if (!check_bits) return;
  context_.out.flush();
  const Bits bits = bits_.check(now(), original_, interrupt_);
  context_.out << "  bits         " << bits.text << '\n';
  context_.out.flush();
}

bool Repl::change(Snapshot next, const std::string& what, bool schedule) {
  if (same(next, now())) {
    context_.out << what << ": nothing changed\n";
    return true;
  }
  const Unit& before = unit();
  const std::shared_ptr<const Unit> keep_before = kept_.front().unit;
  const Unit& after = unit(next);
  if (!after.good()) {
    failed(after);
    context_.err << "note: the model is as it was\n";
    return false;
  }
  if (schedule && before.mathematics != after.mathematics)
    return failed(Error{ErrorKind::Input,
                        "the edit changes what is computed, so it is no change of the schedule",
                        {"note: the model is as it was",
                         "help: statements keep the order in which values are made and used"}});
  snapshots_.resize(at_ + 1);
  snapshots_.push_back(std::make_shared<Snapshot>(std::move(next)));
  ++at_;
  answer(what, before, after);
  context_.out.flush();
  tell_bits();
  return true;
}

bool Repl::undo() {
  if (!need_model()) return false;
  if (at_ == 0) return failed(Error{ErrorKind::Input, "there is nothing to undo", {}});
  const Snapshot& from = now();
  const auto before = (unit(from), kept_.front().unit);
  --at_;
  answer("undone", *before, unit());
  return true;
}

bool Repl::redo() {
  if (!need_model()) return false;
  if (at_ + 1 >= snapshots_.size()) return failed(Error{ErrorKind::Input, "there is nothing to redo", {}});
  const Snapshot& from = now();
  const auto before = (unit(from), kept_.front().unit);
  ++at_;
  answer("done again", *before, unit());
  return true;
}

std::vector<std::string> Repl::flags() const {
  std::vector<std::string> out;
  const ModelOptions& o = has_model() ? now().options : options_;
  if (!o.config.empty()) out.insert(out.end(), {"--config", o.config});
  if (!o.weights.empty()) out.insert(out.end(), {"--weights", o.weights});
  for (const std::string& s : o.set) out.insert(out.end(), {"--set", s});
  const auto number = [&](const char* flag, const std::optional<int64_t>& n) {
    if (n) out.insert(out.end(), {flag, std::to_string(*n)});
  };
  number("--max-seq-len", o.max_seq_len);
  number("--block-size", o.block_size);
  number("--kv-blocks", o.kv_blocks);
  return out;
}

bool Repl::run_command(std::vector<std::string> args) {
  const source::Overlay overlay(now().options.file, now().text);
  context_.out.flush();
  const bool good = cli::run(args, context_) == kDone;
  context_.out.flush();
  return good;
}

bool Repl::run(const std::string& input, uint32_t line) {
  interrupt_.store(false);
  const std::string text = trimmed(input);
  if (text.empty() || only_comments(text)) return true;
  if (!text.starts_with(":")) return statements_.run(input, line, world());
  const size_t end = std::min(text.find_first_of(" \t\n"), text.size());
  const std::string name = text.substr(1, end - 1);
  const ReplCommand* command = find_command(name);
  if (!command) {
    Error e{ErrorKind::Usage, fmt::format("there is no command `:{}`", name), {}};
    const std::string near = nearest_command(name);
    e.notes.push_back(near.empty() ? "help: :help lists the commands"
                                   : "help: did you mean `:" + near + "`?");
    return failed(e);
  }
  Arguments arguments;
  arguments.text = trimmed(std::string_view(text).substr(end));
  arguments.words = words_of(arguments.text);
  const bool good = command->run(*this, arguments);
  context_.out.flush();
  return good;
}

std::vector<SourceScope> Repl::scopes() {
  std::vector<SourceScope> out = scopes_in(now().text);
  const source::Sources& read = unit().sources;
  for (uint32_t file = 1; file < read.size(); ++file) {
    if (read.name(file) == now().options.file) continue;
    for (SourceScope& s : scopes_in(std::string(read.text(file)))) {
      s.file = read.name(file);
      out.push_back(std::move(s));
    }
  }
  return out;
}

std::vector<std::string> Repl::scope_names() const {
  std::vector<std::string> out;
  if (!has_model()) return out;
  for (const SourceScope& s : scopes_in(now().text)) out.push_back(s.name);
  for (const Kept& k : kept_)
    if (same(*k.snapshot, now()))
      for (const auto& r : k.unit->reports)
        for (const auto& s : r.scopes) out.push_back(s.name);
  return out;
}

std::vector<std::string> Repl::op_names() const {
  std::vector<std::string> out;
  if (!has_model()) return out;
  out = calls_in(now().text);
  for (const Kept& k : kept_)
    if (same(*k.snapshot, now()) && !k.unit->schedules.empty())
      for (const plan::Task& t : k.unit->schedules.front().tasks)
        if (!t.path.empty() && !t.view) out.push_back(t.path);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<std::string> Repl::config_keys() const {
  for (const Kept& k : kept_)
    if (has_model() && same(*k.snapshot, now())) return k.unit->config_keys;
  return {};
}

}  // namespace skdsl::cli::repl
