#include "runtime/base/utf8.h"

#include <algorithm>
#include <cstdint>

namespace skdsl {

namespace {

uint8_t byte_at(std::string_view text, size_t i) { return static_cast<uint8_t>(text[i]); }

/// What a lead byte promises: the length of its sequence and the range of the second byte (which excludes
/// overlong forms, surrogates and values above U+10FFFF). Length 0: no lead byte.
struct Lead {
  size_t length;
  uint8_t low;
  uint8_t high;
};
Lead lead(uint8_t b) {
  if (b < 0x80) return {1, 0, 0};
  if (b < 0xc2) return {0, 0, 0};
  if (b < 0xe0) return {2, 0x80, 0xbf};
  if (b == 0xe0) return {3, 0xa0, 0xbf};
  if (b == 0xed) return {3, 0x80, 0x9f};
  if (b < 0xf0) return {3, 0x80, 0xbf};
  if (b == 0xf0) return {4, 0x90, 0xbf};
  if (b < 0xf4) return {4, 0x80, 0xbf};
  if (b == 0xf4) return {4, 0x80, 0x8f};
  return {0, 0, 0};
}

struct Sequence {
  size_t good;    // bytes that may belong to one character
  bool complete;  // it is one
  bool cut;       // it would be one if the text went on
};
Sequence sequence(std::string_view text, size_t at) {
  const Lead l = lead(byte_at(text, at));
  if (l.length == 0) return {0, false, false};
  size_t n = 1;
  for (; n < l.length && at + n < text.size(); ++n) {
    const uint8_t low = n == 1 ? l.low : 0x80;
    const uint8_t high = n == 1 ? l.high : 0xbf;
    const uint8_t b = byte_at(text, at + n);
    if (b < low || b > high) return {n, false, false};
  }
  return {n, n == l.length, n < l.length};
}

}  // namespace

std::optional<size_t> invalid_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const Sequence s = sequence(text, i);
    if (!s.complete) return i;
    i += s.good;
  }
  return {};
}

size_t utf8_floor(std::string_view text, size_t offset) {
  if (offset >= text.size()) return text.size();
  for (size_t back = 0; back < 4 && back <= offset; ++back)
    if ((byte_at(text, offset - back) & 0xc0) != 0x80) return offset - back;
  return offset;
}

std::string_view first_character(std::string_view text) {
  size_t n = 1;
  while (n < text.size() && (byte_at(text, n) & 0xc0) == 0x80) ++n;
  return text.substr(0, n);
}

std::string_view last_character(std::string_view text) {
  return text.substr(utf8_floor(text, text.size() - 1));
}

size_t incomplete_utf8_tail(std::string_view text) {
  for (size_t n = 1; n <= std::min<size_t>(3, text.size()); ++n)
    if (sequence(text, text.size() - n).cut) return n;
  return 0;
}

std::string repaired_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const Sequence s = sequence(text, i);
    if (s.complete) {
      out += text.substr(i, s.good);
    } else {
      out += "\xef\xbf\xbd";
    }
    i += std::max<size_t>(s.good, 1);
  }
  return out;
}

}  // namespace skdsl
