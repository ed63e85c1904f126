// input — the text of one input: whether it is complete, its words and brackets
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace skdsl::cli::repl {

/// Whether a bracket or block is still open, so that more lines belong to the input. Commands are one line.
bool needs_more(std::string_view text);

enum class Token : uint8_t { Keyword, Operator, Number, String, Comment, Name, Command, Bracket, Other };
struct Piece {
  Token kind = Token::Other;
  size_t begin = 0, end = 0;
};
/// The text in pieces, blanks left out.
std::vector<Piece> pieces(std::string_view text);

/// The bracket that belongs to the one at `at`, or npos.
size_t matching_bracket(std::string_view text, size_t at);

/// Words of the language that begin statements and declarations.
const std::vector<std::string>& keywords();

}  // namespace skdsl::cli::repl
