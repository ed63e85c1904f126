// hash — 128 bits of some bytes (XXH3), for finding them again and for noticing damage; no protection against
// an attacker
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace skdsl {

struct Hash {
  uint64_t a = 0, b = 0;
  friend bool operator==(const Hash&, const Hash&) = default;
  /// 32 hexadecimal digits.
  std::string hex() const;
};
Hash hash_of(std::string_view bytes);

}  // namespace skdsl
