#include "compiler/ast/layout.h"

namespace skdsl::ast {
namespace {

size_t columns(std::string_view text) {
  size_t n = 0;
  for (const char c : text) n += (static_cast<unsigned char>(c) & 0xc0u) != 0x80u;
  return n;
}

}  // namespace

void lay_out(const std::vector<Word>& words, size_t indent, std::string& out) {
  size_t first = 0;  // of the line at hand
  size_t margin = indent;
  while (first < words.size()) {
    size_t column = margin;
    size_t last = first;         // one past the last word of the line
    size_t best = words.size();  // the word after which it ends if it does not fit
    bool fits = true;
    for (size_t i = first; i < words.size(); ++i) {
      column += columns(words[i].text);
      if (column > kColumns && best != words.size()) {
        fits = false;
        break;
      }
      if (words[i].rank != kNoBreak && (best == words.size() || words[i].rank <= words[best].rank)) best = i;
      // Too long already without a place to end at: the next place does.
      if (column > kColumns && best == i) {
        fits = i + 1 == words.size();
        break;
      }
      column += words[i].space ? 1 : 0;
      last = i + 1;
    }
    if (fits)
      last = words.size();
    else
      last = best + 1;
    out.append(margin, ' ');
    for (size_t i = first; i < last; ++i) {
      out += words[i].text;
      if (words[i].space && i + 1 < last) out += ' ';
    }
    first = last;
    margin = indent + kContinuation;
    if (first < words.size()) out += '\n';
  }
}

}  // namespace skdsl::ast
