// stream_decoder — text as it is generated, token by token: never half a character
//
// A token may end inside a character, and a decoder may wait for what follows. Whatever is not certain yet is
// held back; the pieces joined are the decoded text of all tokens.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/model/tokenizer.h"

namespace skdsl::model {

class DecodeStage;

class StreamDecoder {
 public:
  StreamDecoder(Tokenizer tokenizer, bool skip_special);
  ~StreamDecoder();
  StreamDecoder(StreamDecoder&&) noexcept;
  StreamDecoder& operator=(StreamDecoder&&) noexcept;

  /// The text that this token makes certain, whole characters; nothing for an id that is no token.
  std::string push(int32_t id);
  /// What is left at the end; an incomplete character becomes U+FFFD. Afterwards a new text begins.
  std::string finish();
  /// Takes the tokens before the stream without giving their text: a completion goes on where the prompt
  /// ends.
  void skip(std::span<const int32_t> ids);

 private:
  void feed(size_t stage, std::string_view text, bool ends, std::string& out);
  void start();

  Tokenizer tokenizer_;
  bool skip_special_;
  std::vector<std::unique_ptr<DecodeStage>> stages_;
};

}  // namespace skdsl::model
