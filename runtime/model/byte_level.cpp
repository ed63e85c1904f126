#include "runtime/model/byte_level.h"

#include <array>

namespace skdsl::model {

namespace {

constexpr bool stands_for_itself(int byte) {
  return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
}

constexpr int kEnd = 0x100 + 68;  // one behind the last character

struct Table {
  std::array<uint16_t, 256> character{};
  std::array<int16_t, kEnd> byte{};
};
constexpr Table make_table() {
  Table table;
  table.byte.fill(-1);
  int next = 0x100;
  for (int b = 0; b < 256; ++b) {
    const int c = stands_for_itself(b) ? b : next++;
    table.character[b] = static_cast<uint16_t>(c);
    table.byte[c] = static_cast<int16_t>(b);
  }
  return table;
}
constexpr Table kTable = make_table();

}  // namespace

std::string to_byte_characters(std::string_view bytes) {
  std::string out;
  out.reserve(2 * bytes.size());
  for (const char b : bytes) {
    const uint16_t c = kTable.character[static_cast<uint8_t>(b)];
    if (c < 0x80) {
      out += static_cast<char>(c);
    } else {
      out += static_cast<char>(0xc0 | c >> 6);
      out += static_cast<char>(0x80 | (c & 0x3f));
    }
  }
  return out;
}

std::optional<std::string> from_byte_characters(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    int c = static_cast<uint8_t>(text[i]);
    if (c >= 0x80) {
      if ((c & 0xe0) != 0xc0 || i + 1 == text.size()) return {};
      c = (c & 0x1f) << 6 | (static_cast<uint8_t>(text[++i]) & 0x3f);
    }
    if (c >= kEnd || kTable.byte[c] < 0) return {};
    out += static_cast<char>(kTable.byte[c]);
  }
  return out;
}

}  // namespace skdsl::model
