// span — a place in a source text
#pragma once
#include <cstdint>

namespace skdsl {

/// Bytes [begin, end) of file number `file` (an index into the source table); file 0 is "nowhere".
struct Span {
  uint32_t file = 0;
  uint32_t begin = 0;
  uint32_t end = 0;
  friend bool operator==(const Span&, const Span&) = default;
  explicit operator bool() const { return file != 0; }
};

/// A place as plans print it: 1-based line and column, length in bytes; line 0 is "nowhere".
struct Loc {
  uint32_t file = 0;  // index into Program::files
  uint32_t line = 0;
  uint32_t column = 0;
  uint32_t length = 0;
  friend bool operator==(const Loc&, const Loc&) = default;
};

}  // namespace skdsl
