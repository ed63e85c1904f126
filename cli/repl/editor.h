// editor — lines from a terminal: history, completion, colours; plain lines where the terminal can do no more
//
// The only place that sees libedit. Colours and the matching bracket are drawn over the line that libedit has
// drawn, when it fits one row, and never with NO_COLOR, on a dumb terminal or without one.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace skdsl::cli::repl {

struct EditorOptions {
  bool colour = false;
  std::string history_file;                // "" keeps none
  std::atomic<bool>* interrupt = nullptr;  // set by Ctrl-C
  /// Words that may stand at the end of `before`, the input up to the cursor.
  std::function<std::vector<std::string>(const std::string& before)> complete;
};

class Editor {
 public:
  explicit Editor(EditorOptions options);
  ~Editor();

  enum class Got { Input, Interrupted, End };
  /// A whole input, of several lines where a bracket stays open. Interrupted: Ctrl-C threw it away.
  Got read(std::string& input);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The file below XDG_STATE_HOME that keeps the history; its folder is made. "" when there is no place for
/// it.
std::string history_path();
/// The file below XDG_CONFIG_HOME that interactive sessions begin with; it need not be there.
std::string startup_path();

/// The input with colours, `mark` and its partner highlighted; npos marks none.
std::string coloured(const std::string& text, size_t mark);

}  // namespace skdsl::cli::repl
