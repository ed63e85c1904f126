// brackets — which token pairs with which, where statements end, and what to do when brackets do not pair
//
// A pass over the tokens keeps a stack of open brackets. The first thing that does not fit is reported and
// mended (the bracket is struck out, or a `}` is thought in), and the pass starts again, so that one slip is
// one error and what follows it is still read. After kMaxRepairs the text is given up.
#include <unordered_map>
#include <unordered_set>

#include "compiler/parse/parse.h"
#include "compiler/parse/tokens.h"

namespace skdsl::parse {
namespace {

constexpr int kMaxRepairs = 16;

class Arranger {
 public:
  Arranger(const std::vector<Raw>& raw, std::string_view text, uint32_t file, std::vector<Token>& out,
           Problems& problems)
      : raw_(raw), text_(text), file_(file), out_(out), problems_(problems) {}

  bool run() {
    for (int repair = 0; repair <= kMaxRepairs; ++repair) {
      switch (pass()) {
        case Outcome::Fits:
          return true;
        case Outcome::Mended:
          break;
        case Outcome::Hopeless:
          return false;
      }
    }
    return false;
  }

 private:
  enum class Outcome { Fits, Mended, Hopeless };
  struct Open {
    uint32_t type;  // LPAREN, LBRACKET, LBRACE or SK_OPEN
    uint32_t raw;
    uint32_t token;   // index in out_
    uint32_t indent;  // of the line that it stands on
  };

  Outcome pass() {
    out_.clear();
    out_.reserve(raw_.size() + 8);
    stack_.clear();
    header_depth_ = -1;
    suspect_ = {};
    uint32_t line_start = 0;
    bool line_begins = true;
    const auto n = static_cast<uint32_t>(raw_.size());
    for (uint32_t i = 0; i < n; ++i) {
      if (!close_before_.empty()) {
        if (const auto it = close_before_.find(i); it != close_before_.end()) think_closed(it->second);
      }
      const Raw& r = raw_[i];
      if (r.type == T::NEWLINE) {
        line_start = r.end;
        line_begins = true;
      } else if (line_begins) {
        line_begins = false;
        indent_ = r.begin - line_start;
        first_on_line_ = i;
      }
      if (!struck_.empty() && struck_.contains(i)) {
        push(r.begin, r.end, T::BAD);
        continue;
      }
      switch (r.type) {
        case T::NEWLINE:
        case T::SEMI:
          separator(r);
          break;
        case T::LPAREN:
        case T::LBRACKET:
        case T::LBRACE:
          if (r.type == T::LBRACE) header_depth_ = -1;
          if (!open(i, r.type)) return Outcome::Hopeless;
          break;
        case T::RPAREN:
        case T::RBRACKET:
          if (!close_inner(i)) return Outcome::Mended;
          break;
        case T::RBRACE:
          if (!close_brace(i)) return Outcome::Mended;
          break;
        case T::LT:
          if (header_depth_ == static_cast<int>(stack_.size())) {
            header_depth_ = -1;
            if (!open(i, T::SK_OPEN)) return Outcome::Hopeless;
          } else {
            push(r.begin, r.end, T::LT);
          }
          break;
        case T::GT:
          if (closes_super_kernel(i)) {
            close(i, T::SK_CLOSE);
          } else {
            push(r.begin, r.end, T::GT);
          }
          break;
        case T::SUPERKERNEL:
          if (at_statement_start()) header_depth_ = static_cast<int>(stack_.size());
          push(r.begin, r.end, r.type);
          break;
        case T::ELSE:
          drop_newline();
          push(r.begin, r.end, r.type);
          break;
        case T::BY:
          if (i + 1 < n && raw_[i + 1].type == T::LBRACE && after_pattern()) drop_newline();
          push(r.begin, r.end, r.type);
          break;
        case T::IDENT:
          // `superkernal "x" <` must not make errors of its brackets too.
          if (i + 1 < n && raw_[i + 1].type == T::STRING && at_statement_start() &&
              !diag::nearest(text_.substr(r.begin, r.end - r.begin), {"superkernel"}).empty()) {
            header_depth_ = static_cast<int>(stack_.size());
          }
          push(r.begin, r.end, r.type);
          break;
        default:
          note_declaration(i);
          push(r.begin, r.end, r.type);
      }
    }
    return at_end();
  }

