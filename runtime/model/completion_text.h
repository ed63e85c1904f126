// completion_text — the text of one request while its tokens are generated
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/model/stop_strings.h"
#include "runtime/model/stream_decoder.h"

namespace skdsl::model {

class CompletionText {
 public:
  /// The text goes on where that of `prompt` ends; special tokens are left out.
  CompletionText(const Tokenizer& tokenizer, std::span<const int32_t> prompt, std::vector<std::string> stops);

  /// What this token adds for certain: whole characters, nothing of a stop string.
  std::string push(int32_t id);
  /// What was held back. Calling it again gives nothing.
  std::string finish();
  /// Whether the text ended before a stop string.
  bool stopped() const { return filter_.stopped(); }
  /// All that was given so far.
  const std::string& text() const { return text_; }

 private:
  StreamDecoder decoder_;
  StopFilter filter_;
  std::string text_;
};

}  // namespace skdsl::model
