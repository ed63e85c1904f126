// sha256 — FIPS 180-4, for names and checksums of cached objects
#pragma once
#include <string>
#include <string_view>

namespace skdsl::jit {

/// 64 hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace skdsl::jit