  void push(uint32_t begin, uint32_t end, uint32_t type) { out_.push_back({begin, end, type}); }

  bool at_statement_start() const {
    if (out_.empty()) return true;
    const uint32_t last = out_.back().type;
    return last == T::SEP || last == T::LBRACE || last == T::SK_OPEN;
  }

  /// After these a newline ends nothing.
  static bool continues(uint32_t type) {
    switch (type) {
      case T::ASSIGN:
      case T::COMMA:
      case T::THEN:
      case T::ELSE:
      case T::AND:
      case T::OR:
      case T::EQ:
      case T::NE:
      case T::LT:
      case T::LE:
      case T::GT:
      case T::GE:
      case T::PLUS:
      case T::MINUS:
      case T::STAR:
      case T::SLASH:
      case T::PERCENT:
      case T::POW:
        return true;
      default:
        return false;
    }
  }

  void separator(const Raw& r) {
    const bool semi = r.type == T::SEMI;
    if (!stack_.empty() && (stack_.back().type == T::LPAREN || stack_.back().type == T::LBRACKET)) {
      if (semi) push(r.begin, r.end, T::SEMI);
      return;
    }
    if (at_statement_start()) {
      if (semi && !out_.empty() && out_.back().type == T::SEP) out_.back() = {r.begin, r.end, T::SEP};
      return;
    }
    // `a.max` and a newline: the word is a member's name, as is an operator word after a dot.
    const bool member = out_.size() > 1 && out_[out_.size() - 2].type == T::DOT && is_word(out_.back().type);
    if (!semi && continues(out_.back().type) && !member) return;
    header_depth_ = -1;
    push(r.begin, r.end, T::SEP);
  }

  bool is_newline(const Token& t) const { return t.type == T::SEP && text_[t.begin] != ';'; }
  void drop_newline() {
    if (!out_.empty() && is_newline(out_.back())) out_.pop_back();
  }

  /// Whether the last block is the pattern of a `replace`, possibly with a newline behind it.
  bool after_pattern() const {
    size_t last = out_.size();
    if (last > 0 && out_[last - 1].type == T::SEP) --last;
    if (last == 0 || out_[last - 1].type != T::RBRACE) return false;
    size_t first = out_[last - 1].match;
    const auto begins = [&](size_t k) {
      return k == 0 || out_[k - 1].type == T::SEP || out_[k - 1].type == T::LBRACE ||
             out_[k - 1].type == T::SK_OPEN;
    };
    while (!begins(first)) --first;
    return out_[first].type == T::REPLACE && is_word(out_[first + 1].type);
  }

  bool open(uint32_t i, uint32_t type) {
    const Raw& r = raw_[i];
    if (stack_.size() >= static_cast<size_t>(kMaxDepth)) {
      problems_.add({file_, r.begin, r.end}, diag::Id::NestedTooDeep,
                    {"brackets", fmt::format("{}", kMaxDepth)});
      return false;
    }
    stack_.push_back({type, i, static_cast<uint32_t>(out_.size()), indent_});
    push(r.begin, r.end, type);
    return true;
  }

  void close(uint32_t i, uint32_t type) {
    const bool brace = type == T::RBRACE || type == T::SK_CLOSE;
    if (brace) {
      if (out_.back().type == T::SEP) out_.pop_back();
      header_depth_ = -1;
    }
    const Open& opener = stack_.back();
    if (brace && !suspect_.found && first_on_line_ == i && indent_ < opener.indent) {
      suspect_ = {true, opener.raw, i};
    }
    out_[opener.token].match = static_cast<uint32_t>(out_.size());
    push(raw_[i].begin, raw_[i].end, type);
    out_.back().match = opener.token;
    stack_.pop_back();
  }

