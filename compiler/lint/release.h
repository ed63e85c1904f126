// release — which of two CANN releases is the older one
#pragma once
#include <charconv>
#include <string_view>

namespace skdsl::lint {

/// Whether a release ("8.5", "8.5.0") is older than major.minor; what is no release is not.
inline bool older(std::string_view release, int major, int minor) {
  int a = 0, b = 0;
  const char* end = release.data() + release.size();
  const auto [dot, error] = std::from_chars(release.data(), end, a);
  if (error != std::errc()) return false;
  if (dot != end && *dot == '.') std::from_chars(dot + 1, end, b);
  return a < major || (a == major && b < minor);
}

}  // namespace skdsl::lint
