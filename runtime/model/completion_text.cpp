#include "runtime/model/completion_text.h"

namespace skdsl::model {

CompletionText::CompletionText(const Tokenizer& tokenizer, std::span<const int32_t> prompt,
                               std::vector<std::string> stops)
    : decoder_(tokenizer, true), filter_(std::move(stops)) {
  decoder_.skip(prompt);
}

std::string CompletionText::push(int32_t id) {
  std::string piece = filter_.push(decoder_.push(id));
  text_ += piece;
  return piece;
}

std::string CompletionText::finish() {
  std::string rest = filter_.push(decoder_.finish());
  rest += filter_.finish();
  text_ += rest;
  return rest;
}

}  // namespace skdsl::model
