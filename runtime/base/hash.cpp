#include "runtime/base/hash.h"

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace skdsl {

std::string Hash::hex() const { return fmt::format("{:016x}{:016x}", a, b); }

Hash hash_of(std::string_view bytes) {
  const XXH128_hash_t h = XXH3_128bits(bytes.data(), bytes.size());
  return {h.high64, h.low64};
}

}  // namespace skdsl
