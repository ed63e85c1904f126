// safetensors — the file format: eight bytes of header length, a JSON header, the tensors' bytes
//
//   u64 little endian n | n bytes {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, …} |
//   bytes
//
// Offsets count from the end of the header. As the format demands, the tensors cover those bytes without
// holes or overlaps; a file that says otherwise is refused.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/model/checkpoint.h"

namespace skdsl::model {

/// Checks a whole file and gives its tensors in the order of their bytes; `where` names the file in messages.
Expected<std::vector<TensorInfo>> read_safetensors_header(std::span<const std::byte> file,
                                                          const std::string& where);

/// The first bytes of a safetensors file: length and header for tensors that follow one another in this
/// order, padded so that the data begins at a multiple of 8.
std::string safetensors_header(std::span<const TensorInfo> tensors);

}  // namespace skdsl::model
