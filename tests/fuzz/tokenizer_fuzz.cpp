// Any bytes as a tokenizer.json or a tokenizer.model: either an error that names the file, or a tokenizer
// that encodes, and whose stream is the decoded text, whole characters at a time.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "runtime/base/utf8.h"
#include "runtime/model/stream_decoder.h"
#include "runtime/model/tokenizer.h"

namespace {

void use(const skdsl::Expected<skdsl::model::Tokenizer>& tokenizer, std::string_view own_text) {
  if (!tokenizer) {
    if (tokenizer.error().message.find("fuzz.file") == std::string::npos) std::abort();
    return;
  }
  for (const std::string_view sample :
       {std::string_view("27+58=\n"), std::string_view("é <s>世界 _-"), own_text}) {
    const auto ids = tokenizer->encode(sample);
    if (!ids) continue;
    skdsl::model::StreamDecoder stream(*tokenizer, false);
    std::string text;
    for (const int32_t id : *ids) {
      const std::string piece = stream.push(id);
      if (skdsl::invalid_utf8(piece)) std::abort();
      text += piece;
    }
    text += stream.finish();
    if (skdsl::invalid_utf8(text) || text != tokenizer->decode(*ids, false)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // No tokenizer.model begins like a JSON object: its first field is a piece.
  const bool json =
      bytes.find_first_not_of(" \t\r\n") != bytes.npos && bytes[bytes.find_first_not_of(" \t\r\n")] == '{';
  use(json ? skdsl::model::Tokenizer::from_json(bytes, "fuzz.file")
           : skdsl::model::Tokenizer::from_sentencepiece(bytes, "fuzz.file"),
      bytes.substr(0, 200));
  return 0;
}
