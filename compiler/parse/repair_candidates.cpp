// repair_candidates — which small edits are worth a trial
#include <algorithm>
#include <set>

#include "compiler/parse/repair.h"
#include "runtime/abi/dtype.h"
#include "stdlib/op_info.h"

namespace skdsl::parse {
namespace {

/// What other languages call it.
struct Foreign {
  std::string_view word, ours;
};
constexpr Foreign kForeign[] = {
    {"def", "fn"},
    {"func", "fn"},
    {"function", "fn"},
    {"fun", "fn"},
    {"class", "layer"},
    {"class", "model"},
    {"module", "layer"},
    {"struct", "layer"},
    {"block", "layer"},
    {"network", "model"},
    {"net", "model"},
    {"module", "model"},
    {"ret", "return"},
    {"yield", "return"},
    {"var", "let"},
    {"val", "let"},
    {"auto", "let"},
    {"param", "weight"},
    {"parameter", "weight"},
    {"tensor", "weight"},
    {"constant", "const"},
    {"final", "const"},
    {"static", "const"},
    {"foreach", "for"},
    {"elif", "else if"},
    {"elsif", "else if"},
    {"elseif", "else if"},
    {"otherwise", "else"},
    {"do", "then"},
    {"until", "while"},
    {"loop", "while"},
    {"include", "import"},
    {"use", "import"},
    {"using", "import"},
    {"require", "import"},
    {"of", "in"},
    {"of", "from"},
    {"at", "from"},
    {"with", "from"},
    {"if", "when"},
    {"where", "when"},
    {"unless", "when"},
    {"True", "true"},
    {"yes", "true"},
    {"False", "false"},
    {"no", "false"},
    {"None", "none"},
    {"null", "none"},
    {"call", "forward"},
    {"apply", "forward"},
    {"prompt", "prefill"},
    {"generate", "decode"},
    {"buffer", "state"},
    {"var", "state"},
    {"mut", "state"},
    {"cache", "state"},
    {"params", "config"},
    {"settings", "config"},
    {"options", "config"},
    {"assert", "require"},
    {"check", "require"},
    {"kernel", "superkernel"},
    {"super_kernel", "superkernel"},
    {"preload", "prefetch"},
    {"fetch", "prefetch"},
    {"await", "wait"},
    {"join", "wait"},
    {"signal", "record"},
    {"then", "after"},
    {"behind", "after"},
    {"case", "if"},
    {"unset", "uninitialized"},
};
constexpr Foreign kCharacters[] = {{"&&", "and"}, {"&", "and"},  {"||", "or"},
                                   {"|", "or"},   {"!", "not "}, {"^", "**"}};

const std::vector<std::string>& keywords() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> out;
    for (size_t type = T::IMPORT; type <= T::FALSE; ++type) {
      const std::string word = spelled(type);  // in back-ticks
      if (word.size() > 2 && word[0] == '`' && std::isalpha(static_cast<unsigned char>(word[1])) != 0)
        out.push_back(word.substr(1, word.size() - 2));
    }
    return out;
  }();
  return words;
}

bool is_operator(uint32_t t) {
  switch (t) {
    case T::PLUS:
    case T::MINUS:
    case T::STAR:
    case T::SLASH:
    case T::PERCENT:
    case T::POW:
    case T::EQ:
    case T::NE:
    case T::LT:
    case T::LE:
    case T::GT:
    case T::GE:
    case T::AND:
    case T::OR:
    case T::NOT:
      return true;
    default:
      return false;
  }
}
bool opens(uint32_t t) { return t == T::LPAREN || t == T::LBRACKET || t == T::LBRACE; }
bool closes(uint32_t t) { return t == T::RPAREN || t == T::RBRACKET || t == T::RBRACE; }
bool ends_operand(uint32_t t) {
  return is_word(t) || t == T::RPAREN || t == T::RBRACKET || t == T::INT || t == T::FLOAT || t == T::STRING;
}
bool begins_operand(uint32_t t) {
  return is_word(t) || t == T::LPAREN || t == T::LBRACKET || t == T::INT || t == T::FLOAT || t == T::STRING;
}

class Finder {
 public:
  Finder(std::string_view text, const std::vector<Placed>& tokens, const Problem& problem)
      : text_(text), tokens_(tokens), problem_(problem) {
    while (at_ < tokens_.size() && tokens_[at_].end <= problem.span.begin) ++at_;
  }

