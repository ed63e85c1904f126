// tokenizer_components — the stages of a tokenizer.json, one small class for each `type`
//
// A new type is a class and a row in its table: normalizers.cpp, pre_tokenizers.cpp, token_models.cpp,
// post_processors.cpp, token_decoders.cpp. The rows are what an unknown type's error lists as supported.
// Behaviour is that of the Hugging Face tokenizers library, which tests compare with.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/json.h"

namespace skdsl::model {

/// A stretch of text on its way; `at_start` when it begins where the whole text begins.
struct Piece {
  std::string text;
  bool at_start = false;
};

/// Rewrites a text before it is cut.
class Normalizer {
 public:
  virtual ~Normalizer() = default;
  virtual Expected<void> normalize(Piece& piece) const = 0;
};

/// Cuts a text into pieces that the model looks at one by one, and may rewrite them.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  /// Appends the pieces of `piece` (UTF-8, not empty) to `out`; none is empty.
  virtual Expected<void> split(Piece piece, std::vector<Piece>& out) const = 0;
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
  virtual std::vector<int32_t> apply(std::vector<int32_t> ids) const = 0;
  /// The special tokens it may add, for checking against the vocabulary.
  virtual std::vector<int32_t> added_ids() const = 0;
};

/// One step from tokens to text, for one stream of tokens.
///
/// Tokens come and go in fragments of whole characters: `ends` is set on the last fragment of a token, so a
/// stage that joins tokens passes on text without waiting for the last of them.
class DecodeStage {
 public:
  using Out = std::function<void(std::string_view text, bool ends)>;
  virtual ~DecodeStage() = default;
  virtual void push(std::string_view text, bool ends, const Out& out) = 0;
  /// No token follows; gives what was held back.
  virtual void finish(const Out&) {}
};

/// Turns tokens back into text.
class TokenDecoder {
 public:
  virtual ~TokenDecoder() = default;
  /// Appends the stages of a new stream, in order.
  virtual void start(std::vector<std::unique_ptr<DecodeStage>>& stages) const = 0;
};

/// Each gives the component that a member of tokenizer.json describes; `where` names the file in messages.
/// JSON null (and a null pointer) is "no such stage", which the model must have.
Expected<std::unique_ptr<Normalizer>> make_normalizer(const Json* json, const std::string& where);
Expected<std::unique_ptr<PreTokenizer>> make_pre_tokenizer(const Json* json, const std::string& where);
Expected<std::unique_ptr<TokenModel>> make_token_model(const Json* json, const std::string& where);
Expected<std::unique_ptr<PostProcessor>> make_post_processor(const Json* json, const std::string& where);
/// Without a decoder, tokens are words with blanks between them.
Expected<std::unique_ptr<TokenDecoder>> make_token_decoder(const Json* json, const std::string& where);

/// The model of type BPE, see bpe.cpp.
Expected<std::unique_ptr<TokenModel>> make_bpe(const Json& json, const std::string& where);

/// A token id: an integer in [0, 2^31 - 1); nothing when the value is something else.
std::optional<int32_t> token_id(const Json& json);

}  // namespace skdsl::model
