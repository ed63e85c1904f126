// words — taking option text apart
#pragma once
#include <string_view>
#include <vector>

namespace skdsl::superkernel {

/// Without white space at both ends.
std::string_view trim(std::string_view s);
/// The parts between the separators, empty ones included; at least one.
std::vector<std::string_view> split(std::string_view s, char at);

}  // namespace skdsl::superkernel
