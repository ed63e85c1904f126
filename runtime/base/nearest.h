// nearest — "did you mean": the name that a mistyped one was meant to be
#pragma once
#include <cstddef>
#include <string_view>

namespace skdsl {

/// Insertions, deletions and replacements that turn `a` into `b`; `limit + 1` when more than `limit` are
/// needed. Takes time in proportion to length times limit.
size_t edit_distance(std::string_view a, std::string_view b, size_t limit);

/// How many edits still count as a slip for a name of this length.
size_t slip_limit(std::string_view name);

}  // namespace skdsl
