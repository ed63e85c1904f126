#include "runtime/model/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <map>
#include <numeric>
#include <system_error>

#include "runtime/base/assert.h"
#include "runtime/base/json.h"
#include "runtime/model/safetensors.h"

namespace skdsl::model {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kSingleFile = "model.safetensors";
constexpr std::string_view kIndexFile = "model.safetensors.index.json";

/// Weights in formats that we do not read; a folder of them must not pass for a folder without weights.
struct ForeignFormat {
  std::string_view prefix, extension;  // of the file's name
  std::string_view what, way_out;
};
constexpr std::string_view kSaveAgain =
    "load the model with transformers and write it with save_pretrained(…, safe_serialization=True)";
constexpr ForeignFormat kForeign[] = {
    {"pytorch_model", ".bin", "a PyTorch pickle", kSaveAgain},
    {"model", ".bin", "a PyTorch pickle", kSaveAgain},
    {"", ".pt", "a PyTorch pickle", kSaveAgain},
    {"", ".pth", "a PyTorch pickle", kSaveAgain},
    {"", ".ckpt", "a PyTorch pickle", kSaveAgain},
    {"", ".h5", "a Keras file", kSaveAgain},
    {"", ".msgpack", "a Flax file", kSaveAgain},
    {"", ".gguf", "a GGUF file", "take the Hugging Face folder that it was made from"},
};
const ForeignFormat* foreign_format(const fs::path& file) {
  const std::string name = file.filename().string();
  for (const ForeignFormat& f : kForeign)
    if (name.starts_with(f.prefix) && file.extension() == f.extension) return &f;
  return nullptr;
}

std::string lower_first(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

/// What lies in a folder, sorted by name.
struct Listing {
  std::vector<std::string> safetensors;
  std::vector<std::string> foreign;
};
Expected<Listing> list(const fs::path& folder) {
  Listing found;
  std::error_code ec;
  fs::directory_iterator it(folder, ec);
  for (; !ec && it != fs::directory_iterator(); it.increment(ec)) {
    const fs::path& file = it->path();
    if (file.extension() == ".safetensors") found.safetensors.push_back(file.filename().string());
    if (foreign_format(file)) found.foreign.push_back(file.filename().string());
  }
  if (ec)
    return fail_environment(fmt::format("cannot list the folder `{}`: {}", folder.string(), ec.message()));
  std::sort(found.safetensors.begin(), found.safetensors.end());
  std::sort(found.foreign.begin(), found.foreign.end());
  return found;
}

/// The index's map of tensors to shards.
using WeightMap = std::map<std::string, std::string>;

/// A shard is a file of the folder itself or of a folder below; the name is the index's claim, so it is
/// checked.
bool stays_inside(const std::string& shard) {
  const fs::path path(shard);
  if (shard.empty() || path.is_absolute() || !path.has_filename()) return false;
  return std::none_of(path.begin(), path.end(), [](const fs::path& part) { return part == ".."; });
}

Expected<WeightMap> read_index(const fs::path& file) {
  const auto text = read_file(file);
  if (!text) return tl::unexpected(text.error());
  const auto json = parse_json(*text, file.string());
  if (!json) return tl::unexpected(json.error());
  const Json* map = json->find("weight_map");
  if (!map || !map->is_object()) {
    return fail(fmt::format("`{}`: expected an object with an object `weight_map` (tensor name: shard file)",
                            file.string()));
  }
  WeightMap out;
  for (const auto& [name, shard] : map->as_object()) {
    if (!shard.is_string()) {
      return fail(fmt::format("`{}`: weight_map of `{}` is {}; expected the name of a shard file",
                              file.string(), name, shard.kind()));
    }
    if (!stays_inside(shard.as_string())) {
      return fail(
          fmt::format("`{}`: weight_map sends `{}` to `{}`; a shard must be a file inside the folder of the "
                      "index",
                      file.string(), name, shard.as_string()));
    }
    out.emplace(name, fs::path(shard.as_string()).lexically_normal().string());
  }
  if (out.empty()) return fail(fmt::format("`{}`: `weight_map` names no tensor", file.string()));
  return out;
}

/// The files of a folder's weights; none when it has only config.json.
struct Found {
  std::vector<fs::path> files;  // sorted
  WeightMap index;              // empty: not needed
};

Expected<Found> locate_shards(const fs::path& folder) {
  const fs::path index_file = folder / kIndexFile;
  auto index = read_index(index_file);
  if (!index) return tl::unexpected(index.error());
  std::map<std::string, std::string> shards;  // with one of its tensors
  for (const auto& [name, shard] : *index) shards.emplace(shard, name);
  Found found;
  for (const auto& [shard, name] : shards) {
    std::error_code ec;
    if (!fs::exists(folder / shard, ec) && !fs::is_symlink(folder / shard, ec)) {
      return fail(
          fmt::format("`{}`: shard `{}` is missing (it holds `{}`)", index_file.string(), shard, name),
          {"help: download all files of the checkpoint into one folder"});
    }
    found.files.push_back(folder / shard);
  }
  found.index = std::move(*index);
  return found;
}

Expected<Found> locate(const fs::path& folder) {
  std::error_code ec;
  if (fs::exists(folder / kSingleFile, ec)) return Found{{folder / kSingleFile}, {}};
  if (fs::exists(folder / kIndexFile, ec)) return locate_shards(folder);
  const auto listing = list(folder);
  if (!listing) return tl::unexpected(listing.error());
  const auto& names = listing->safetensors;
  if (names.size() == 1) return Found{{folder / names[0]}, {}};
  if (names.size() > 1) {
    return fail(fmt::format("`{}` holds {} .safetensors files (`{}`, `{}`{}) but no {}", folder.string(),
                            names.size(), names[0], names[1], names.size() > 2 ? ", …" : "", kIndexFile),
                {"help: add the index, or name one of the files instead of the folder"});
  }
  if (!listing->foreign.empty()) {
    const ForeignFormat& format = *foreign_format(listing->foreign[0]);
    return fail(fmt::format("`{}` holds weights in a format that is not read: `{}` is {}", folder.string(),
                            listing->foreign[0], format.what),
                {fmt::format("help: convert them to .safetensors: {}", format.way_out)});
  }
  if (fs::exists(folder / "config.json", ec)) return Found{};
  return fail(fmt::format("`{}` holds neither .safetensors files nor config.json", folder.string()),
              {"help: expected a Hugging Face folder (config.json, *.safetensors)"});
}

/// Index and shards must tell the same story: a tensor that one of them does not know is a sign of mixed
/// files.
Expected<void> check_index(const WeightMap& index, const fs::path& index_file, const Checkpoint& checkpoint) {
  Error error{ErrorKind::Input, {}, {}};
  for (const TensorInfo& t : checkpoint.tensors()) {
    const std::string shard = checkpoint.file_of(t).lexically_relative(index_file.parent_path()).string();
    const auto entry = index.find(t.name);
    if (entry == index.end()) {
      error.notes.push_back(fmt::format("`{}` is in shard `{}` but not in the index", t.name, shard));
    } else if (entry->second != shard) {
      error.notes.push_back(
          fmt::format("`{}` is in shard `{}`; the index says `{}`", t.name, shard, entry->second));
    }
  }
  for (const auto& [name, shard] : index)
    if (!checkpoint.find(name)) {
      error.notes.push_back(fmt::format("`{}` is not in shard `{}` where the index says it is", name, shard));
    }
  if (error.notes.empty()) return {};
  const size_t wrong = error.notes.size();
  error.message = fmt::format("`{}` does not describe its shards: {} tensor{} out of place",
                              index_file.string(), wrong, wrong == 1 ? "" : "s");
  error.notes.push_back("help: index and shards must come from one checkpoint; download or write them again");
  return tl::unexpected(std::move(error));
}

}  // namespace

Expected<Checkpoint> Checkpoint::open(const fs::path& path) {
  Checkpoint checkpoint;
  checkpoint.path_ = path;
  std::error_code ec;
  const fs::file_status status = fs::status(path, ec);
  if (!fs::exists(status)) {
    const bool absent = !ec || ec == std::errc::no_such_file_or_directory || ec == std::errc::not_a_directory;
    return fail_environment(
        fmt::format("cannot open `{}`: {}", path.string(),
                    absent ? "there is no such folder or file" : lower_first(ec.message())),
        {"help: expected a Hugging Face folder (config.json, *.safetensors) or one .safetensors file"});
  }

  WeightMap index;
  if (fs::is_directory(status)) {
    auto found = locate(path);
    if (!found) return tl::unexpected(found.error());
    checkpoint.files_ = std::move(found->files);
    index = std::move(found->index);
  } else {
    checkpoint.files_ = {path};
  }

  for (uint32_t i = 0; i < checkpoint.files_.size(); ++i) {
    auto map = MappedFile::open(checkpoint.files_[i]);
    if (!map) return tl::unexpected(map.error());
    auto tensors = read_safetensors_header(map->bytes(), checkpoint.files_[i].string());
    if (!tensors) return tl::unexpected(tensors.error());
    for (TensorInfo& t : *tensors) {
      t.file = i;
      checkpoint.tensors_.push_back(std::move(t));
    }
    checkpoint.maps_.push_back(std::move(*map));
  }

  auto& order = checkpoint.by_name_;
  order.resize(checkpoint.tensors_.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return checkpoint.tensors_[a].name < checkpoint.tensors_[b].name;
  });
  for (size_t i = 1; i < order.size(); ++i) {
    const TensorInfo& a = checkpoint.tensors_[order[i - 1]];
    const TensorInfo& b = checkpoint.tensors_[order[i]];
    if (a.name == b.name) {
      return fail(fmt::format("tensor `{}` is in two shards: `{}` and `{}`", a.name,
                              checkpoint.file_of(a).string(), checkpoint.file_of(b).string()));
    }
  }
  if (!index.empty()) {
    if (auto ok = check_index(index, path / kIndexFile, checkpoint); !ok) return tl::unexpected(ok.error());
  }
  return checkpoint;
}

