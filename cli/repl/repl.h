// repl — an interactive session: a model whose schedule is changed step by step, and lines that run at once
//
// The model is a chain of snapshots (text, mode, settings) that :undo and :redo walk; nothing in a snapshot
// changes. Each change is compiled to the plan of a decode step and answered with what is counted on it
// before and after; then the changed model is run against the file as it was loaded.
#pragma once
#include <atomic>
#include <future>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/repl/live.h"
#include "cli/repl/scopes.h"
#include "cli/repl/statements.h"
#include "cli/repl/unit.h"

namespace skdsl::cli::repl {

class Repl;

/// A command as it was typed.
struct Arguments {
  std::string text;                // behind the command's name
  std::vector<std::string> words;  // of it
};

/// A row of commands.def.
struct ReplCommand {
  std::string_view name, group, arguments, summary, example;
  bool (*run)(Repl& repl, const Arguments& arguments);
};
std::span<const ReplCommand> repl_commands();
const ReplCommand* find_command(std::string_view name);
std::string nearest_command(std::string_view name);

class Repl {
 public:
  /// `interrupt` ends what runs; the session clears it before each input.
  Repl(Context& context, std::atomic<bool>& interrupt, ModelOptions options, int64_t batch);

  /// Runs an input: a command, or statements and definitions. `line` is where it begins, for messages. False
  /// when it failed; then nothing has changed.
  bool run(const std::string& input, uint32_t line = 1);
  bool done() const { return done_; }
  void quit() { done_ = true; }

  // ---- the model
  bool has_model() const { return !snapshots_.empty(); }
  /// False after a report; then the model is the one before.
  bool load(const std::string& file);
  /// The same, compiling in a thread of its own, so that the first prompt need not wait for it. Waits for at
  /// most `patience` milliseconds; `finish_loading` waits for the rest and says what came of it.
  bool start_loading(const std::string& file, int patience);
  bool finish_loading();
  const Snapshot& now() const { return *snapshots_[at_]; }
  const std::string& original() const { return original_; }
  const std::string& file() const { return file_; }
  /// The plan of a snapshot; kept for the latest ones.
  const Unit& unit(const Snapshot& snapshot);
  const Unit& unit() { return unit(now()); }
  /// Makes `next` the model and answers with the counts before and after and the check of the bits. An edit
  /// (`schedule`) that the compiler refuses or that changes what is computed is reported and leaves the model
  /// as it was.
  bool change(Snapshot next, const std::string& what, bool schedule);
  bool undo();
  bool redo();
  size_t changes() const { return at_; }

  // ---- for commands
  Context& context() { return context_; }
  std::atomic<bool>& interrupt() { return interrupt_; }
  Statements& statements() { return statements_; }
  World world() const;
  bool failed(const Error& error);
  bool failed(const diag::Engine& diags);
  bool failed(const Unit& unit);
  /// Says that a model is needed; false without one.
  bool need_model();
  /// Runs a command of skdsl on the changed model as if it were its file.
  bool run_command(std::vector<std::string> args);
  /// Settings of the session as flags of such a command.
  std::vector<std::string> flags() const;
  std::string scope_summary(const Unit& unit) const;
  /// The scopes of the model's file, then those of the files that it imports.
  std::vector<SourceScope> scopes();

  // ---- for completion
  std::vector<std::string> scope_names() const;
  std::vector<std::string> op_names() const;
  std::vector<std::string> config_keys() const;

  bool check_bits = true;  // after changes

 private:
  struct Kept {
    std::shared_ptr<const Snapshot> snapshot;
    std::shared_ptr<const Unit> unit;
  };
  Expected<std::shared_ptr<const Snapshot>> read(const std::string& file) const;
  bool take(std::shared_ptr<const Snapshot> snapshot);
  void answer(const std::string& what, const Unit& before, const Unit& after);
  void tell_bits();

  Context& context_;
  std::atomic<bool>& interrupt_;
  ModelOptions options_;
  int64_t batch_ = 1;
  bool done_ = false;
  std::string file_, original_;
  std::vector<std::shared_ptr<const Snapshot>> snapshots_;
  size_t at_ = 0;
  std::list<Kept> kept_;  // latest first
  std::shared_ptr<const Snapshot> loading_;
  std::future<std::shared_ptr<const Unit>> compiling_;  // of `loading_`
  BitsCheck bits_;
  Statements statements_;
};

}  // namespace skdsl::cli::repl
