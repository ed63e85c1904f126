// tokenizer — text to ids and back, as tokenizer.json or tokenizer.model says
//
//   text ─► added tokens cut out ─► normalizer ─► pre-tokenizer ─► model ─► post-processor ─► ids
//   ids  ─► tokens ─► decoder ─► text
//
// Each stage of a tokenizer.json is a component with a `type`; the tables behind tokenizer_components.h list
// the types that are understood. A type or a member that is not is refused by name: ids from a
// half-understood tokenizer would be wrong silently.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/error.h"

namespace skdsl::model {

class Tokenizer {
 public:
  /// Whether a folder has a tokenizer.json or a tokenizer.model at all (without one, runs print ids).
  static bool present(const std::filesystem::path& folder);
  /// Reads the folder's tokenizer.json, or, without one, its tokenizer.model.
  static Expected<Tokenizer> open(const std::filesystem::path& folder);
  /// From the text of a tokenizer.json; `where` names the file in messages.
  static Expected<Tokenizer> from_json(std::string_view text, const std::string& where);
  /// From the bytes of a tokenizer.model (SentencePiece); `config` is the text of the tokenizer_config.json
  /// beside it, or empty.
  static Expected<Tokenizer> from_sentencepiece(std::string_view bytes, const std::string& where,
                                                std::string_view config = {},
                                                const std::string& config_where = {});

  /// The ids of a text, with the special tokens that the post-processor adds. Text that is not UTF-8, or a
  /// piece that is neither in the vocabulary nor replaced by an unknown token, is an error.
  Expected<std::vector<int32_t>> encode(std::string_view text, bool add_special = true) const;

  /// The text of ids; ids that are no tokens give nothing.
  std::string decode(std::span<const int32_t> ids, bool skip_special) const;

  std::optional<int32_t> id_of(std::string_view token) const;
  /// The token as the vocabulary spells it; null for an id that is no token.
  const std::string* token_of(int32_t id) const;
  bool is_special(int32_t id) const;
  /// One more than the largest id.
  int32_t vocab_size() const;

  struct Parts;

 private:
  friend class StreamDecoder;
  explicit Tokenizer(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}
  std::shared_ptr<const Parts> parts_;  // immutable: copies share it, threads may too
};

}  // namespace skdsl::model
