// mistakes — one slip of somebody who writes .sk
//
// Each kind changes one place of a text. What a report has to touch is noted beside it, in bytes of the text
// with the mistake:
//
//   a replaced word       the new word
//   a deleted word        its two neighbours, and for a bracket the one that it paired with
//   swapped arguments     both arguments
//
// A mistake is two-sided when the text says two things that do not agree and nothing in it tells which of
// them is meant: swapped arguments (call and declaration), a bracket and its partner, a declared size and its
// use, a name that is defined in one spelling and used in another. Then the place may be shown by a note of
// the report as well.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace skdsl::quality {

enum class Kind : uint8_t {
  IdentifierTypo,
  SwappedArguments,
  MissingOperand,
  WrongShape,
  DeletedBracket,
  WrongKeyword,
  WrongOptionValue,
};
inline constexpr std::array kKinds = {Kind::IdentifierTypo,  Kind::SwappedArguments, Kind::MissingOperand,
                                      Kind::WrongShape,      Kind::DeletedBracket,   Kind::WrongKeyword,
                                      Kind::WrongOptionValue};
std::string_view name(Kind kind);

struct Range {
  uint32_t begin = 0;
  uint32_t end = 0;
};

struct Mistake {
  Kind kind = Kind::IdentifierTypo;
  std::string text;
  std::vector<Range> places;  // what a report has to touch
  bool two_sided = false;
  std::string what;  // "`hidden_size` -> `hiden_size`"
};

using Random = std::mt19937_64;

/// Nothing when the text has no place for such a mistake, or the draw found none.
std::optional<Mistake> make_mistake(Kind kind, std::string_view text, Random& random);

}  // namespace skdsl::quality
