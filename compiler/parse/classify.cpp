// classify — which words of a piece are keywords
//
// Words such as `stream`, `max` or `event` are keywords only where a statement of theirs begins or where they
// stand after an operand; elsewhere they are names. Deciding it here keeps the grammar at one token of
// look-ahead.
#include "compiler/parse/parse.h"
#include "compiler/parse/tokens.h"

namespace skdsl::parse {
namespace {

/// What may follow a word that begins a statement; anything else makes it a name.
enum class Follow : uint8_t { Word, WordOrString, String, Brace, Operand, Options };

bool begins_statement(uint32_t type, Follow& follow) {
  switch (type) {
    case T::MODEL:
    case T::DRAFT:
    case T::REPLACE:
    case T::EVENT:
    case T::RECORD:
    case T::WAIT:
    case T::PREFETCH:
      follow = Follow::Word;
      return true;
    case T::DEFAULT_WEIGHTS:
    case T::UNUSED:
      follow = Follow::String;
      return true;
    case T::STREAM:
      follow = Follow::WordOrString;
      return true;
    case T::CONFIG:
      follow = Follow::Brace;
      return true;
    case T::GEARS:
    case T::DUMP:
    case T::TAP:
      follow = Follow::Operand;
      return true;
    case T::CORES:
      follow = Follow::Options;
      return true;
    default:
      return false;
  }
}

bool is_literal(uint32_t type) {
  return type == T::STRING || type == T::INT || type == T::FLOAT || type == T::BYTES || type == T::TRUE ||
         type == T::FALSE;
}

/// Words that follow an operand: `from`, `max`, …
bool is_infix_word(uint32_t type) {
  return type == T::FROM || type == T::MAX || type == T::AFTER || type == T::BY || type == T::UNINITIALIZED;
}

bool is_soft(uint32_t type) {
  Follow ignored;
  return begins_statement(type, ignored) || is_infix_word(type) || type == T::OP || type == T::NONE;
}

bool is_name(uint32_t type) { return type == T::IDENT || is_soft(type); }

bool ends_operand(uint32_t type) {
  return type == T::IDENT || type == T::RPAREN || type == T::RBRACKET || type == T::RBRACE ||
         is_literal(type);
}

/// The token that closes the bracket at `i`, or the size.
size_t closer(const std::vector<PieceToken>& piece, size_t i) {
  int depth = 0;
  for (; i < piece.size(); ++i) {
    const uint32_t t = piece[i].type;
    if (t == T::LPAREN || t == T::LBRACKET || t == T::OPT_OPEN) ++depth;
    if (t == T::RPAREN || t == T::RBRACKET) --depth;
    if (depth == 0) return i;
  }
  return i;
}

bool ends_header(const std::vector<PieceToken>& piece, size_t i) {
  return i >= piece.size() || piece[i].type == T::WHEN || piece[i].type == T::LBRACE ||
         piece[i].type == T::SK_OPEN;
}

bool keyword_here(const std::vector<PieceToken>& piece, Follow follow) {
  if (piece.size() < 2) return false;
  const uint32_t next = piece[1].type;
  switch (follow) {
    case Follow::Word:
      return is_name(next);
    case Follow::String:
      return next == T::STRING;
    case Follow::WordOrString: {
      if (next == T::STRING) return true;
      const size_t end = next == T::LPAREN ? closer(piece, 1) + 1 : piece.size();
      return is_name(next) || (next == T::LPAREN && end < piece.size() && ends_header(piece, end));
    }
    case Follow::Brace:
      return next == T::LBRACE;
    case Follow::Operand:
      return is_name(next) || next == T::IF || next == T::NOT || is_literal(next) || next == T::LPAREN ||
             next == T::LBRACKET || next == T::MINUS;
    case Follow::Options: {
      if (next != T::LPAREN) return false;
      const size_t end = closer(piece, 1) + 1;
      return end < piece.size() && ends_header(piece, end);
    }
  }
  return false;
}

}  // namespace

bool classify(std::vector<PieceToken>& piece, bool in_config, uint32_t file, Problems& problems) {
  const size_t n = piece.size();
  if (n == 0) return true;
  Follow follow;
  if (begins_statement(piece[0].type, follow)) {
    if (in_config || !keyword_here(piece, follow)) piece[0].type = T::IDENT;
  } else if (is_soft(piece[0].type)) {
    piece[0].type = T::IDENT;
  }
  if (piece[0].type == T::IF) {
    // `if c { }` is a statement, `if c then a else b` alone an expression.
    bool block = false, then = false;
    for (const PieceToken& t : piece) {
      block = block || t.type == T::LBRACE;
      then = then || t.type == T::THEN;
    }
    if (block || !then) piece[0].type = T::STMT_IF;
  }
  const uint32_t head = piece[0].type;
  const bool has_options = head == T::SUPERKERNEL || head == T::STREAM || head == T::CORES;

  int depth = 0;
  constexpr int kNoneYet = -1, kOver = -2;
  int options_depth = kNoneYet;     // bracket depth inside the option list
  bool option_name = false;         // in an option list before `=`
  std::vector<int> open_ifs = {0};  // conditional expressions without their `else` yet, for each bracket
  int nested = 0;
  for (size_t i = 0; i < n; ++i) {
    PieceToken& t = piece[i];
    const uint32_t previous = i > 0 ? piece[i - 1].type : static_cast<uint32_t>(T::SEP);
    const uint32_t next = i + 1 < n ? piece[i + 1].type : static_cast<uint32_t>(T::SEP);
    switch (t.type) {
      case T::LPAREN:
      case T::LBRACKET:
        if (t.type == T::LPAREN && has_options && depth == 0 && options_depth == kNoneYet &&
            (head == T::CORES ? i == 1 : i >= 2) && ends_header(piece, closer(piece, i) + 1)) {
          t.type = T::OPT_OPEN;
          options_depth = depth + 1;
          option_name = true;
        }
        ++depth;
        open_ifs.push_back(0);
        continue;
      case T::RPAREN:
      case T::RBRACKET:
        if (depth == options_depth) options_depth = kOver;
        --depth;
        if (open_ifs.size() > 1) {
          nested -= open_ifs.back();
          open_ifs.pop_back();
        }
        continue;
      case T::LBRACE:  // of a statement-if: its condition is over
        nested -= open_ifs.back();
        open_ifs.back() = 0;
        continue;
      case T::COMMA:
        if (next == T::RPAREN || next == T::RBRACKET) t.type = T::LAST_COMMA;
        if (depth == options_depth) option_name = true;
        continue;
      case T::ASSIGN:
        if (depth == options_depth) option_name = false;
        continue;
      case T::WHEN:
        if (depth == 0 && previous != T::DOT) options_depth = kOver;
        break;
      default:
        break;
    }
    if (!is_word(t.type)) continue;
    if (previous == T::DOT) {
      t.type = T::IDENT;
    } else if (depth == options_depth && option_name) {
      t.type =
          next == T::ASSIGN && (previous == T::OPT_OPEN || previous == T::COMMA) ? T::ARG_NAME : T::IDENT;
    } else if (depth > 0 && next == T::ASSIGN &&
               (previous == T::LPAREN || previous == T::COMMA || previous == T::OPT_OPEN)) {
      t.type = T::ARG_NAME;
    } else if (i > 0 && is_soft(t.type)) {
      const bool keyword = is_infix_word(t.type) ? ends_operand(previous)
                           : t.type == T::OP     ? previous == T::EXTERN
                           : t.type == T::NONE   ? previous == T::SUPERKERNEL
                                                 : false;
      if (!keyword) t.type = T::IDENT;
    } else if (t.type == T::IF) {
      if (previous == T::ELSE && i > 1 && piece[i - 2].type == T::RBRACE) {
        t.type = T::STMT_IF;
      } else {
        ++open_ifs.back();
        if (++nested > kMaxDepth) {
          problems.add({file, t.begin, t.end}, diag::Id::NestedTooDeep,
                       {"conditional expressions", fmt::format("{}", kMaxDepth)});
          return false;
        }
      }
    } else if (t.type == T::ELSE && open_ifs.back() > 0) {
      --open_ifs.back();
      --nested;
    }
  }
  return true;
}

}  // namespace skdsl::parse