  void think_closed(int count) {
    for (; count > 0 && !stack_.empty(); --count) {
      if (stack_.back().type == T::LPAREN || stack_.back().type == T::LBRACKET) break;
      if (out_.back().type == T::SEP) out_.pop_back();
      const uint32_t at = out_.back().end;
      out_[stack_.back().token].match = static_cast<uint32_t>(out_.size());
      push(at, at, stack_.back().type == T::SK_OPEN ? T::SK_CLOSE : T::RBRACE);
      out_.back().match = stack_.back().token;
      stack_.pop_back();
      push(at, at, T::SEP);
    }
    header_depth_ = -1;
  }

  bool closes_super_kernel(uint32_t i) const {
    if (stack_.empty() || stack_.back().type != T::SK_OPEN) return false;
    if (at_statement_start()) return true;
    size_t next = i + 1;
    for (size_t open = stack_.size() - 1; open > 0 && stack_[open - 1].type == T::SK_OPEN; --open) {
      if (next >= raw_.size() || raw_[next].type != T::GT) break;
      ++next;
    }
    if (next >= raw_.size()) return true;
    const uint32_t type = raw_[next].type;
    return type == T::NEWLINE || type == T::SEMI || type == T::RBRACE;
  }

  static std::string_view opener_text(uint32_t type) {
    return type == T::LPAREN ? "(" : type == T::LBRACKET ? "[" : type == T::LBRACE ? "{" : "<";
  }

  void report_unclosed(const Open& opener, const Raw* before) {
    const Raw& r = raw_[opener.raw];
    Problem& p = opener.type == T::SK_OPEN
                     ? problems_.add({file_, r.begin, r.end}, diag::Id::SuperKernelUnbalanced,
                                     {"this `<` of a super kernel is never closed by `>`"})
                     : problems_.add({file_, r.begin, r.end}, diag::Id::UnbalancedBracket,
                                     {fmt::format("`{}` is never closed", opener_text(opener.type))});
    if (before != nullptr) {
      p.notes.push_back({{file_, before->begin, before->end},
                         fmt::format("it should be closed before this `{}`",
                                     text_.substr(before->begin, before->end - before->begin))});
    }
    if (opener.type != T::SK_OPEN) return;
    const bool in_line = opener.raw + 1 < raw_.size() && raw_[opener.raw + 1].type != T::NEWLINE;
    p.helps.emplace_back("the closing `>` stands on its own line or at the end of a line");
    if (in_line)
      p.helps.emplace_back(
          "if this `<` compares: between `when` and the block comparisons stand in parentheses");
  }

  /// `)` or `]`.
  bool close_inner(uint32_t i) {
    const Raw& r = raw_[i];
    const uint32_t wanted = r.type == T::RPAREN ? T::LPAREN : T::LBRACKET;
    if (!stack_.empty() && stack_.back().type == wanted) {
      close(i, r.type);
      return true;
    }
    bool opened = false;
    for (size_t k = stack_.size();
         k-- > 0 && (stack_[k].type == T::LPAREN || stack_[k].type == T::LBRACKET);) {
      opened = opened || stack_[k].type == wanted;
    }
    const std::string_view closer = text_.substr(r.begin, r.end - r.begin);
    if (opened) {
      report_unclosed(stack_.back(), &r);
      struck_.insert(stack_.back().raw);
    } else if (!stack_.empty() && (stack_.back().type == T::LPAREN || stack_.back().type == T::LBRACKET)) {
      const Raw& o = raw_[stack_.back().raw];
      problems_
          .add({file_, r.begin, r.end}, diag::Id::UnbalancedBracket,
               {fmt::format("`{}` closes `{}`", closer, opener_text(stack_.back().type))})
          .notes.push_back({{file_, o.begin, o.end}, "opened here"});
      struck_.insert(stack_.back().raw);
      struck_.insert(i);
    } else {
      problems_.add({file_, r.begin, r.end}, diag::Id::UnbalancedBracket,
                    {fmt::format("`{}` closes nothing", closer)});
      struck_.insert(i);
    }
    return false;
  }

