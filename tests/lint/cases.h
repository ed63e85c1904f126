// cases — programs with the findings that they should have
//
//   ```sk lint --mode ge_graph --set batch_size=2      in a page: the info string has the arguments
//   // LINT: --mode ge_graph                           in a case file: the first line has them (`# LINT:` in
//   YAML) y = f(t)  //~ SK408                                this line has these findings (`#~` in YAML)
//   //~~ SK910                                         a finding without a place
//
// Arguments are those of `skdsl lint`: --mode, --set, --chip. Without --mode the program is checked in all
// modes.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/lint/lint.h"

namespace skdsl::testing {

struct LintCase {
  std::string name;  // of the file that it would be
  std::string text;
  std::string args;
};

/// (line, id); line 0 has no place, line -1 stands in another file.
using Places = std::set<std::pair<int64_t, std::string>>;

/// The findings that the text marks.
Places marked(const LintCase& c);

struct Linted {
  Places all;
  std::map<std::string, diag::Severity> severity;  // by id
  std::string human;                               // for messages of the test
};
Linted lint(const LintCase& c);
/// The text after all fixes, unsafe ones too when asked for.
std::string fixed(const LintCase& c, diag::Applicability trust, size_t* fixes);

/// The programs of a section ("Bad") of a page.
std::vector<LintCase> section_cases(const std::string& page, const std::string& section);
/// A case file.
LintCase file_case(const std::string& path);

std::string read_text(const std::string& path);

}  // namespace skdsl::testing
