// hf_config — config.json and generation_config.json of a Hugging Face folder
#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/json.h"

namespace skdsl::model {

/// The object in config.json of a folder (or beside a .safetensors file). Its eos_token_id has been checked.
Expected<Json> read_hf_config(const std::filesystem::path& folder);

/// The object in generation_config.json, or null when the folder has none.
Expected<Json> read_generation_config(const std::filesystem::path& folder);

/// The end tokens that a config names: one, several, or (absent, null) none. Without one of its own, the ones
/// of its `text_config`.
std::vector<int64_t> eos_token_ids(const Json& config);

/// The end tokens to stop at: generation_config.json's when it names any, else config's.
Expected<std::vector<int64_t>> stop_token_ids(const std::filesystem::path& folder, const Json& config);

}  // namespace skdsl::model
