#include "compiler/parse/repair.h"

#include <algorithm>
#include <optional>

namespace skdsl::parse {
namespace {

constexpr size_t kMaxProblems = 8;       // a text with more of them is not read by its author's slip
constexpr size_t kMaxRepairs = 3;        // of one text
constexpr size_t kMaxBytes = 1u << 19u;  // that all trials together read
constexpr size_t kMaxTrials = 200;

/// Changes that were made to a text, to find places of the text before them.
class Changes {
 public:
  void add(uint32_t begin, uint32_t end, size_t size) {
    list_.push_back({begin, end, static_cast<uint32_t>(size)});
  }
  uint32_t back(uint32_t at) const {
    for (size_t i = list_.size(); i-- > 0;) {
      const Change& c = list_[i];
      if (at >= c.begin + c.size)
        at = at - c.size + (c.end - c.begin);
      else if (at > c.begin)
        at = c.begin + std::min(at - c.begin, c.end - c.begin);
    }
    return at;
  }
  Span back(Span s) const { return {s.file, back(s.begin), std::max(back(s.begin), back(s.end))}; }
  void back(Problem& p) const {
    p.span = back(p.span);
    for (diag::Note& note : p.notes) note.span = back(note.span);
    for (diag::Edit& edit : p.edits) edit.span = back(edit.span);
  }

 private:
  struct Change {
    uint32_t begin, end, size;
  };
  std::vector<Change> list_;
};

/// Whether the problem is about a token that does not go on. Others know what is wrong already.
bool repairable(const Problem& p) {
  if (p.id != diag::Id::SyntaxError)
    return p.id == diag::Id::UnbalancedBracket || p.id == diag::Id::SuperKernelUnbalanced ||
           p.id == diag::Id::UnknownCharacter || p.id == diag::Id::UnclosedString;
  const std::string& message = p.args[0];
  const auto says = [&](std::string_view part) { return message.find(part) != std::string::npos; };
  return (message.starts_with("expected ") && says(" before ")) || message.starts_with("unexpected ") ||
         message.starts_with("unknown keyword") || says(" stands in ");
}

std::string changed(std::string_view text, const Candidate& c) {
  std::string out(text.substr(0, c.begin));
  out += c.text;
  out += text.substr(c.end);
  return out;
}

class Repairer {
 public:
  Repairer(std::string_view text, uint32_t file, const Trial& trial)
      : text_(text), file_(file), trial_(trial) {}

  void run(Problems& problems) {
    problems.sort();
    Problems now;
    now.list() = problems.list();
    std::vector<Problem> told;
    Changes changes;
    size_t hopeless = 0;  // problems at the front that no trial removed
    // Behind a problem that nothing near it removes the others are not worth the time.
    while (told.size() < kMaxRepairs && hopeless < now.size() && hopeless < 1) {
      const Problem first = now.list()[hopeless];
      Problems left;
      const auto best = repairable(first) ? find(first, now.size(), left) : std::nullopt;
      if (!best) {
        ++hopeless;
        continue;
      }
      Problem p = described(first, *best, now.size() - left.size());
      p.edits.push_back({{file_, best->begin, best->end}, best->text});
      changes.back(p);
      told.push_back(std::move(p));
      changes.add(best->begin, best->end, best->text.size());
      text_ = changed(text_, *best);
      left.sort();
      now = std::move(left);
    }
    for (Problem& p : now.list()) {
      changes.back(p);
      told.push_back(std::move(p));
    }
    problems.list() = std::move(told);
  }

