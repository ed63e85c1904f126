// text — spellings shared by the printer and the parser of plans
#pragma once
#include <string>
#include <string_view>

#include "runtime/plan/plan.h"

namespace skdsl::plan::text {

/// Letters, digits, `_` and `.`, not starting with a digit or dot, and no word that the text form uses for
/// values.
bool is_identifier(std::string_view s);
/// "…" with \" \\ \n \t \r \xNN; bytes of UTF-8 stay.
std::string quoted(std::string_view s, char quote = '"');
/// An identifier as it is, anything else quoted.
std::string word(std::string_view s);
/// A symbol in a dim: an identifier as it is, anything else between back-ticks.
std::string symbol(std::string_view s);
/// Shortest text that reads back as the same bits; always looks like a float ("1.0"); NaN as nan(0x…).
std::string number(double x);

std::string_view name(Context::Kind kind);  // "superkernel", "no_superkernel", "stream", "cores"
std::string_view name(Storage storage);     // "input", "arena", …
std::string_view name(Step::Kind kind);     // "call", "record", …
std::string_view name(Core core);           // "aic", "mix11", …

/// Program::text for programs that were not verified: ids out of range print as ?n.
std::string of(const Program& program, const Dim& dim);
std::string of(const Program& program, const Type& type);

/// "constant 3 : f32[2] = [1, 2.5]" without the first two words.
std::string of(const ConstantData& data);
std::string of(const Loc& loc);  // "loc(1:2:3+4)"

/// Elements of a shape times the bytes of the dtype; nothing when a dim is negative or the product does not
/// fit.
std::optional<uint64_t> byte_size(DType dtype, const std::vector<int64_t>& shape);

}  // namespace skdsl::plan::text
