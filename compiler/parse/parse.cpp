// parse — a file, piece by piece
//
// Blocks are walked by their brackets: the content of a block is cut at its separators into pieces, the
// blocks inside a piece are parsed first, and the piece itself goes through the generated parser with those
// blocks shown as empty. So recursion is as deep as brackets are, at most kMaxDepth, and an error costs one
// piece.
#include "compiler/parse/parse.h"

#include <algorithm>

#include "antlr4-runtime.h"
#include "compiler/parse/piece.h"
#include "compiler/parse/repair.h"

namespace skdsl::parse {
namespace {

using ast::Kind;
using ast::NodeId;

class FileParser {
 public:
  FileParser(uint32_t file, std::string_view text, Lexer& lexer, PieceParser& parser, Problems& problems)
      : file_(file),
        text_(text),
        problems_(problems),
        build_(ast_, text, file, problems),
        lexer_(lexer),
        parser_(parser) {}

  ast::Ast run() {
    std::vector<Raw> raw =
        lexer_.lex(text_, file_, 0, static_cast<uint32_t>(text_.size()), &comments_, problems_);
    const size_t lexical = problems_.size();
    if (!problems_.full() && arrange(raw, text_, file_, tokens_, problems_)) {
      broken_ = problems_.size() > lexical;
    } else {
      tokens_.clear();
    }
    std::vector<Raw>().swap(raw);
    BlockContent top = content(0, static_cast<uint32_t>(tokens_.size()), Where::Top, 0,
                               static_cast<uint32_t>(text_.size()), true);
    const auto end = static_cast<uint32_t>(text_.size());
    ast_.root = ast_.add(Kind::File, {file_, 0, end}, "", top.items);
    if (!top.comments.inner.empty()) ast_.comments(ast_.root).inner = std::move(top.comments.inner);
    return std::move(ast_);
  }

 private:
  /// Tokens [first, last) are the content of a block whose text is [from, to).
  BlockContent content(uint32_t first, uint32_t last, Where where, uint32_t from, uint32_t to, bool is_file) {
    BlockContent out;
    uint32_t previous_end = from;
    NodeId previous = 0;
    bool any = false;
    for (uint32_t i = first; i < last;) {
      if (tokens_[i].type == T::SEP) {
        ++i;
        continue;
      }
      uint32_t stop = i;
      while (stop < last && tokens_[stop].type != T::SEP)
        stop = tokens_[stop].match != kNoMatch && opens(stop) ? tokens_[stop].match + 1 : stop + 1;
      const uint32_t begin = tokens_[i].begin;
      const uint32_t end = tokens_[stop - 1].end;
      ast::Comments around;
      around_piece(previous_end, begin, any, is_file, previous, out, around);
      NodeId id = 0;
      if (!problems_.full()) id = piece(i, stop, where);
      hoist(begin, end, around);
      if (id != 0) {
        out.items.push_back(id);
        if (!around.leading.empty() || around.blank_before) {
          ast::Comments& c = ast_.comments(id);
          c.leading = std::move(around.leading);
          c.blank_before = around.blank_before;
        }
      }
      previous = id;
      any = true;
      previous_end = end;
      i = stop;
    }
    // What stands before the closing bracket.
    bool blank = false;
    for_comments(previous_end, to, [&](Comment& c) {
      if (!c.own_line && previous_end > from && same_line(previous_end, c.begin)) {
        if (previous != 0) ast_.comments(previous).trailing = text_of(c);
      } else if (!c.own_line && !any && !is_file && same_line(from, c.begin)) {
        out.comments.opening = text_of(c);
      } else {
        if (blank_between(previous_end, c.begin) && (any || blank)) out.comments.inner.emplace_back();
        out.comments.inner.push_back(text_of(c));
        blank = true;
      }
      previous_end = c.end;
    });
    return out;
  }

  bool opens(uint32_t i) const {
    const uint32_t t = tokens_[i].type;
    return t == T::LBRACE || t == T::SK_OPEN || t == T::LPAREN || t == T::LBRACKET;
  }

  // ---- comments

  std::string text_of(const Comment& c) const { return std::string(text_.substr(c.begin, c.end - c.begin)); }
  bool same_line(uint32_t from, uint32_t to) const {
    return text_.substr(from, to - from).find('\n') == std::string_view::npos;
  }
  bool blank_between(uint32_t from, uint32_t to) const {
    const std::string_view gap = text_.substr(from, to - from);
    const size_t first = gap.find('\n');
    return first != std::string_view::npos && gap.find('\n', first + 1) != std::string_view::npos;
  }
  template <class Visit>
  void for_comments(uint32_t from, uint32_t to, Visit&& visit) {
    auto it = std::lower_bound(comments_.begin(), comments_.end(), from,
                               [](const Comment& c, uint32_t at) { return c.begin < at; });
    for (; it != comments_.end() && it->begin < to; ++it) {
      if (it->used) continue;
      it->used = true;
      visit(*it);
    }
  }