 private:
  std::optional<Candidate> find(const Problem& problem, size_t problems, Problems& left) {
    const std::vector<Placed> tokens = place_tokens(text_, lexer_);
    std::optional<Candidate> best;
    size_t fewest = problems;
    for (const auto& group : candidates(text_, tokens, problem)) {
      struct Good {
        const Candidate* candidate;
        int calls;
      };
      std::vector<Good> good;
      for (const Candidate& c : group) {
        if (trials_ >= kMaxTrials || bytes_ + text_.size() > kMaxBytes) break;
        ++trials_;
        bytes_ += text_.size();
        const std::string text = changed(text_, c);
        Problems found;
        trial_(text, found);
        // A later group has to be better than an earlier one.
        if (found.size() > fewest || (good.empty() && found.size() == fewest)) continue;
        if (found.size() < fewest) good.clear();
        fewest = found.size();
        // Where layout leaves several places for a bracket, calls of known functions decide.
        const int calls = c.slip == Slip::Bracket ? wrong_calls(text, place_tokens(text, lexer_)) : 0;
        good.push_back({&c, calls});
        if (good.size() == 1) left = std::move(found);
        if (c.slip != Slip::Bracket && fewest == 0) break;
      }
      if (good.empty()) continue;
      const auto winner = std::min_element(good.begin(), good.end(), [](const Good& a, const Good& b) {
        return std::pair(a.calls, a.candidate->rank) < std::pair(b.calls, b.candidate->rank);
      });
      best = *winner->candidate;
      if (fewest == 0) break;
    }
    if (best && fewest > 0) {  // the problems of the winner itself
      left = {};
      trial_(changed(text_, *best), left);
    }
    return best;
  }

  std::string word(uint32_t begin, uint32_t end) const {
    return fmt::format("`{}`", text_.substr(begin, end - begin));
  }

  Problem described(const Problem& first, const Candidate& c, size_t removed) {
    Problem p = first;
    std::erase_if(p.helps, [](const std::string& help) { return help.starts_with("did you mean"); });
    const Span place{file_, c.begin, c.end};
    const auto elsewhere = [&](std::string message) {
      if (p.span.begin <= c.begin && c.begin < p.span.end) return;
      p = {place, diag::Id::SyntaxError, {std::move(message)}, {}, {}, {}};
    };
    switch (c.slip) {
      case Slip::OtherKeyword:
        // That some other keyword would do does not make this one wrong, unless several problems come from
        // it.
        if (removed < 2) {
          p.helps.push_back(fmt::format("`{}` would fit in place of {}", c.text, word(c.begin, c.end)));
          break;
        }
        [[fallthrough]];
      case Slip::Keyword:
        elsewhere(fmt::format("{} does not fit here", word(c.begin, c.end)));
        p.helps.push_back(fmt::format("did you mean `{}`?", c.text));
        break;
      case Slip::Operator: {
        if (first.id != diag::Id::SyntaxError) break;
        const bool plain = first.args[0].starts_with("expected an expression") ||
                           first.args[0].starts_with("expected newline") ||
                           first.args[0].starts_with("unexpected");
        if (!plain) break;
        const size_t from = text_.find_first_not_of(" \t\n", c.begin);
        auto begin = static_cast<uint32_t>(std::min<size_t>(from, c.end));
        if (!c.text.empty())  // an operand behind the operator, not the operator itself
          for (begin = c.begin; begin > 0 && std::isspace(static_cast<unsigned char>(text_[begin - 1])) == 0;)
            --begin;
        const std::string op = word(begin, c.end);
        const bool behind = first.span.begin >= c.end;
        p = {{file_, begin, c.end},
             diag::Id::SyntaxError,
             {fmt::format("expected an expression {} {}", behind ? "after" : "before", op)},
             {},
             {c.text.empty() ? fmt::format("write the operand, or leave {} out", op)
                             : fmt::format("write the operand, such as `{}`", c.text.substr(1))},
             {}};
        break;
      }
      case Slip::Bracket:
        describe_bracket(p, c);
        break;
      case Slip::Character:
        break;
      case Slip::Surplus:
        p.helps.push_back(fmt::format("leave {} out", word(c.begin, c.end)));
        break;
      case Slip::Missing:
        p.helps.push_back(fmt::format("a `{}` may be missing",
                                      std::string_view(c.text).substr(c.text.find_first_not_of(' '))));
        break;
    }
    return p;
  }

