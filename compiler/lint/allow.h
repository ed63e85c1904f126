// allow — the pragmas of lint in a source text
//
//   x = f(y)  #! allow(SK418): measured faster            on the line itself
//   #! allow(SK418, SK315): measured faster               on a line of its own: for the next line with code
//   #! allow-file(SK947): examples have no switches       for the whole file
//   #! modes(eager): shows what graphs refuse             the file is meant for these modes only
//
// The same words stand behind `#!` in a run config. Only what is in no string or comment counts.
#pragma once
#include <string>
#include <vector>

#include "compiler/diag/diag.h"

namespace skdsl::lint {

struct Allow {
  diag::Id id = diag::Id::kCount;
  Span span;          // of the id's word
  Span pragma;        // from `#!` to the line's end
  uint32_t line = 0;  // the line that it is for; 0: the whole file
  bool own_line = false;
  bool alone = false;  // the only id of its pragma
  bool used = false;
};

struct Pragmas {
  std::vector<Allow> allows;
  std::vector<std::string> modes;  // empty: all
};

/// Reads the pragmas of a file; what is wrong with them is reported and has no effect.
Pragmas read_pragmas(uint32_t file, diag::Engine& diags);

/// Takes away the findings that are allowed, and reports allows that allow nothing. Ids of `off` are known
/// not to have been looked for.
void apply_allows(Pragmas& pragmas, uint32_t file, std::vector<diag::Diagnostic>& findings,
                  const std::vector<diag::Id>& off, diag::Engine& diags);

}  // namespace skdsl::lint
