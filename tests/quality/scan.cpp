#include "tests/quality/scan.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace skdsl::quality {
namespace {

bool alpha(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Keywords wherever they stand.
const std::set<std::string_view> kHard = {
    "import", "require",     "fn",    "layer",  "extern", "let",     "return",      "for",      "in",   "if",
    "then",   "else",        "while", "weight", "const",  "state",   "prefill",     "decode",   "when", "and",
    "or",     "superkernel", "not",   "true",   "false",  "forward", "scope_begin", "scope_end"};
/// Keywords at the beginning of a line.
const std::set<std::string_view> kStarters = {"config", "model",  "draft", "stream",          "cores",
                                              "event",  "record", "wait",  "default_weights", "prefetch",
                                              "gears",  "dump",   "tap",   "unused",          "replace"};
/// Keywords behind an operand.
const std::set<std::string_view> kInfix = {"from", "after", "uninitialized"};

}  // namespace

std::vector<Word> scan(std::string_view text) {
  std::vector<Word> words;
  bool first = true;
  const auto n = static_cast<uint32_t>(text.size());
  for (uint32_t i = 0; i < n;) {
    const char c = text[i];
    if (c == '\n') first = true;
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++i;
      continue;
    }
    const bool comment = text.substr(i, 2) == "//" || text.substr(i, 2) == "#!";
    if (comment) {
      while (i < n && text[i] != '\n') ++i;
      continue;
    }
    Word w;
    w.begin = i;
    w.first_on_line = first;
    first = false;
    if (c == '"') {
      w.kind = Word::Kind::String;
      for (++i; i < n && text[i] != '"' && text[i] != '\n'; ++i)
        if (text[i] == '\\') ++i;
      if (i < n) ++i;
    } else if (digit(c)) {
      w.kind = Word::Kind::Number;
      while (i < n &&
             (alpha(text[i]) || (text[i] == '.' && i + 1 < n && digit(text[i + 1]) && text[i - 1] != '.') ||
              ((text[i] == '-' || text[i] == '+') && (text[i - 1] == 'e' || text[i - 1] == 'E'))))
        ++i;
    } else if (alpha(c)) {
      w.kind = Word::Kind::Name;
      while (i < n && alpha(text[i])) ++i;
    } else {
      static constexpr std::string_view kTwo[] = {"->", "==", "!=", "<=", ">=", "..", "**"};
      const bool two = std::find(std::begin(kTwo), std::end(kTwo), text.substr(i, 2)) != std::end(kTwo);
      i += two ? 2 : 1;
    }
    w.end = i;
    words.push_back(w);
  }
  return words;
}

std::vector<int> pairs(std::string_view text, const std::vector<Word>& words) {
  std::vector<int> match(words.size(), -1);
  std::vector<size_t> open;
  bool header = false;  // of a super kernel whose `<` is still to come
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view w = text.substr(words[i].begin, words[i].end - words[i].begin);
    if (words[i].first_on_line) header = w == "superkernel";
    if (w == "(" || w == "[" || w == "{") open.push_back(i);
    if (w == "<" && header) {
      open.push_back(i);
      header = false;
    }
    const bool closes = w == ")" || w == "]" || w == "}" ||
                        (w == ">" && !open.empty() && text[words[open.back()].begin] == '<');
    if (!closes || open.empty()) continue;
    match[i] = static_cast<int>(open.back());
    match[open.back()] = static_cast<int>(i);
    open.pop_back();
  }
  return match;
}

bool is_keyword(std::string_view text, const std::vector<Word>& words, size_t i) {
  if (words[i].kind != Word::Kind::Name) return false;
  const auto at = [&](size_t k) { return text.substr(words[k].begin, words[k].end - words[k].begin); };
  if (i > 0 && at(i - 1) == ".") return false;
  const std::string_view next = i + 1 < words.size() ? at(i + 1) : std::string_view();
  const std::string_view word = at(i);
  if (kHard.contains(word)) return next != "=" && next != ":";
  if (kStarters.contains(word))
    return words[i].first_on_line && next != "=" && next != ":" && next != "." &&
           (next != "(" || word == "cores");
  return kInfix.contains(word) && i > 0 && !words[i].first_on_line && next != "=" && next != ":" &&
         next != "(" && next != ")" && next != ",";
}

}  // namespace skdsl::quality
