// scan — the words of a .sk text, read apart from the compiler's own lexer
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace skdsl::quality {

struct Word {
  enum class Kind : uint8_t { Name, Number, String, Mark };
  Kind kind = Kind::Mark;
  uint32_t begin = 0;
  uint32_t end = 0;
  bool first_on_line = false;
};

/// Words without blanks and comments.
std::vector<Word> scan(std::string_view text);

/// For each word the index of the bracket that pairs with it, or -1; `<` and `>` of super kernels pair too.
std::vector<int> pairs(std::string_view text, const std::vector<Word>& words);

/// Whether a name is a keyword where it stands (`max` in `max(a, b)` is none).
bool is_keyword(std::string_view text, const std::vector<Word>& words, size_t i);

}  // namespace skdsl::quality