  bool close_brace(uint32_t i) {
    if (!stack_.empty() && stack_.back().type == T::LBRACE) {
      close(i, T::RBRACE);
      return true;
    }
    const Raw& r = raw_[i];
    if (stack_.empty()) {
      problems_.add({file_, r.begin, r.end}, diag::Id::UnbalancedBracket, {"`}` closes nothing"});
      struck_.insert(i);
    } else if (stack_.back().type == T::SK_OPEN) {
      report_unclosed(stack_.back(), &r);
      ++close_before_[i];
    } else {
      report_unclosed(stack_.back(), &r);
      struck_.insert(stack_.back().raw);
    }
    return false;
  }

  /// A declaration that stands no deeper than the line of an open `{` was hardly meant to be inside it.
  void note_declaration(uint32_t i) {
    const uint32_t type = raw_[i].type;
    if (type != T::LAYER && type != T::MODEL && type != T::IMPORT && type != T::CONFIG && type != T::DRAFT)
      return;
    if (suspect_.found || stack_.empty() || !at_statement_start() || first_on_line_ != i) return;
    if (type != T::LAYER && type != T::IMPORT &&
        !(i + 1 < raw_.size() && (is_word(raw_[i + 1].type) || raw_[i + 1].type == T::LBRACE)))
      return;
    const Open& opener = stack_.back();
    if ((opener.type == T::LBRACE || opener.type == T::SK_OPEN) && indent_ <= opener.indent)
      suspect_ = {true, opener.raw, i};
  }

  Outcome at_end() {
    if (!close_before_.empty()) {
      if (const auto it = close_before_.find(static_cast<uint32_t>(raw_.size())); it != close_before_.end())
        think_closed(it->second);
    }
    if (stack_.empty()) {
      if (!out_.empty() && out_.back().type == T::SEP) out_.pop_back();
      return Outcome::Fits;
    }
    const Open opener = stack_.back();
    if (opener.type == T::LPAREN || opener.type == T::LBRACKET) {
      report_unclosed(opener, nullptr);
      struck_.insert(opener.raw);
      return Outcome::Mended;
    }
    // Brackets lack a partner somewhere before: the first closer that stands left of its opener's line shows
    // where.
    if (suspect_.found && !mended_.contains(suspect_.opener)) {
      mended_.insert(suspect_.opener);
      report_unclosed({raw_[suspect_.opener].type == T::LT ? static_cast<uint32_t>(T::SK_OPEN)
                                                           : raw_[suspect_.opener].type,
                       suspect_.opener, 0, 0},
                      &raw_[suspect_.before]);
      ++close_before_[suspect_.before];
      return Outcome::Mended;
    }
    report_unclosed(opener, nullptr);
    ++close_before_[static_cast<uint32_t>(raw_.size())];
    return Outcome::Mended;
  }

  struct Suspect {
    bool found = false;
    uint32_t opener = 0;  // raw index of the bracket that was probably not closed
    uint32_t before = 0;  // raw index of what it should be closed before
  };

  const std::vector<Raw>& raw_;
  std::string_view text_;
  uint32_t file_;
  std::vector<Token>& out_;
  Problems& problems_;
  std::vector<Open> stack_;
  int header_depth_ = -1;       // bracket depth of a super-kernel header that waits for its `<`
  uint32_t indent_ = 0;         // bytes before the first token of the current line
  uint32_t first_on_line_ = 0;  // that token
  Suspect suspect_;
  std::unordered_set<uint32_t> struck_;
  std::unordered_set<uint32_t> mended_;
  std::unordered_map<uint32_t, int> close_before_;
};

}  // namespace

bool arrange(const std::vector<Raw>& raw, std::string_view text, uint32_t file, std::vector<Token>& out,
             Problems& problems) {
  return Arranger(raw, text, file, out, problems).run();
}

}  // namespace skdsl::parse
