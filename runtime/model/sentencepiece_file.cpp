#include "runtime/model/sentencepiece_file.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <functional>
#include <optional>
#include <unordered_set>

#include "runtime/base/utf8.h"
#include "runtime/model/token_decoders.h"

namespace skdsl::model {

namespace {

/// One field of a protobuf message.
struct Field {
  uint64_t number = 0;
  uint64_t value = 0;      // of varints and fixed numbers
  std::string_view bytes;  // of strings and messages
};

/// The fields of a message from first to last; gives false when the bytes are no message.
class Message {
 public:
  explicit Message(std::string_view bytes) : bytes_(bytes) {}

  bool read(const std::function<bool(const Field&)>& visit) {
    while (at_ < bytes_.size()) {
      const auto key = varint();
      if (!key || *key >> 3 == 0) return false;
      Field field{*key >> 3};
      switch (*key & 7) {
        case 0: {
          const auto value = varint();
          if (!value) return false;
          field.value = *value;
          break;
        }
        case 1:
        case 5: {
          const size_t size = (*key & 7) == 1 ? 8 : 4;
          if (bytes_.size() - at_ < size) return false;
          for (size_t i = 0; i < size; ++i)
            field.value |= uint64_t{static_cast<uint8_t>(bytes_[at_ + i])} << 8 * i;
          at_ += size;
          break;
        }
        case 2: {
          const auto size = varint();
          if (!size || bytes_.size() - at_ < *size) return false;
          field.bytes = bytes_.substr(at_, *size);
          at_ += *size;
          break;
        }
        default:
          return false;
      }
      if (!visit(field)) return false;
    }
    return true;
  }

 private:
  std::optional<uint64_t> varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && at_ < bytes_.size(); shift += 7) {
      const auto byte = static_cast<uint8_t>(bytes_[at_++]);
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    return {};
  }
  std::string_view bytes_;
  size_t at_ = 0;
};

uint32_t u32_at(std::string_view bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value |= uint32_t{static_cast<uint8_t>(bytes[at + i])} << 8 * i;
  return value;
}

/// The rules of a normalizer: the size of a double-array trie, the trie, texts that end with a zero byte. The
/// library walks the trie without looking at its bounds, so each step it can take must stay inside.
bool charsmap_is_safe(std::string_view map) {
  if (map.empty()) return true;
  if (map.size() < 8) return false;
  const uint32_t trie_bytes = u32_at(map, 0);
  if (trie_bytes % 4 != 0 || trie_bytes < 1024 || trie_bytes >= map.size() - 4) return false;
  const std::string_view texts = map.substr(4 + trie_bytes);
  if (texts.back() != '\0') return false;
  const uint32_t units = trie_bytes / 4;
  for (uint32_t i = 0; i < units; ++i) {
    const uint32_t unit = u32_at(map, 4 + size_t{4} * i);
    // The highest bit marks a value; other units lead to a block of 256.
    if (unit >> 31) {
      if ((unit & 0x7fffffffu) >= texts.size()) return false;
    } else if (((i ^ ((unit >> 10) << ((unit & (1u << 9)) >> 6))) | 0xff) >= units) {
      return false;
    }
  }
  return true;
}

class Reader {
 public:
  explicit Reader(const std::string& where) : where_(where) {}

  Expected<SentencePieceFile> run(std::string_view bytes) {
    const bool good = Message(bytes).read([&](const Field& field) {
      switch (field.number) {
        case 1:
          return piece(field.bytes);
        case 2:
          return trainer(field.bytes);
        case 3:
          return normalizer(field.bytes, true);
        case 5:
          return normalizer(field.bytes, false);
        default:
          return true;
      }
    });
    if (!wrong_.empty()) return fail(fmt::format("`{}`: {}", where_, wrong_));
    if (!good)
      return fail(fmt::format("`{}`: this is no SentencePiece model: the bytes are damaged or cut", where_));
    if (out_.pieces.empty())
      return fail(fmt::format("`{}`: this is no SentencePiece model: it has no pieces", where_));
    return std::move(out_);
  }

 private:
  bool wrong(std::string message) {
    if (wrong_.empty()) wrong_ = std::move(message);
    return false;
  }

  bool piece(std::string_view bytes) {
    SentencePieceFile::Entry entry;
    const size_t id = out_.pieces.size();
    uint64_t type = 1;
    float score = 0;
    const bool good = Message(bytes).read([&](const Field& field) {
      if (field.number == 1) entry.text = field.bytes;
      if (field.number == 2) score = std::bit_cast<float>(static_cast<uint32_t>(field.value));
      if (field.number == 3) type = field.value;
      return true;
    });
    if (!good) return wrong(fmt::format("piece {} is damaged", id));
    if (type < 1 || type > 6)
      return wrong(fmt::format("piece {} has the type {}; there are 1 to 6", id, type));
    entry.type = static_cast<PieceType>(type);
    if (entry.text.empty() || invalid_utf8(entry.text) || entry.text.find('\0') != std::string::npos)
      return wrong(fmt::format("piece {} is empty, has a zero byte or is not UTF-8", id));
    if (entry.text.size() > 65536)
      return wrong(fmt::format("piece {} has {} bytes; at most 65536 are supported", id, entry.text.size()));
    if (!std::isfinite(score))
      return wrong(fmt::format("piece {} (`{}`) has a score that is not finite", id, entry.text));
    if (entry.type == PieceType::Byte && !byte_of_token(entry.text))
      return wrong(
          fmt::format("piece {} (`{}`) is of type byte, but does not look like `<0x41>`", id, entry.text));
    if (!seen_.insert(entry.text).second)
      return wrong(fmt::format("piece {} (`{}`) stands twice", id, entry.text));
    out_.pieces.push_back(std::move(entry));
    return true;
  }

  bool trainer(std::string_view bytes) {
    const bool good = Message(bytes).read([&](const Field& field) {
      if (field.number == 44) out_.unknown_surface = field.bytes;
      return true;
    });
    if (!good) return wrong("trainer_spec is damaged");
    if (invalid_utf8(out_.unknown_surface)) return wrong("trainer_spec.unk_surface is not UTF-8");
    return true;
  }

  bool normalizer(std::string_view bytes, bool encodes) {
    bool safe = true;
    const bool good = Message(bytes).read([&](const Field& field) {
      if (field.number == 2 && !encodes && !field.bytes.empty())
        return wrong(
            "denormalizer_spec has rules of its own (precompiled_charsmap); only an empty one is supported");
      if (field.number == 2) safe = charsmap_is_safe(field.bytes);
      if (field.number == 3 && encodes) out_.add_dummy_prefix = field.value != 0;
      if (field.number == 4 && encodes) out_.remove_extra_whitespaces = field.value != 0;
      if (field.number == 5 && encodes && field.value == 0)
        return wrong("normalizer_spec.escape_whitespaces is false; only true is supported");
      return true;
    });
    if (!good) return wrong("normalizer_spec is damaged");
    return safe || wrong("normalizer_spec.precompiled_charsmap is damaged: a rule points outside of it");
  }

  const std::string& where_;
  std::string wrong_;
  std::unordered_set<std::string> seen_;
  SentencePieceFile out_;
};

}  // namespace

Expected<SentencePieceFile> read_sentencepiece_file(std::string_view bytes, const std::string& where) {
  return Reader(where).run(bytes);
}

}  // namespace skdsl::model