  /// Comments and blank lines between the previous piece (or the opening bracket) and this one.
  void around_piece(uint32_t from, uint32_t begin, bool any, bool is_file, NodeId previous,
                    BlockContent& block, ast::Comments& around) {
    uint32_t at = from;
    bool first = true;
    for_comments(from, begin, [&](Comment& c) {
      if (!c.own_line && first && (any || !is_file) && same_line(from, c.begin)) {
        if (any && previous != 0) ast_.comments(previous).trailing = text_of(c);
        if (!any) block.comments.opening = text_of(c);
        at = c.end;
        return;
      }
      const bool blank = blank_between(at, c.begin);
      if (first) {
        around.blank_before = blank && any;
      } else if (blank) {
        around.leading.emplace_back();
      }
      first = false;
      around.leading.push_back(text_of(c));
      at = c.end;
    });
    const bool blank = blank_between(at, begin);
    if (first) {
      around.blank_before = blank && any;
    } else if (blank) {
      around.leading.emplace_back();
    }
  }

  /// Comments inside a piece that no block of it took stand before it from now on.
  void hoist(uint32_t begin, uint32_t end, ast::Comments& around) {
    for_comments(begin, end, [&](Comment& c) { around.leading.push_back(text_of(c)); });
  }

  // ---- pieces

  static Where inside(uint32_t first_token, Where where) {
    if (where == Where::Config) return Where::Config;
    switch (first_token) {
      case T::LAYER:
      case T::MODEL:
      case T::DRAFT:
        return Where::Members;
      case T::CONFIG:
        return Where::Config;
      default:
        return Where::Statements;
    }
  }

  /// What a block holds when the word before it is misspelled.
  Where inside_misspelled(uint32_t first, Where where) const {
    if (where == Where::Top && tokens_[first].type == T::IDENT) {
      const std::string_view word =
          text_.substr(tokens_[first].begin, tokens_[first].end - tokens_[first].begin);
      const std::string meant = diag::nearest(word, {"layer", "model", "draft", "config", "fn"});
      if (meant == "config") return Where::Config;
      if (!meant.empty() && meant != "fn") return Where::Members;
    }
    return inside(tokens_[first].type, where);
  }

  NodeId piece(uint32_t first, uint32_t last, Where where) {
    std::vector<BlockContent> blocks;
    bool bad = false;
    const Where inner = inside_misspelled(first, where);
    for (uint32_t i = first; i < last; ++i) {
      const Token& t = tokens_[i];
      if (t.type == T::BAD) bad = true;
      if ((t.type != T::LBRACE && t.type != T::SK_OPEN) || t.match == kNoMatch) continue;
      BlockContent b = content(i + 1, t.match, inner, t.end, tokens_[t.match].begin, false);
      b.open = i;
      // A comment between this block and what follows it in the piece (`} // … else {`) belongs to its end.
      if (t.match + 1 < last) {
        for_comments(tokens_[t.match].end, tokens_[t.match + 1].begin,
                     [&](Comment& c) { b.comments.inner.push_back(text_of(c)); });
      }
      blocks.push_back(std::move(b));
      i = t.match;
    }
    if (bad) return 0;
    view_.clear();
    bool has_string = false;
    for (uint32_t i = first; i < last; ++i) {
      const Token& t = tokens_[i];
      view_.push_back({t.begin, t.end, t.type, i});
      has_string = has_string || t.type == T::STRING;
      if ((t.type == T::LBRACE || t.type == T::SK_OPEN) && t.match != kNoMatch) i = t.match - 1;
    }
    build_.strings.clear();
    if (has_string && !interpolate(first, last)) return 0;
    if (!classify(view_, where == Where::Config, file_, problems_)) return 0;
    // With a bracket struck out or thought in, members may have come to stand outside their layer.
    if (broken_ && view_.size() > 0 && misplaced_by_brackets(view_[0].type, where)) return 0;
    build_.blocks = &blocks;
    const Token* const after = last < tokens_.size() ? &tokens_[last] : nullptr;
    return parser_.run(view_, where, build_, tokens_[last - 1].end, after, text_, file_, problems_);
  }

  static bool misplaced_by_brackets(uint32_t type, Where where) {
    switch (type) {
      case T::WEIGHT:
      case T::CONST:
      case T::STATE:
      case T::PREFILL:
      case T::DECODE:
      case T::FORWARD:
      case T::DEFAULT_WEIGHTS:
      case T::UNUSED:
        return where != Where::Members;
      case T::REQUIRE:
        return where != Where::Config;
      case T::IMPORT:
      case T::CONFIG:
      case T::FN:
      case T::LAYER:
      case T::MODEL:
      case T::DRAFT:
      case T::EXTERN:
      case T::REPLACE:
        return where != Where::Top;
      default:
        return false;
    }
  }

