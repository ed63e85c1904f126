#include "runtime/model/hf_config.h"

#include <fmt/format.h>

#include <system_error>

#include "runtime/base/file.h"

namespace skdsl::model {

namespace fs = std::filesystem;

namespace {

fs::path folder_of(const fs::path& path) {
  std::error_code ec;
  return fs::is_regular_file(path, ec) ? path.parent_path() : path;
}

bool is_token_id(const Json& json) { return json.is_int() && json.as_int() >= 0; }

Expected<void> check_eos(const Json& config, const std::string& where) {
  const Json* eos = config.find("eos_token_id");
  if (!eos || eos->is_null() || is_token_id(*eos)) return {};
  if (eos->is_array()) {
    bool all = true;
    for (const Json& id : eos->as_array()) all = all && is_token_id(id);
    if (all) return {};
  }
  return fail(fmt::format("`{}`: eos_token_id is {}; expected a token id, a list of token ids or null", where,
                          to_json(*eos)));
}

Expected<Json> read_object(const fs::path& file) {
  const auto text = read_file(file);
  if (!text) return tl::unexpected(text.error());
  auto json = parse_json(*text, file.string());
  if (!json) return json;
  if (!json->is_object()) {
    return fail(fmt::format("`{}`: expected an object, found {}", file.string(), json->kind()));
  }
  if (auto ok = check_eos(*json, file.string()); !ok) return tl::unexpected(ok.error());
  if (const Json* text_config = json->find("text_config")) {
    if (auto ok = check_eos(*text_config, file.string()); !ok) return tl::unexpected(ok.error());
  }
  return json;
}

}  // namespace

Expected<Json> read_hf_config(const fs::path& folder) {
  const fs::path file = folder_of(folder) / "config.json";
  auto json = read_object(file);
  std::error_code ec;
  if (!json && !fs::exists(file, ec)) {
    json.error().notes.push_back("help: expected a Hugging Face folder with a config.json");
  }
  return json;
}

Expected<Json> read_generation_config(const fs::path& folder) {
  const fs::path file = folder_of(folder) / "generation_config.json";
  std::error_code ec;
  if (!fs::exists(file, ec)) return Json();
  return read_object(file);
}

std::vector<int64_t> eos_token_ids(const Json& config) {
  const Json* eos = config.find("eos_token_id");
  if (!eos) {
    const Json* text_config = config.find("text_config");
    return text_config ? eos_token_ids(*text_config) : std::vector<int64_t>{};
  }
  std::vector<int64_t> out;
  if (is_token_id(*eos)) out.push_back(eos->as_int());
  if (eos->is_array())
    for (const Json& id : eos->as_array())
      if (is_token_id(id)) out.push_back(id.as_int());
  return out;
}

Expected<std::vector<int64_t>> stop_token_ids(const fs::path& folder, const Json& config) {
  const auto generation = read_generation_config(folder);
  if (!generation) return tl::unexpected(generation.error());
  auto ids = eos_token_ids(*generation);
  return ids.empty() ? eos_token_ids(config) : ids;
}

}  // namespace skdsl::model
