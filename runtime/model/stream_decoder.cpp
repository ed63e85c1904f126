#include "runtime/model/stream_decoder.h"

#include "runtime/model/tokenizer_parts.h"

namespace skdsl::model {

StreamDecoder::StreamDecoder(Tokenizer tokenizer, bool skip_special)
    : tokenizer_(std::move(tokenizer)), skip_special_(skip_special) {
  start();
}
StreamDecoder::~StreamDecoder() = default;
StreamDecoder::StreamDecoder(StreamDecoder&&) noexcept = default;
StreamDecoder& StreamDecoder::operator=(StreamDecoder&&) noexcept = default;

void StreamDecoder::start() {
  stages_.clear();
  tokenizer_.parts_->decoder->start(stages_);
}

void StreamDecoder::feed(size_t stage, std::string_view text, bool ends, std::string& out) {
  if (stage == stages_.size()) {
    out += text;
    return;
  }
  stages_[stage]->push(text, ends, [&](std::string_view t, bool e) { feed(stage + 1, t, e, out); });
}

std::string StreamDecoder::push(int32_t id) {
  const std::string* token = tokenizer_.token_of(id);
  if (!token || (skip_special_ && tokenizer_.is_special(id))) return {};
  std::string out;
  feed(0, *token, true, out);
  return out;
}

std::string StreamDecoder::finish() {
  std::string out;
  for (size_t i = 0; i < stages_.size(); ++i)
    stages_[i]->finish([&](std::string_view t, bool e) { feed(i + 1, t, e, out); });
  start();
  return out;
}

void StreamDecoder::skip(std::span<const int32_t> ids) {
  for (const int32_t id : ids) push(id);
}

}  // namespace skdsl::model
