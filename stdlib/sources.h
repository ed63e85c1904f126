// sources — the shipped standard library as text, so that a program needs no files beside it
#pragma once
#include <span>
#include <string_view>

namespace skdsl {

struct ShippedSource {
  std::string_view name;  // "std/attention.sk"
  std::string_view text;
};
std::span<const ShippedSource> shipped_sources();

}  // namespace skdsl
