// line — parts of a file: one line of an interactive session, or the decode phase alone
//
// A line is a script that finds the names of the lines before it. Numbers, strings and lists of them are
// static values and are kept as they are. What a run computed becomes an input of the next line's "main".
// Layers live as long as one elaboration, so the statements that made them are elaborated again; they leave
// no work behind.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/sema/elaborate.h"

namespace skdsl::sema {

/// Names and their values; the id of an Ir value counts the inputs, or the results, of "main".
using Names = std::map<std::string, Value, std::less<>>;

struct Line {
  Names names;                     // as the lines before left them
  std::vector<plan::Type> inputs;  // of "main"
  /// One entry for each of the last statements of the file, which run before all others: the static names
  /// where each of them stood.
  std::vector<Names> replays;
};

struct ElaboratedLine {
  Elaborated elaborated;
  Names names;                   // after the line; those in `unkept` are left out
  std::set<std::string> unkept;  // names of layers, weights and states: their statement must be replayed
  Value shown = Value::none();   // of its last statement, when that is an expression
  std::string shown_text;        // instead of `shown`, when that is no value ("layer `Linear`")
  size_t results = 0;            // of "main"
  bool works = false;            // it leaves operations behind
};

/// Nothing when errors were reported.
std::optional<ElaboratedLine> elaborate_line(const Modules& modules, const Options& options, const Line& line,
                                             diag::Engine& diags);

/// As `elaborate`, without the prefill of the model: for plans of decode.
std::optional<Elaborated> elaborate_decode(const Modules& modules, const Options& options,
                                           diag::Engine& diags);

}  // namespace skdsl::sema
