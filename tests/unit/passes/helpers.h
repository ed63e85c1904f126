// helpers — programs as text in, programs as text out
#pragma once
#include <string>
#include <string_view>

#include "compiler/diag/diag.h"
#include "compiler/passes/pass.h"
#include "runtime/plan/plan.h"

namespace skdsl::testing {

/// A program from its text; the test fails when it does not parse or verify.
plan::Program program(std::string_view text);

/// A diagnostic engine over one source "t.sk" (file 1) whose lines are `kSourceLine`.
struct Diags {
  Diags();
  source::Sources sources;
  diag::Engine engine{sources};
  /// "SK101 3:5: message" and "  help: …" lines.
  std::string text() const;
};

/// Runs one pass on a program's text and gives the printed result; the result must verify, and what the pass
/// says about "changed" must be true.
std::string after(bool (*pass)(passes::PassContext&), std::string_view text);

/// The text without its first `program` line and declarations: the functions.
std::string functions(std::string_view printed);

}  // namespace skdsl::testing
