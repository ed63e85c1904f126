// utf8 — where characters begin and end
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace skdsl {

/// The byte offset of the first byte that is not well-formed UTF-8 (overlong forms, surrogates and what lies
/// above U+10FFFF included); nothing when all is well.
std::optional<size_t> invalid_utf8(std::string_view text);

/// The largest offset <= `offset` at which no character of `text` is cut.
size_t utf8_floor(std::string_view text, size_t offset);

/// The first and the last character of a text that is UTF-8 and not empty.
std::string_view first_character(std::string_view text);
std::string_view last_character(std::string_view text);

/// How many bytes at the end begin a character that is not complete (0 to 3).
size_t incomplete_utf8_tail(std::string_view text);

/// The text with each malformed byte sequence replaced by U+FFFD.
std::string repaired_utf8(std::string_view text);

}  // namespace skdsl
