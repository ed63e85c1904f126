// lexer — tokens of the text form of plans
//
// Newlines do not count; `//` begins a comment. A byte that begins no token gives an Unknown token, which no
// rule of the parser expects.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace skdsl::plan::text {

struct Token {
  enum class Kind : uint8_t { End, Word, Int, Float, String, Symbol, Value, Punct, Unknown };
  Kind kind = Kind::End;
  std::string_view spelling;  // as in the text
  std::string value;          // String and Symbol: without quotes and escapes; Value: the name in %3:name
  uint32_t line = 0;
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  Token next();

 private:
  Token quoted(char quote);
  Token value();
  Token number();
  std::string_view text_;
  size_t at_ = 0;
  uint32_t line_ = 1;
};

}  // namespace skdsl::plan::text
