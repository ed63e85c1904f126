// statements — lines that run at once, in eager, and leave their names to the next ones
//
// Each statement is a small program: the definitions so far, those of the loaded model, and the statement as
// its script (compiler/sema/line.h). Tensors, numbers and lists are kept as values, layers by replaying the
// statement that made them, their states by path. An input that fails leaves everything as it was.
#pragma once
#include <atomic>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/cli.h"
#include "cli/model_run.h"
#include "compiler/sema/line.h"
#include "runtime/exec/value.h"

namespace skdsl::cli::repl {

/// The model whose declarations lines may use.
struct World {
  std::string text;      // "" without one
  ModelOptions options;  // file: names the folder that imports are looked for in
};

class Statements {
 public:
  Statements(Context& context, const std::atomic<bool>& interrupt)
      : context_(context), interrupt_(interrupt) {}

  /// Runs an input of statements and definitions, and prints the values of expressions. `line` is the place
  /// of its first line, for messages. False after a report.
  bool run(const std::string& input, uint32_t line, const World& world);

  /// Names that an input may use: values, layers, definitions.
  std::vector<std::string> names() const;
  /// "x  f32[2, 3]", one line each.
  std::string list() const;
  /// All successful inputs as a program that prints what they printed.
  std::string program() const;
  bool empty() const { return now_.log.empty() && now_.definitions.empty(); }
  void clear();

 private:
  struct Definition {
    std::string name, text;
  };
  struct Replay {
    std::string text;
    std::vector<std::string> names;
    sema::Names statics;  // that stood when it ran
  };
  /// What an input may change and a failing one must not.
  struct State {
    std::vector<Definition> definitions;
    std::vector<Replay> replays;
    sema::Names names;
    std::vector<Tensor> tensors;           // of the Ir values in `names`
    std::map<std::string, Tensor> states;  // of layers, by path
    std::map<std::string, Tensor> weights;
    std::vector<std::string> log;
    int64_t requests = 8;  // that caches hold
  };

  bool statement(const std::string& text, const std::vector<std::string>& assigned, bool plain,
                 const World& world);
  bool execute(const std::string& source, const World& world, bool show, sema::ElaboratedLine* out);
  std::string source(const std::string& first, const World& world) const;
  Expected<std::vector<exec::RuntimeValue>> call(sema::ElaboratedLine& line, const Prepared& prepared);

  Context& context_;
  const std::atomic<bool>& interrupt_;
  State now_;
};

}  // namespace skdsl::cli::repl
