#include "cli/repl/input.h"

#include <algorithm>
#include <cctype>

#include "stdlib/op_info.h"

namespace skdsl::cli::repl {

namespace {

bool word_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
         (static_cast<unsigned char>(c) & 0x80) != 0;
}

char closing(char open) { return open == '(' ? ')' : open == '[' ? ']' : '}'; }

}  // namespace

const std::vector<std::string>& keywords() {
  static const std::vector<std::string> kWords{
      "after",     "and",     "config", "const",       "cores",   "decode", "default_weights",
      "draft",     "dump",    "else",   "event",       "extern",  "false",  "fn",
      "for",       "forward", "from",   "gears",       "if",      "import", "in",
      "layer",     "let",     "max",    "model",       "none",    "not",    "or",
      "prefetch",  "prefill", "record", "replace",     "require", "return", "scope_begin",
      "scope_end", "state",   "stream", "superkernel", "tap",     "then",   "true",
      "unused",    "wait",    "weight", "when",        "while"};
  return kWords;
}

std::vector<Piece> pieces(std::string_view text) {
  std::vector<Piece> out;
  size_t i = 0;
  const size_t start = std::min(text.find_first_not_of(" \t\n"), text.size());
  if (start < text.size() && text[start] == ':') {
    const size_t end = std::min(text.find_first_of(" \t\n", start), text.size());
    out.push_back({Token::Command, start, end});
    i = end;
  }
  while (i < text.size()) {
    const char c = text[i];
    const size_t begin = i;
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++i;
      continue;
    }
    if ((c == '/' && text.substr(i, 2) == "//") || (c == '#' && text.substr(i, 2) == "#!")) {
      i = std::min(text.find('\n', i), text.size());
      out.push_back({Token::Comment, begin, i});
    } else if (c == '"') {
      for (++i; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i)
        if (text[i] == '\\' && i + 1 < text.size()) ++i;
      if (i < text.size() && text[i] == '"') ++i;
      i = std::min(i, text.size());
      out.push_back({Token::String, begin, i});
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      while (i < text.size() &&
             (word_char(text[i]) || (text[i] == '.' && i + 1 < text.size() &&
                                     std::isdigit(static_cast<unsigned char>(text[i + 1])) != 0)))
        ++i;
      out.push_back({Token::Number, begin, i});
    } else if (word_char(c)) {
      while (i < text.size() && word_char(text[i])) ++i;
      const std::string word(text.substr(begin, i - begin));
      const bool keyword = std::find(keywords().begin(), keywords().end(), word) != keywords().end();
      const bool op =
          std::any_of(std::begin(kOps), std::end(kOps), [&](const OpInfo& o) { return o.name == word; });
      out.push_back({keyword ? Token::Keyword : op ? Token::Operator : Token::Name, begin, i});
    } else {
      ++i;
      out.push_back(
          {std::string_view("()[]{}").find(c) != std::string_view::npos ? Token::Bracket : Token::Other,
           begin, i});
    }
  }
  return out;
}

bool needs_more(std::string_view text) {
  const std::vector<Piece> all = pieces(text);
  if (!all.empty() && all[0].kind == Token::Command) return false;
  // A super kernel's `<` is the first one behind its word outside of brackets; its `>` stands where a
  // statement could begin, or ends a line.
  std::vector<char> open;
  bool header = false;
  size_t header_depth = 0;
  for (size_t k = 0; k < all.size(); ++k) {
    const Piece& p = all[k];
    const std::string_view word = text.substr(p.begin, p.end - p.begin);
    if (p.kind == Token::Keyword && word == "superkernel") {
      header = true;
      header_depth = open.size();
    } else if (p.kind == Token::Bracket) {
      if (word == "(" || word == "[" || word == "{")
        open.push_back(word[0]);
      else if (!open.empty() && open.back() != '<' && closing(open.back()) == word[0])
        open.pop_back();
    } else if (word == "<" && header && open.size() == header_depth) {
      open.push_back('<');
      header = false;
    } else if (word == ">" && !open.empty() && open.back() == '<') {
      const std::string_view gap =
          k > 0 ? text.substr(all[k - 1].end, p.begin - all[k - 1].end) : std::string_view("\n");
      const std::string_view behind =
          text.substr(p.end, k + 1 < all.size() ? all[k + 1].begin - p.end : std::string_view::npos);
      const bool begins = gap.find('\n') != std::string_view::npos,
                 ends = k + 1 == all.size() || behind.find('\n') != std::string_view::npos ||
                        text[all[k + 1].begin] == '}' || text[all[k + 1].begin] == '>';
      if (begins || ends) open.pop_back();
    }
  }
  return !open.empty() || header;
}

size_t matching_bracket(std::string_view text, size_t at) {
  const std::vector<Piece> all = pieces(text);
  std::vector<size_t> open;
  for (const Piece& p : all) {
    if (p.kind != Token::Bracket) continue;
    const char c = text[p.begin];
    if (c == '(' || c == '[' || c == '{') {
      open.push_back(p.begin);
      continue;
    }
    if (open.empty() || closing(text[open.back()]) != c) return std::string_view::npos;
    if (open.back() == at) return p.begin;
    if (p.begin == at) return open.back();
    open.pop_back();
  }
  return std::string_view::npos;
}

}  // namespace skdsl::cli::repl