const TensorInfo* Checkpoint::find(std::string_view name) const {
  const auto at = std::lower_bound(by_name_.begin(), by_name_.end(), name,
                                   [&](uint32_t i, std::string_view n) { return tensors_[i].name < n; });
  return at != by_name_.end() && tensors_[*at].name == name ? &tensors_[*at] : nullptr;
}

std::span<const std::byte> Checkpoint::bytes(const TensorInfo& info) const {
  return maps_[info.file].bytes().subspan(info.offset, info.bytes);
}

Expected<Tensor> Checkpoint::tensor(std::string_view name) const {
  const TensorInfo* info = find(name);
  if (!info) return fail(fmt::format("`{}` has no tensor `{}`", path_.string(), name));
  const std::string file = file_of(*info).string();
  if (info->dtype == SK_NONE) {
    std::string known;
    for (const auto& row : kDTypeNames)
      known += fmt::format("{}{}", known.empty() ? "" : ", ", row.safetensors);
    return fail(fmt::format("`{}`: tensor `{}` is of type {}, which is not supported; supported are {}", file,
                            name, info->dtype_name, known));
  }
  if (info->shape.size() > SK_MAX_RANK) {
    return fail(fmt::format("`{}`: tensor `{}` has {} dimensions; at most {} are supported", file, name,
                            info->shape.size(), static_cast<int>(SK_MAX_RANK)));
  }
  const std::span<const std::byte> data = bytes(*info);
  const auto address = reinterpret_cast<uintptr_t>(data.data());
  if (address % static_cast<uintptr_t>(dtype_bytes(info->dtype)) == 0) {
    // The ABI's views are not const; the mapping is read-only, so a stray write faults instead of changing
    // weights.
    void* bytes = const_cast<std::byte*>(data.data());
    return Tensor::borrow(info->dtype, info->shape, bytes, maps_[info->file].owner());
  }
  Tensor copy = Tensor::empty(info->dtype, info->shape);
  std::memcpy(copy.view.data, data.data(), data.size());
  return copy;
}

}  // namespace skdsl::model
