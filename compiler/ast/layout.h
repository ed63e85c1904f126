// layout — one statement's words into lines of at most kColumns
//
// Words come with the places where a line may end. When a line is full it ends at the place of the lowest
// rank, the last one of them: commas of the outer brackets first, then inner ones, then operators, at last
// after `=`.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace skdsl::ast {

inline constexpr size_t kColumns = 110;
inline constexpr size_t kContinuation = 4;  // further indent of the lines after the first

inline constexpr uint16_t kNoBreak = 0xffff;

struct Word {
  std::string_view text;
  bool space = false;        // one stands after it, unless the line ends there
  uint16_t rank = kNoBreak;  // of ending the line after it
};

/// Appends the words to `out`, indented, without a final newline.
void lay_out(const std::vector<Word>& words, size_t indent, std::string& out);

}  // namespace skdsl::ast