  std::vector<std::vector<Candidate>> run() {
    if (tokens_.empty()) return {};
    const bool brackets =
        problem_.id == diag::Id::UnbalancedBracket || problem_.id == diag::Id::SuperKernelUnbalanced;
    characters();
    if (brackets) bracket_group();
    near_keywords();
    operators();
    if (!brackets) bracket_group();
    any_keyword();
    punctuation();
    return std::move(groups_);
  }

 private:
  std::string_view word(size_t i) const {
    return text_.substr(tokens_[i].begin, tokens_[i].end - tokens_[i].begin);
  }
  void replace(size_t i, std::string by, Slip slip, int rank = 0) {
    if (by != word(i)) group_.push_back({slip, tokens_[i].begin, tokens_[i].end, std::move(by), rank});
  }
  void insert(uint32_t at, std::string what, Slip slip, int rank) {
    if (seen_.insert({at, what}).second) group_.push_back({slip, at, at, std::move(what), rank});
  }
  void finish() {
    std::stable_sort(group_.begin(), group_.end(),
                     [](const Candidate& a, const Candidate& b) { return a.rank < b.rank; });
    if (!group_.empty()) groups_.push_back(std::move(group_));
    group_.clear();
  }

  size_t line_start(size_t i) const {
    i = std::min(i, tokens_.size() - 1);
    while (i > 0 && !tokens_[i].first) --i;
    return i;
  }

  /// Words that may be the wrong one: around the problem, at the beginnings of its line and of what encloses
  /// it.
  std::vector<size_t> suspects() const {
    std::vector<size_t> out;
    const auto add = [&](size_t i) {
      if (i < tokens_.size() && is_word(tokens_[i].type) && std::find(out.begin(), out.end(), i) == out.end())
        out.push_back(i);
    };
    add(at_);
    if (at_ > 0) add(at_ - 1);
    const size_t line =
        line_start(at_ < tokens_.size() && tokens_[at_].begin > problem_.span.end && at_ > 0 ? at_ - 1 : at_);
    add(line);
    add(at_ + 1);
    if (at_ > 1) add(at_ - 2);
    for (size_t i = line; i < tokens_.size() && (i == line || !tokens_[i].first); ++i) add(i);
    // Headers to the left, outwards.
    uint32_t indent = tokens_[line].indent;
    for (size_t i = line; i-- > 0 && indent > 0;)
      if (tokens_[i].first && tokens_[i].indent < indent) {
        indent = tokens_[i].indent;
        add(i);
      }
    if (line > 0) {
      const size_t before = line_start(line - 1);
      for (size_t i = before; i < line; ++i) add(i);
    }
    return out;
  }

  void characters() {
    for (size_t i = at_ > 0 ? at_ - 1 : 0; i < tokens_.size() && i <= at_ + 1; ++i)
      if (tokens_[i].type == T::BAD) {
        for (const Foreign& row : kCharacters)
          if (row.word == word(i)) replace(i, std::string(row.ours), Slip::Character);
        if (word(i).starts_with('"')) insert(tokens_[i].end, "\"", Slip::Character, 1);
      }
    finish();
  }

  void near_keywords() {
    int rank = 0;
    for (const size_t i : suspects()) {
      for (const Foreign& row : kForeign)
        if (row.word == word(i)) replace(i, std::string(row.ours), Slip::Keyword, rank);
      // All that are near, the nearest first.
      std::vector<std::string> left = keywords();
      for (int n = 0; n < 3; ++n) {
        const std::string near = diag::nearest(word(i), left);
        if (near.empty()) break;
        std::erase(left, near);
        replace(i, near, Slip::Keyword, rank + n);
      }
      rank += 4;
    }
    finish();
  }

  void operators() {
    // An operator with the blanks before it.
    const auto drop = [&](size_t i, int rank) {
      if (i >= tokens_.size() || !is_operator(tokens_[i].type)) return;
      const uint32_t from = i > 0 && !tokens_[i].first ? tokens_[i - 1].end : tokens_[i].begin;
      group_.push_back({Slip::Operator, from, tokens_[i].end, "", rank});
    };
    // Numbers are mostly compared with zero; without its comparison a condition is none.
    if (at_ > 0) switch (tokens_[at_ - 1].type) {
        case T::LT:
        case T::GT:
        case T::LE:
        case T::GE:
          group_.push_back({Slip::Operator, tokens_[at_ - 1].end, tokens_[at_ - 1].end, " 0", -1});
          break;
        default:
          break;
      }
    if (at_ > 0) drop(at_ - 1, 0);
    // At the end of a line it takes the next one for its operand.
    if (at_ < tokens_.size())
      if (const size_t line = line_start(at_); line > 0) drop(line - 1, 1);
    drop(at_, 1);
    if (at_ > 1 && is_operator(tokens_[at_ - 1].type)) drop(at_ - 2, 2);
    drop(at_ + 1, 3);
    finish();
  }

