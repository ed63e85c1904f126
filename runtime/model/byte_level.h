// byte_level — the printable character that stands for each byte in byte-level vocabularies
//
// As in GPT-2: printable Latin-1 characters stand for themselves, the other bytes take U+0100, U+0101, … in
// order; a blank is `Ġ`.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skdsl::model {

/// The characters of bytes.
std::string to_byte_characters(std::string_view bytes);

/// The bytes behind characters; nothing when one of them stands for no byte.
std::optional<std::string> from_byte_characters(std::string_view text);

/// How byte-level vocabularies cut a text when their file names no pattern of its own (GPT-2's pattern).
inline constexpr std::string_view kByteLevelPattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

}  // namespace skdsl::model
