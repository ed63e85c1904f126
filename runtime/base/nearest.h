// nearest — "did you mean": the name that a mistyped one was meant to be
#pragma once
#include <cstddef>
#include <string_view>

namespace skdsl {

/// Insertions, deletions, replacements and exchanges of neighbours that turn `a` into `b`
/// (Damerau-Levenshtein, optimal string alignment); `limit + 1` as soon as it must be more than `limit`.
size_t edit_distance(std::string_view a, std::string_view b, size_t limit);

/// How many edits still count as a slip for a name of this length.
size_t slip_limit(std::string_view name);

}  // namespace skdsl