  void any_keyword() {
    int rank = 0;
    const std::vector<size_t> places = suspects();
    for (size_t k = 0; k < places.size() && k < 6; ++k) {
      for (const std::string& keyword : keywords()) {
        // A keyword takes the place of a keyword, or of a word that no keyword goes without.
        replace(places[k], keyword, Slip::OtherKeyword, rank + (tokens_[places[k]].type == T::IDENT ? 1 : 0));
      }
      rank += 2;
    }
    finish();
  }

  void punctuation() {
    const auto gap = [&](size_t i, int rank) {
      if (i >= tokens_.size() || i == 0) return;
      for (const char* mark : {",", ":", "=", ".", "->"})
        insert(tokens_[i - 1].end, mark, Slip::Missing, rank);
    };
    gap(at_, 0);
    if (at_ > 0) gap(at_ - 1, 1);
    for (const size_t i : {at_, at_ > 0 ? at_ - 1 : tokens_.size(), at_ + 1})
      if (i < tokens_.size() && !opens(tokens_[i].type) && !closes(tokens_[i].type))
        group_.push_back({Slip::Surplus, tokens_[i].begin, tokens_[i].end, "", 2});
    finish();
  }

  // ---- brackets

  static char other(char c) {
    return c == '(' ? ')' : c == '[' ? ']' : c == '{' ? '}' : c == ')' ? '(' : c == ']' ? '[' : '{';
  }

  void bracket_group() {
    lines();
    if (problem_.id == diag::Id::UnbalancedBracket && at_ < tokens_.size()) {
      const Placed& t = tokens_[at_];
      if (opens(t.type) && t.type != T::LBRACE) close_after(at_);
      if (closes(t.type) && t.type != T::RBRACE) {
        open_before(at_, text_[t.begin]);
        for (const diag::Note& note : problem_.notes) {
          size_t i = 0;
          while (i < tokens_.size() && tokens_[i].end <= note.span.begin) ++i;
          if (i < at_ && opens(tokens_[i].type)) close_between(i, at_);
        }
      }
      for (const diag::Note& note : problem_.notes) {
        size_t i = 0;
        while (i < tokens_.size() && tokens_[i].end <= note.span.begin) ++i;
        if (i < tokens_.size() && closes(tokens_[i].type) && opens(t.type) && tokens_[i].type != T::RBRACE)
          open_before(i, text_[tokens_[i].begin]);
      }
    }
    finish();
  }

  /// Where the statement of token `i` can go on to: its line and those that are deeper or begin with a
  /// closer.
  size_t statement_end(size_t i) const {
    size_t k = i + 1;
    const uint32_t indent = tokens_[i].indent;
    size_t lines = 0;
    for (; k < tokens_.size(); ++k) {
      if (!tokens_[k].first) continue;
      if (tokens_[k].indent <= indent || ++lines > 8) break;
    }
    return k;
  }

  void close_after(size_t open) {
    const std::string closer(1, other(text_[tokens_[open].begin]));
    const size_t end = statement_end(open);
    for (size_t k = open; k < end; ++k) {
      const Placed& t = tokens_[k];
      const uint32_t next = k + 1 < tokens_.size() ? tokens_[k + 1].type : 0;
      int rank = 20;
      if (t.last) rank = 1;
      if (next == T::LBRACE || next == T::ARROW || next == T::FROM || next == T::WHEN || next == T::THEN ||
          next == T::ELSE || next == T::ASSIGN)
        rank = 2;
      if (closes(next)) rank = closer[0] != text_[tokens_[k + 1].begin] ? 0 : 5;
      if (ends_operand(t.type) && begins_operand(next) && k + 1 < end && !tokens_[k + 1].first) rank = 6;
      if (next == T::COMMA) rank = 8;
      if (is_operator(next)) rank = 10;
      insert(t.end, closer, Slip::Bracket, rank * 64 + static_cast<int>(std::min<size_t>(k - open, 63)));
    }
  }

  void close_between(size_t open, size_t close) {
    const std::string closer(1, other(text_[tokens_[open].begin]));
    for (size_t k = open; k < close; ++k)
      insert(tokens_[k].end, closer, Slip::Bracket, 700 + static_cast<int>(close - k));
  }

