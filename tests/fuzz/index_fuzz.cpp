// Any bytes as the index of a folder with two shards: either an error that names the folder, or a checkpoint
// whose tensors can be read and lie in the shards.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "runtime/model/checkpoint.h"

namespace {

namespace fs = std::filesystem;

std::string shard(const std::string& tensor) {
  const std::string header = "{\"" + tensor + R"(":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  std::string out(8, '\0');
  out[0] = static_cast<char>(header.size());
  return out + header + "abcd";
}

void write(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// A folder that goes with the process, with a file beside it that no index may reach.
struct Folder {
  fs::path root, path;
  Folder() {
    root = fs::temp_directory_path() / ("skdsl_index_fuzz_" + std::to_string(::getpid()));
    path = root / "folder";
    fs::create_directories(path);
    write(path / "1.safetensors", shard("a"));
    write(path / "2.safetensors", shard("b"));
    write(root / "outside.safetensors", shard("outside"));
  }
  ~Folder() {
    std::error_code ec;
    fs::remove_all(root, ec);
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Folder folder;
  write(folder.path / "model.safetensors.index.json", {reinterpret_cast<const char*>(data), size});
  const auto checkpoint = skdsl::model::Checkpoint::open(folder.path);
  if (!checkpoint) {
    if (checkpoint.error().message.find(folder.path.string()) == std::string::npos) std::abort();
    return 0;
  }
  for (const auto& t : checkpoint->tensors()) {
    if (!checkpoint->tensor(t.name) || t.name == "outside") std::abort();
    if (checkpoint->file_of(t).parent_path() != folder.path) std::abort();
  }
  return 0;
}
