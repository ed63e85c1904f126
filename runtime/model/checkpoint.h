// checkpoint — the tensors of a Hugging Face folder, mapped into memory
//
//   folder/config.json                      no weights: has_weights() is false
//   folder/model.safetensors                one file
//   folder/model.safetensors.index.json     shards, named by the index
//   folder/<any>.safetensors                the only one of its kind
//
// Everything a header claims is checked when the folder is opened, so a tensor handed out is inside its file
// and has the bytes that its shape needs. Nothing is read before it is used.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/tensor/tensor.h"

namespace skdsl::model {

/// What a safetensors header says about one tensor.
struct TensorInfo {
  std::string name;
  sk_dtype dtype = SK_NONE;  // SK_NONE: of a type that we do not compute with
  std::string dtype_name;    // as written: "BF16"
  std::vector<int64_t> shape;
  uint32_t file = 0;    // index into Checkpoint::files()
  uint64_t offset = 0;  // of the first byte in that file
  uint64_t bytes = 0;
};

class Checkpoint {
 public:
  /// Opens a folder or one .safetensors file.
  static Expected<Checkpoint> open(const std::filesystem::path& path);

  /// What was opened.
  const std::filesystem::path& path() const { return path_; }
  bool has_weights() const { return !files_.empty(); }
  /// The .safetensors files, sorted by name.
  const std::vector<std::filesystem::path>& files() const { return files_; }
  const std::filesystem::path& file_of(const TensorInfo& info) const { return files_[info.file]; }

  /// All tensors, file by file in the order of their bytes.
  std::span<const TensorInfo> tensors() const { return tensors_; }
  const TensorInfo* find(std::string_view name) const;

  /// A view of the mapped bytes (do not write); a copy when they are not aligned for their type. An unknown
  /// name, an unsupported dtype or too high a rank is an error.
  Expected<Tensor> tensor(std::string_view name) const;
  /// The mapped bytes of one of our tensors.
  std::span<const std::byte> bytes(const TensorInfo& info) const;

 private:
  std::filesystem::path path_;
  std::vector<std::filesystem::path> files_;
  std::vector<MappedFile> maps_;
  std::vector<TensorInfo> tensors_;
  std::vector<uint32_t> by_name_;  // indices into tensors_, sorted by name
};

}  // namespace skdsl::model