  /// An opening bracket for the closing one at `close`, in its statement before it.
  void open_before(size_t close, char closer) {
    const std::string opener(1, other(closer));
    size_t from = line_start(close);
    while (from > 0 && tokens_[close].begin - tokens_[from].begin < 2000) {
      const size_t before = line_start(from - 1);
      if (tokens_[before].indent >= tokens_[from].indent && !closes(tokens_[from].type)) break;
      from = before;
      if (tokens_[from].indent < tokens_[close].indent || tokens_[close].first) break;
    }
    const std::set<std::string_view> known = names();
    int distance = 0;
    for (size_t k = close + 1; k-- > from;) {
      ++distance;
      const Placed& t = tokens_[k];
      const uint32_t before = k > 0 && !t.first ? tokens_[k - 1].type : 0;
      int rank = 20;
      if (ends_operand(before) && (begins_operand(t.type) || closes(t.type)) && !opens(t.type)) rank = 0;
      if (k == close) rank = is_word(before) ? 1 : 30;
      if (before == T::COLON || before == T::ARROW || before == T::IN) rank = 2;
      if (before == T::COMMA || before == T::ASSIGN || opens(before)) rank = 6;
      if (is_operator(before)) rank = 8;
      if (opener == "[" && is_operator(t.type)) rank = 25;
      insert(t.begin, opener, Slip::Bracket, rank * 64 + std::min(distance, 63));
      // Without its bracket a call runs into its first argument.
      if (t.type != T::IDENT) continue;
      const std::string_view w = word(k);
      for (size_t cut = 1; cut < w.size(); ++cut)
        if (known.contains(w.substr(0, cut)) && known.contains(w.substr(cut)))
          insert(t.begin + static_cast<uint32_t>(cut), opener, Slip::Bracket, std::min(distance, 63));
    }
  }

  std::set<std::string_view> names() const {
    std::set<std::string_view> out;
    for (size_t i = 0; i < tokens_.size(); ++i)
      if (is_word(tokens_[i].type) || tokens_[i].type == T::INT) out.insert(word(i));
    for (const OpInfo& op : kOps) out.insert(op.name);
    for (const DTypeName& n : kDTypeNames) out.insert(n.skdsl);
    return out;
  }

  /// Blocks by layout: a header whose next line is deeper opens one, a line that is not deeper ends it.
  void lines() {
    std::vector<size_t> starts;
    for (size_t i = 0; i < tokens_.size(); ++i)
      if (tokens_[i].first) starts.push_back(i);
    const auto last_of = [&](size_t line) {
      return line + 1 < starts.size() ? starts[line + 1] - 1 : tokens_.size() - 1;
    };
    std::vector<int> depth(starts.size() + 1, 0);  // of ( and [ before the line
    int open = 0;
    for (size_t line = 0; line < starts.size(); ++line) {
      depth[line] = open;
      for (size_t k = starts[line]; k <= last_of(line); ++k) {
        const uint32_t t = tokens_[k].type;
        if (t == T::LPAREN || t == T::LBRACKET) ++open;
        if ((t == T::RPAREN || t == T::RBRACKET) && open > 0) --open;
      }
    }
    depth[starts.size()] = 0;
    for (size_t line = 0; line < starts.size(); ++line) {
      const size_t first = starts[line], last = last_of(line);
      const uint32_t indent = tokens_[first].indent;
      const bool kernel = tokens_[last].type == T::LT;
      const bool block = tokens_[last].type == T::LBRACE || kernel;
      const std::string pad(indent, ' ');
      if (block) {
        // A header may go over several lines; its first is less deep.
        uint32_t header = indent;
        if (depth[line] > 0)
          for (size_t l = line; l-- > 0;)
            if (depth[l] == 0) {
              header = tokens_[starts[l]].indent;
              break;
            }
        size_t next = line + 1;
        while (next < starts.size() && (tokens_[starts[next]].indent > header || depth[next] > 0)) ++next;
        const uint32_t closer = kernel ? T::GT : T::RBRACE;
        const bool closed = next < starts.size() && tokens_[starts[next]].type == closer &&
                            tokens_[starts[next]].indent == header;
        if (!closed) {
          const size_t end = next < starts.size() ? starts[next] - 1 : tokens_.size() - 1;
          insert(tokens_[end].end, "\n" + std::string(header, ' ') + (kernel ? ">" : "}"), Slip::Bracket,
                 static_cast<int>(line % 64));
        }
        continue;
      }
      if (line + 1 >= starts.size() || tokens_[starts[line + 1]].indent <= indent) continue;
      if (closes(tokens_[first].type) && tokens_[first].type != T::RBRACE) continue;
      const bool statement = tokens_[first].type != T::IDENT || tokens_[last].type == T::RPAREN;
      // The line that closes it stands under the header.
      size_t next = line + 1;
      while (next < starts.size() && tokens_[starts[next]].indent > indent) ++next;
      const uint32_t under = next < starts.size() ? tokens_[starts[next]].type : 0;
      int rank = under == T::RBRACE || under == T::GT ? 0 : 700;
      if (!statement) rank += 300;
      const bool super = tokens_[first].type == T::SUPERKERNEL || under == T::GT;
      insert(tokens_[last].end, super ? " <" : " {", Slip::Bracket, rank + static_cast<int>(line % 64));
    }
    // Blocks on one line.
    if (at_ < tokens_.size()) {
      const size_t first = line_start(at_);
      size_t last = first;
      while (last + 1 < tokens_.size() && !tokens_[last + 1].first) ++last;
      for (size_t k = first; k <= last; ++k) {
        const int rank = 1300 + static_cast<int>(std::min<size_t>(k - first, 63));
        if (tokens_[at_].type == T::RBRACE || tokens_[at_].type == T::GT)
          insert(tokens_[k].end, tokens_[at_].type == T::GT ? " <" : " {", Slip::Bracket, rank);
        if (tokens_[at_].type == T::LBRACE || tokens_[at_].type == T::LT)
          insert(tokens_[k].end, tokens_[at_].type == T::LT ? " >" : " }", Slip::Bracket,
                 1300 + 63 - (rank - 1300));
      }
    }
  }

