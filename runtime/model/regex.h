// regex — Unicode regular expressions for pre-tokenizers (the only includer of PCRE2 is regex.cpp)
//
// tokenizer.json patterns are written for Oniguruma: `^` and `$` mean lines, `\w`, `\s` and `\d` mean
// Unicode; regex_syntax.h rewrites what PCRE2 would read differently. They come from a file, so every search
// has a limit; a pattern that explodes is an error, not a hang.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/json.h"

namespace skdsl::model {

class Regex {
 public:
  enum class Syntax { Regex, Literal };
  using Range = std::pair<size_t, size_t>;  // bytes [first, second)

  /// `where` names the place of the pattern in messages.
  static Expected<Regex> compile(std::string_view pattern, Syntax syntax, const std::string& where);

  /// From {"Regex": "…"} or {"String": "…"} as a component's `pattern`; `place` names the component.
  static Expected<Regex> of_pattern(const Json* pattern, const std::string& place);

  /// All matches from left to right, not overlapping. An empty match directly behind another match does not
  /// count. `text` must be UTF-8. Reaching the limit is an error.
  Expected<std::vector<Range>> find_all(std::string_view text) const;

 private:
  std::shared_ptr<const void> code_;
  std::string where_;
};

/// A letter, mark, digit, connector or joiner (`\w` of the tokenizers library); of one UTF-8 character.
bool is_word_character(std::string_view character);
/// Unicode white space; of one UTF-8 character.
bool is_white_space(std::string_view character);

/// The class of word characters, and of white space, for use inside brackets of a pattern.
inline constexpr std::string_view kWordClass = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}";
inline constexpr std::string_view kSpaceClass = "\\p{White_Space}";

}  // namespace skdsl::model
