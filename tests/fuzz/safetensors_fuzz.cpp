// Any bytes as a safetensors file: either an error, or tensors that lie inside the bytes and do not overlap.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "runtime/model/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> file(reinterpret_cast<const std::byte*>(data), size);
  const auto tensors = skdsl::model::read_safetensors_header(file, "fuzz.safetensors");
  if (!tensors) {
    if (tensors.error().message.find("fuzz.safetensors") == std::string::npos) std::abort();
    return 0;
  }
  uint64_t at = 0;
  for (const auto& t : *tensors) {
    if (t.offset < at || t.bytes > size || t.offset > size - t.bytes) std::abort();
    at = t.offset + t.bytes;
  }
  return 0;
}