  std::string_view text_;
  const std::vector<Placed>& tokens_;
  const Problem& problem_;
  size_t at_ = 0;
  std::vector<Candidate> group_;
  std::vector<std::vector<Candidate>> groups_;
  std::set<std::pair<uint32_t, std::string>> seen_;
};

}  // namespace

std::vector<std::vector<Candidate>> candidates(std::string_view text, const std::vector<Placed>& tokens,
                                               const Problem& problem) {
  return Finder(text, tokens, problem).run();
}

int wrong_calls(std::string_view text, const std::vector<Placed>& tokens) {
  const auto word = [&](size_t i) { return text.substr(tokens[i].begin, tokens[i].end - tokens[i].begin); };
  struct Call {
    int positional = 0, named = 0;
  };
  const auto count = [&](size_t open) {
    Call c;
    int depth = 0;
    bool any = false, named = false;
    for (size_t k = open; k < tokens.size(); ++k) {
      const uint32_t t = tokens[k].type;
      if (opens(t) && ++depth == 1) continue;
      if (depth == 1 && (t == T::COMMA || closes(t))) {
        if (any) ++(named ? c.named : c.positional);
        any = named = false;
        if (t == T::COMMA) continue;
      }
      if (closes(t) && --depth == 0) break;
      any = true;
      named |= depth == 1 && t == T::ASSIGN;
    }
    return c;
  };
  // What the text declares: the least and the most arguments.
  std::vector<std::tuple<std::string_view, int, int>> declared;
  for (size_t i = 0; i + 2 < tokens.size(); ++i)
    if ((tokens[i].type == T::FN || tokens[i].type == T::LAYER) && tokens[i + 2].type == T::LPAREN) {
      const Call c = count(i + 2);
      // Parameters of a layer may come from the configuration.
      declared.emplace_back(word(i + 1), tokens[i].type == T::LAYER ? 0 : c.positional,
                            c.positional + c.named);
    }
  int wrong = 0;
  for (size_t i = 1; i + 1 < tokens.size(); ++i) {
    if (tokens[i].type != T::IDENT || tokens[i + 1].type != T::LPAREN || tokens[i - 1].type == T::FN ||
        tokens[i - 1].type == T::LAYER || tokens[i - 1].type == T::DOT)
      continue;
    int least = 0, most = -1;
    for (const auto& [name, low, high] : declared)
      if (name == word(i)) least = low, most = high;
    if (most < 0)
      for (const OpInfo& op : kOps)
        if (op.name == word(i)) {
          most = static_cast<int>(op.params.size());
          for (const Param& p : op.params) {
            if (p.variadic) most = 1000;
            least += !p.variadic && !p.optional && !(p.is_attr && !p.default_text.empty()) ? 1 : 0;
          }
        }
    if (most < 0) continue;
    const Call c = count(i + 1);
    wrong += c.positional + c.named < least || c.positional + c.named > most;
  }
  return wrong;
}

}  // namespace skdsl::parse
