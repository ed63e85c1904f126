// tokenizer_components — the stages of a tokenizer.json, one small class for each `type`
//
// A new type is a class and a row in its table (pre_tokenizers.cpp, tokenizer_components.cpp): the rows are
// what an unknown type's error lists as supported.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/json.h"

namespace skdsl::model {

/// Cuts a text into pieces that the model looks at one by one.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  /// Appends the pieces of `text` (UTF-8) to `out`; none is empty.
  virtual Expected<void> split(std::string_view text, std::vector<std::string>& out) const = 0;
};

/// The vocabulary and how a piece becomes ids.
class TokenModel {
 public:
  virtual ~TokenModel() = default;
  virtual Expected<void> encode(std::string_view piece, std::vector<int32_t>& ids) const = 0;
  virtual std::optional<int32_t> id_of(std::string_view token) const = 0;
  virtual const std::string* token_of(int32_t id) const = 0;
  /// One more than the largest id.
  virtual int32_t size() const = 0;
};

/// Adds special tokens around the ids of a text.
class PostProcessor {
 public:
  virtual ~PostProcessor() = default;
  virtual std::vector<int32_t> apply(const std::vector<int32_t>& ids) const = 0;
  /// The special tokens it may add, for checking against the vocabulary.
  virtual std::vector<int32_t> added_ids() const = 0;
};

/// Turns tokens back into text.
class TokenDecoder {
 public:
  virtual ~TokenDecoder() = default;
  /// The bytes that a token contributes; `first` when no token stands before it.
  virtual std::string bytes(std::string_view token, bool first) const = 0;
};

/// Each gives the component that a member of tokenizer.json describes; `where` names the file in messages.
/// JSON null (and a null pointer) is "no such stage", which the model must have.
Expected<std::unique_ptr<PreTokenizer>> make_pre_tokenizer(const Json* json, const std::string& where);
Expected<std::unique_ptr<TokenModel>> make_token_model(const Json* json, const std::string& where);
Expected<std::unique_ptr<PostProcessor>> make_post_processor(const Json* json, const std::string& where);
Expected<std::unique_ptr<TokenDecoder>> make_token_decoder(const Json* json, const std::string& where);
/// Texts are taken as they are: only null is supported.
Expected<void> check_normalizer(const Json* json, const std::string& where);

/// A token id: an integer in [0, 2^31 - 1); nothing when the value is something else.
std::optional<int32_t> token_id(const Json& json);

}  // namespace skdsl::model
