// messages — syntax errors in the user's words
#include <algorithm>

#include "compiler/parse/piece.h"

namespace skdsl::parse {
namespace {

std::string quoted(std::string_view text) {
  // A long token (a string, mostly) is shown by its beginning.
  constexpr size_t kLongest = 40;
  if (text.size() <= kLongest) return fmt::format("`{}`", text);
  size_t n = kLongest;
  while (n > 0 && (static_cast<unsigned char>(text[n]) & 0xc0u) == 0x80u) --n;
  return fmt::format("`{}…`", text.substr(0, n));
}

/// Words that begin something in each place, for "did you mean".
std::vector<std::string> starters(Where where) {
  switch (where) {
    case Where::Top:
      return {"import",      "config",    "fn",     "layer", "model",    "draft", "extern",
              "replace",     "let",       "return", "for",   "if",       "while", "superkernel",
              "scope_begin", "scope_end", "stream", "cores", "prefetch", "event", "record",
              "wait",        "gears",     "dump",   "tap"};
    case Where::Members:
      return {"weight", "const",   "state",           "let",   "fn", "prefill",
              "decode", "forward", "default_weights", "unused"};
    case Where::Config:
      return {"require"};
    case Where::Statements:
      return {"let",         "return",    "for",    "if",    "while",    "superkernel",
              "scope_begin", "scope_end", "stream", "cores", "prefetch", "event",
              "record",      "wait",      "gears",  "dump",  "tap"};
  }
  return {};
}

std::string misspelled_starter(const PieceStream& piece, Where where, std::string_view text) {
  if (piece.count() < 2 || piece.token(0).type != T::IDENT) return {};
  const uint32_t second = piece.token(1).type;
  bool block = false;
  for (size_t i = 1; i < piece.count(); ++i)
    block = block || piece.token(i).type == T::LBRACE || piece.token(i).type == T::SK_OPEN;
  const bool juxtaposed = is_word(second) || second == T::STRING || second == T::INT || second == T::LBRACE;
  if (!juxtaposed && !block) return {};
  const std::string_view word = text.substr(piece.token(0).begin, piece.token(0).end - piece.token(0).begin);
  return diag::nearest(word, starters(where));
}

/// After these a newline does not end the statement.
bool ends_no_line(uint32_t type) {
  return type == T::ASSIGN || type == T::COMMA || (type >= T::POW && type <= T::GT) || type == T::AND ||
         type == T::OR || type == T::THEN || type == T::ELSE;
}

std::string joined(const std::vector<size_t>& tokens, std::string_view end) {
  std::vector<std::string> names;
  for (const size_t t : tokens) {
    std::string name = t == kEnd ? std::string(end) : spelled(t);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += i + 1 == names.size() ? " or " : ", ";
    out += names[i];
  }
  return out;
}

}  // namespace

void report_stop(const Stop& stop, const Wanted& expected, const PieceStream& piece, Where where,
                 const Token* after, std::string_view text, uint32_t file, Problems& problems) {
  const auto text_of = [&](const auto& t) { return text.substr(t.begin, t.end - t.begin); };
  if (const std::string meant = misspelled_starter(piece, where, text); !meant.empty()) {
    const PieceToken& word = piece.token(0);
    problems.syntax({file, word.begin, word.end}, fmt::format("unknown keyword {}", quoted(text_of(word))))
        .helps.push_back(fmt::format("did you mean `{}`?", meant));
    return;
  }
  std::string found;
  Span span{file, 0, 0};
  const bool at_end = stop.token >= piece.count();
  if (!at_end) {
    const PieceToken& t = piece.token(stop.token);
    span = {file, t.begin, t.end};
    found = quoted(text_of(t));
  } else {
    const uint32_t end = piece.token(piece.count()).end;
    span = {file, end, end};
    if (after == nullptr) {
      found = "the end of the file";
    } else if (after->type == T::SEP && after->begin < text.size() && text[after->begin] != ';') {
      found = "the end of the line";
    } else {
      found = after->type == T::SEP ? "`;`" : after->type == T::SK_CLOSE ? "`>`" : "`}`";
      if (after->end > after->begin && after->begin >= end) span = {file, after->begin, after->end};
    }
  }
  std::string wanted;
  if (expected.expression) {
    wanted = "an expression";
  } else if (expected.type) {
    wanted = "a type";
  } else if (!expected.tokens.empty() && expected.tokens.size() <= 4) {
    wanted = joined(expected.tokens, expected.end);
  }
  Problem& p = problems.syntax(span, wanted.empty() ? fmt::format("unexpected {}", found)
                                                    : fmt::format("expected {} before {}", wanted, found));
  if (at_end) return;
  const PieceToken& t = piece.token(stop.token);
  if (t.type == T::IDENT) {
    static const std::vector<std::string> kInside = {"when",          "from", "after", "max", "in",  "then",
                                                     "else",          "by",   "and",   "or",  "not", "for",
                                                     "uninitialized", "op"};
    // Short names are too near to everything.
    const std::string meant = t.end - t.begin >= 4 ? diag::nearest(text_of(t), kInside) : std::string();
    if (!meant.empty()) {
      p.helps.push_back(fmt::format("did you mean `{}`?", meant));
    }
  } else if (t.type == T::ASSIGN && stop.token > 0 && piece.token(0).type == T::STMT_IF) {
    p.helps.emplace_back("comparison is `==`");
  } else if (is_word(t.type) && wanted == "a name") {
    p.helps.push_back(fmt::format("{} is a keyword; take another name", found));
  }
  for (size_t i = stop.token; i > 0 && i + 1 >= stop.token; --i) {
    const PieceToken& last = piece.token(i - 1);
    if (!ends_no_line(last.type) ||
        text.substr(last.end, piece.token(i).begin - last.end).find('\n') == std::string_view::npos)
      continue;
    p.helps.push_back(fmt::format("the line before ends in {}, so the statement goes on in this one",
                                  quoted(text_of(last))));
    break;
  }
  if (expected.tokens.size() == 1 && expected.tokens[0] == T::SK_OPEN) {
    p.helps.emplace_back("the block of a super kernel stands in `<` and `>`");
  }
}

void report_misplaced(const PieceToken& first, Where where, std::string_view text, uint32_t file,
                      Problems& problems) {
  const std::string found = quoted(text.substr(first.begin, first.end - first.begin));
  const Span span = {file, first.begin, first.end};
  std::string_view home;
  switch (first.type) {
    case T::WEIGHT:
    case T::CONST:
    case T::STATE:
    case T::PREFILL:
    case T::DECODE:
    case T::FORWARD:
    case T::DEFAULT_WEIGHTS:
    case T::UNUSED:
      home = "a layer or model";
      break;
    case T::IMPORT:
    case T::CONFIG:
    case T::LAYER:
    case T::MODEL:
    case T::DRAFT:
    case T::EXTERN:
    case T::REPLACE:
    case T::FN:
      home = "the top level of a file";
      break;
    case T::REQUIRE:
      home = "`config { … }`";
      break;
    case T::RETURN:
    case T::FOR:
    case T::STMT_IF:
    case T::WHILE:
    case T::SUPERKERNEL:
    case T::SCOPE_BEGIN:
    case T::SCOPE_END:
    case T::STREAM:
    case T::CORES:
    case T::PREFETCH:
    case T::EVENT:
    case T::RECORD:
    case T::WAIT:
    case T::GEARS:
    case T::DUMP:
    case T::TAP:
      home = "a function or phase body";
      break;
    default:
      break;
  }
  if (!home.empty()) {
    problems.syntax(span, fmt::format("{} stands in {}, not here", found, home));
    return;
  }
  const std::string_view wanted = where == Where::Members
                                      ? "a member such as `weight`, `state` or `name = Layer(…)`"
                                  : where == Where::Config ? "a key such as `name: int = 1`"
                                  : where == Where::Top    ? "a declaration or statement"
                                                           : "a statement";
  problems.syntax(span, fmt::format("expected {} before {}", wanted, found));
}

}  // namespace skdsl::parse
