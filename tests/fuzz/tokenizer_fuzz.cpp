// Any bytes as a tokenizer.json: either an error that names the file, or a tokenizer that encodes and
// decodes.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "runtime/base/utf8.h"
#include "runtime/model/tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto tokenizer = skdsl::model::Tokenizer::from_json(text, "fuzz.json");
  if (!tokenizer) {
    if (tokenizer.error().message.find("fuzz.json") == std::string::npos) std::abort();
    return 0;
  }
  for (const std::string_view sample :
       {std::string_view("27+58=\n"), std::string_view("é <s>世界 _-"), text.substr(0, 200)}) {
    const auto ids = tokenizer->encode(sample);
    if (!ids) continue;
    if (skdsl::invalid_utf8(tokenizer->decode(*ids, false))) std::abort();
  }
  return 0;
}
