// Any bytes as a safetensors file: either an error that names the file, or tensors that lie inside the bytes
// and do not overlap; all their values can be looked at.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "runtime/model/finite.h"
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
    if (const auto found = skdsl::model::non_finite(t.dtype, file.subspan(t.offset, t.bytes)))
      if (skdsl::model::describe(*found).empty()) std::abort();
  }
  return 0;
}