  // ---- strings with `{expression}`

  bool interpolate(uint32_t first, uint32_t last) {
    // The view of the piece waits while expressions inside its strings go through the parser.
    std::vector<PieceToken> kept;
    bool ok = true;
    for (uint32_t i = first; i < last; ++i) {
      const Token& t = tokens_[i];
      if ((t.type == T::LBRACE || t.type == T::SK_OPEN) && t.match != kNoMatch) i = t.match - 1;
      if (t.type != T::STRING ||
          text_.substr(t.begin, t.end - t.begin).find_first_of("{}") == std::string_view::npos)
        continue;
      if (kept.empty()) kept = std::move(view_);
      const NodeId id = interpolated(t);
      if (id == 0) ok = false;
      build_.strings.emplace(t.begin, id);
    }
    if (!kept.empty()) view_ = std::move(kept);
    return ok;
  }

  NodeId interpolated(const Token& t) {
    std::vector<NodeId> parts;
    const uint32_t end = t.end - 1;
    uint32_t literal = t.begin + 1;
    build_.failed = false;
    const auto flush = [&](uint32_t to) {
      if (to > literal)
        parts.push_back(build_.add(Kind::StrPart, {file_, literal, to}, build_.unescape(literal, to), {}));
    };
    for (uint32_t i = literal; i < end; ++i) {
      const char c = text_[i];
      if (c == '\\') {
        ++i;
        continue;
      }
      if (c != '{' && c != '}') continue;
      if (i + 1 < end && text_[i + 1] == c) {
        ++i;
        continue;
      }
      if (c == '}') {
        problems_.syntax({file_, i, i + 1}, "`}` in a string closes nothing")
            .helps.emplace_back("for a brace itself write `}}`");
        return 0;
      }
      const size_t close = text_.substr(0, end).find('}', i);
      if (close == std::string_view::npos) {
        problems_.syntax({file_, i, i + 1}, "`{` in a string begins an expression, which no `}` ends")
            .helps.emplace_back("for a brace itself write `{{`");
        return 0;
      }
      flush(i);
      if (build_.failed) return 0;
      const NodeId value = expression(i + 1, static_cast<uint32_t>(close));
      if (value == 0) return 0;
      parts.push_back(value);
      i = static_cast<uint32_t>(close);
      literal = i + 1;
    }
    flush(end);
    if (build_.failed) return 0;
    return build_.add(Kind::Str, {file_, t.begin, t.end}, text_.substr(t.begin + 1, end - t.begin - 1),
                      parts);
  }

  NodeId expression(uint32_t begin, uint32_t end) {
    const size_t before = problems_.size();
    std::vector<Token> tokens;
    const std::vector<Raw> raw = lexer_.lex(text_, file_, begin, end, nullptr, problems_);
    if (problems_.size() > before || !arrange(raw, text_.substr(0, end), file_, tokens, problems_)) return 0;
    if (problems_.size() > before) return 0;
    view_.clear();
    for (const Token& t : tokens) view_.push_back({t.begin, t.end, t.type, 0});
    if (view_.empty()) {
      problems_.syntax({file_, begin - 1, end + 1}, "`{}` in a string holds no expression")
          .helps.emplace_back("for the braces themselves write `{{}}`");
      return 0;
    }
    if (!classify(view_, false, file_, problems_)) return 0;
    return parser_.run_expression(view_, build_, end, text_, file_, problems_);
  }

  uint32_t file_;
  std::string_view text_;
  Problems& problems_;
  ast::Ast ast_;
  Builder build_;
  Lexer& lexer_;
  PieceParser& parser_;
  std::vector<Token> tokens_;
  std::vector<Comment> comments_;
  std::vector<PieceToken> view_;  // the piece at hand
  bool broken_ = false;           // brackets were mended
};

}  // namespace

ast::Ast parse(uint32_t file, diag::Engine& diags) {
  Problems problems;
  ast::Ast ast;
  const std::string_view text = diags.sources().text(file);
  try {
    Lexer lexer;
    PieceParser parser;
    ast = FileParser(file, text, lexer, parser, problems).run();
    if (problems.size() > 0)
      repair(
          text, file,
          [&](std::string_view changed, Problems& found) {
            (void)FileParser(file, changed, lexer, parser, found).run();
          },
          problems);
  } catch (const std::exception& e) {
    // ANTLR's exceptions end here.
    problems.syntax({file, 0, 0}, fmt::format("the parser gave up: {}", e.what()));
  }
  problems.report(diags);
  return ast;
}

}  // namespace skdsl::parse
