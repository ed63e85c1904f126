// repair — syntax errors with a way out, found by trying
//
// For the first problem of a text small edits near it are tried, likely ones first: another keyword, an
// operator without operand left out, a bracket where layout and arity put it, a comma. The edit after which
// the fewest problems are left becomes the fix of the report; what then is left is treated the same way, so
// that what only followed from the first problem is not reported.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/parse/tokens.h"

namespace skdsl::parse {

/// Parses a changed text and collects its problems.
using Trial = std::function<void(std::string_view text, Problems& found)>;

/// Replaces the problems of `text` by those with fixes and without what follows from them. Does nothing for
/// texts that are too large or too broken to try.
void repair(std::string_view text, uint32_t file, const Trial& trial, Problems& problems);

/// A token with its place on its line.
struct Placed {
  uint32_t begin = 0;
  uint32_t end = 0;
  uint32_t type = 0;
  bool first = false;  // of its line
  bool last = false;
  uint32_t indent = 0;  // of its line, in bytes
};
std::vector<Placed> place_tokens(std::string_view text, Lexer& lexer);

/// Keyword: a near one or a foreign word; OtherKeyword: any.
enum class Slip : uint8_t { Keyword, OtherKeyword, Operator, Bracket, Character, Surplus, Missing };
struct Candidate {
  Slip slip = Slip::Keyword;
  uint32_t begin = 0;  // bytes that are replaced
  uint32_t end = 0;
  std::string text;
  int rank = 0;  // smaller is likelier
};

/// Candidates for one problem in groups, likely groups first.
std::vector<std::vector<Candidate>> candidates(std::string_view text, const std::vector<Placed>& tokens,
                                               const Problem& problem);

/// How many calls of operators and declarations of the text have a number of arguments that they cannot have.
int wrong_calls(std::string_view text, const std::vector<Placed>& tokens);

/// The token that pairs with the bracket `i`, or the number of tokens.
size_t partner(const std::vector<Placed>& tokens, size_t i);

}  // namespace skdsl::parse
