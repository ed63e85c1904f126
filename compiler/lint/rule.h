// rule — what a lint rule gets, and how it reports
//
// A rule is one function in compiler/lint/rules/<id>_<name>.cpp and one row in rules.def; its wording stands
// in diagnostics.def, its page in docs/diagnostics. docs/lint.md says how to add one.
#pragma once
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "compiler/config/options.h"
#include "compiler/config/run_config.h"
#include "compiler/diag/diag.h"
#include "compiler/schedule/schedule.h"
#include "compiler/sema/elaborate.h"
#include "runtime/plan/happens_before.h"
#include "stdlib/chips.h"

namespace skdsl::lint {

/// What a rule looks at, and so how often it is called.
enum class Needs : uint8_t {
  Compiler,  // nothing here: an earlier stage reports it
  Text,      // the file's text: once
  Tree,      // the file's syntax tree: once
  Config,    // the effective run config: once in each mode
  Program,   // a function of the program: once for each function in each mode
  Plan,      // the static graph of a decode: once for each, in ge_graph
};
std::string_view name(Needs needs);

/// What a rule may look at. Which members are set follows from the row's `Needs`; each includes those before
/// it, but a run config (.yaml) has no `modules`.
struct Context {
  const source::Sources& sources;
  const Chip& chip;
  uint32_t file = 0;                       // of `sources`: the linted one
  const sema::Modules* modules = nullptr;  // Text and on; null for a run config

  std::string_view mode;                 // Config and on: "eager", "npugraph_ex" or "ge_graph"
  const config::RunView* run = nullptr;  // settings of run config, --set and config.json, with defaults
  const config::Builtins* builtins = nullptr;

  const sema::Elaborated* elaborated = nullptr;       // Program and on: config values, names
  const plan::Program* program = nullptr;             // layers inlined, nothing simplified
  const plan::Function* function = nullptr;           // of `program`: a phase, or the script "main"
  const std::map<std::string, Loc>* calls = nullptr;  // instance path -> where it is called
  const plan::OpOrder* order = nullptr;  // of `function`: ops in order, streams, events, what is concurrent

  const plan::Schedule* schedule = nullptr;  // Plan: the static graph
  const plan::Program* scheduled = nullptr;  // the simplified program that its contexts and weights are of

  std::string_view text() const { return sources.text(file); }
  const ast::Ast& ast() const { return modules->main().ast; }
  bool eager() const { return mode == "eager"; }
  bool npugraph_ex() const { return mode == "npugraph_ex"; }
  bool ge_graph() const { return mode == "ge_graph"; }
  /// The function is a decode phase (also of a draft): what graph modes turn into a graph.
  bool decode() const { return function != nullptr && plan::is_decode(function->phase); }
  /// A decode in a graph mode.
  bool graph() const { return !eager() && decode(); }

  const plan::Op& op(plan::OpId id) const { return function->ops[id]; }
  Span span(const Loc& loc) const { return sources.span(loc); }
  /// Where the linted file has an op: its place, or the call of the layer of another file that it is in.
  Span place(plan::OpId id) const;
  /// The name that the linted file gives to the result of an op (`x = f(…)`), or "".
  std::string_view written_name(plan::OpId id) const;
  /// "`matmul` of layers.0.attn": an op for messages.
  std::string describe(plan::OpId id) const;
  /// The event of a record or wait, as it is written.
  std::string_view event(plan::OpId id) const;
  /// The innermost context of a kind around an op, or null.
  const plan::Context* around(plan::OpId id, plan::Context::Kind kind) const;
  /// Cores that an op may use: the innermost limit of each kind, else the chip's.
  struct Cores {
    int64_t aic, aiv;
    bool limited;
  };
  Cores cores(plan::OpId id) const;
  /// The path of the weight or const that a value shows, through views; "" for others.
  std::string_view weight_path(plan::ValueId value) const;
  /// Bytes of a type with constant dims (a stored dtype counts as two bytes); -1 when a size is open.
  int64_t bytes(const plan::Type& type) const;
};

/// Reports of one rule.
class Report {
 public:
  Report(const Context& context, diag::Id id, diag::Engine& diags)
      : context_(context), id_(id), diags_(diags) {}

  /// The arguments fill the row's message. The handle adds notes, helps and edits.
  template <class... Args>
  diag::Engine::Builder at(Span span, const Args&... args) {
    return diags_.report(span, id_, args...);
  }
  template <class... Args>
  diag::Engine::Builder at(const Loc& loc, const Args&... args) {
    return at(context_.span(loc), args...);
  }
  /// At an op; for one inside a layer of another file, at the call, with a note that says where it is.
  template <class... Args>
  diag::Engine::Builder at(plan::OpId op, const Args&... args) {
    auto report = at(context_.place(op), args...);
    note_instance(report, op);
    return report;
  }

 private:
  void note_instance(diag::Engine::Builder& report, plan::OpId op) const;
  const Context& context_;
  diag::Id id_;
  diag::Engine& diags_;
};

struct Rule {
  diag::Id id;
  Needs needs;
  bool locked;  // it hangs or raises on the device: cannot be allowed
  void (*check)(const Context& context, Report& report);  // null for Needs::Compiler
};

/// The rows of rules.def.
std::span<const Rule> rules();
/// The row of a diagnostic, or null.
const Rule* find(diag::Id id);

namespace rules_impl {
#define SK_LINT_COMPILER(Row, lock)
#define SK_LINT_RULE(Row, function, needs, lock) void function(const Context& context, Report& report);
#include "compiler/lint/rules.def"
}  // namespace rules_impl

}  // namespace skdsl::lint