  /// Both ends of the bracket that is missing: the one that stands there, and where the other belongs.
  void describe_bracket(Problem& p, const Candidate& c) {
    const std::vector<Placed> tokens = place_tokens(changed(text_, c), lexer_);
    const size_t at = c.text.find_first_of("()[]{}");
    if (at == std::string::npos) return;
    const bool opens = std::string_view("([{").find(c.text[at]) != std::string_view::npos;
    size_t i = 0;
    while (i < tokens.size() && tokens[i].begin < c.begin + at) ++i;
    const size_t other = i < tokens.size() ? partner(tokens, i) : tokens.size();
    if (other >= tokens.size()) return;
    const auto before = [&](uint32_t x) {
      return x <= c.begin ? x : x - static_cast<uint32_t>(c.text.size()) + (c.end - c.begin);
    };
    Span there{file_, before(tokens[other].begin), before(tokens[other].end)};
    // Of several equal brackets the one that was seen first speaks.
    if (p.id == diag::Id::UnbalancedBracket && text_.substr(p.span.begin, p.span.end - p.span.begin) ==
                                                   text_.substr(there.begin, there.end - there.begin))
      there = p.span;
    const size_t neighbour = opens ? std::min(i + 1, tokens.size() - 1) : i - std::min<size_t>(i, 1);
    const Span gap{file_, before(tokens[neighbour].begin), before(tokens[neighbour].end)};
    p = {there,
         diag::Id::UnbalancedBracket,
         {fmt::format(fmt::runtime(opens ? "{} closes nothing" : "{} is never closed"),
                      word(there.begin, there.end))},
         {{gap, fmt::format("`{}` is missing {} this", c.text[at], opens ? "before" : "after")}},
         {},
         {}};
  }

  std::string text_;
  uint32_t file_;
  const Trial& trial_;
  Lexer lexer_;
  size_t trials_ = 0;
  size_t bytes_ = 0;
};

}  // namespace

void repair(std::string_view text, uint32_t file, const Trial& trial, Problems& problems) {
  if (problems.size() == 0 || problems.size() > kMaxProblems || text.size() > kMaxBytes / 8) return;
  Repairer(text, file, trial).run(problems);
}

std::vector<Placed> place_tokens(std::string_view text, Lexer& lexer) {
  Problems ignored;
  const std::vector<Raw> raw = lexer.lex(text, 0, 0, static_cast<uint32_t>(text.size()), nullptr, ignored);
  std::vector<Placed> out;
  out.reserve(raw.size());
  uint32_t line = 0;
  bool first = true;
  uint32_t indent = 0;
  for (const Raw& r : raw) {
    if (r.type == T::NEWLINE) {
      line = r.end;
      first = true;
      if (!out.empty()) out.back().last = true;
      continue;
    }
    if (first) indent = r.begin - line;
    out.push_back({r.begin, r.end, r.type, first, false, indent});
    first = false;
  }
  if (!out.empty()) out.back().last = true;
  return out;
}

size_t partner(const std::vector<Placed>& tokens, size_t i) {
  const auto opens = [](uint32_t t) { return t == T::LPAREN || t == T::LBRACKET || t == T::LBRACE; };
  const auto closes = [](uint32_t t) { return t == T::RPAREN || t == T::RBRACKET || t == T::RBRACE; };
  int depth = 0;
  if (opens(tokens[i].type)) {
    for (size_t k = i; k < tokens.size(); ++k) {
      depth += opens(tokens[k].type) ? 1 : closes(tokens[k].type) ? -1 : 0;
      if (depth == 0) return k;
    }
  } else if (closes(tokens[i].type)) {
    for (size_t k = i + 1; k-- > 0;) {
      depth += closes(tokens[k].type) ? 1 : opens(tokens[k].type) ? -1 : 0;
      if (depth == 0) return k;
    }
  }
  return tokens.size();
}

}  // namespace skdsl::parse
