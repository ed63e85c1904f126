// tokens — from bytes to the token stream that SkParser.g4 describes
//
// lex() runs the generated lexer and sets comments aside; arrange() pairs brackets, decides which newlines
// end a statement and which `<` and `>` are brackets; classify() settles within one piece which words are
// keywords. A piece is one statement, member, config entry or top-level item; blocks inside it are shown as
// empty.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "SkLexer.h"
#include "compiler/diag/diag.h"

namespace skdsl::parse {

using T = grammar::SkLexer;  // token types are T::IDENT …; T::EOF is antlr4::Token::EOF, which we write kEnd
inline constexpr size_t kEnd = antlr4::Token::EOF;

struct Raw {
  uint32_t begin;
  uint32_t end;
  uint32_t type;
};

struct Comment {
  uint32_t begin;
  uint32_t end;
  bool own_line;      // nothing but blanks before it on its line
  bool used = false;  // already attached to a node
};

inline constexpr uint32_t kNoMatch = 0xffffffffu;

struct Token {
  uint32_t begin;
  uint32_t end;
  uint32_t type;
  uint32_t match = kNoMatch;  // of a bracket: the token that pairs with it
};

/// What is wrong, to be sorted by place before it is reported.
struct Problem {
  Span span;
  diag::Id id;
  std::vector<std::string> args;  // one for each {} of the wording
  std::vector<diag::Note> notes;
  std::vector<std::string> helps;
  std::vector<diag::Edit> edits;  // that remove the cause
};

class Problems {
 public:
  /// More syntax errors than this in one file are not looked for.
  static constexpr size_t kMax = 100;
  Problem& add(Span span, diag::Id id, std::vector<std::string> args) {
    return list_.emplace_back(Problem{span, id, std::move(args), {}, {}, {}});
  }
  Problem& syntax(Span span, std::string message) {
    return add(span, diag::Id::SyntaxError, {std::move(message)});
  }
  bool full() const { return list_.size() >= kMax; }
  size_t size() const { return list_.size(); }
  std::vector<Problem>& list() { return list_; }
  /// Sorts by place.
  void sort();
  void report(diag::Engine& diags);

 private:
  std::vector<Problem> list_;
};

/// Keeps the generated lexer and its tables alive between texts.
class Lexer {
 public:
  Lexer();
  ~Lexer();
  /// Tokens of text[begin, end) without blanks; comments apart. Unknown characters and unclosed strings are
  /// reported and come out as BAD.
  std::vector<Raw> lex(std::string_view text, uint32_t file, uint32_t begin, uint32_t end,
                       std::vector<Comment>* comments, Problems& problems);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Pairs brackets and places SEP. False when brackets cannot be paired or are too deep (reported): nothing to
/// parse.
bool arrange(const std::vector<Raw>& raw, std::string_view text, uint32_t file, std::vector<Token>& out,
             Problems& problems);

/// A token of a piece: what the parser sees.
struct PieceToken {
  uint32_t begin;
  uint32_t end;
  uint32_t type;
  uint32_t index;  // into the arranged tokens
};

/// Retypes the words of a piece (see SkLexer.g4); inside `config` a first word is a key. False when
/// conditional expressions nest too deep (reported).
bool classify(std::vector<PieceToken>& piece, bool in_config, uint32_t file, Problems& problems);

bool is_word(size_t type);

/// A token type as messages name it: "`)`", "a name", "a string".
std::string spelled(size_t type);

}  // namespace skdsl::parse
