// config — the layers of configuration
//
// Precedence: default in the file < config.json < run YAML < --set. Every effective value knows where it came
// from.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/json.h"

namespace skdsl::config {

enum class Layer : uint8_t { Default, HfConfig, RunYaml, Set };
std::string_view name(Layer layer);

/// One given value: `key` may be "group.member".
struct Setting {
  std::string key;
  Json value;
  Layer layer = Layer::Default;
  std::string origin;    // "weights/config.json", "run.yaml:12", "--set hidden_size=8"
  bool derived = false;  // from another key; nobody asked for it by this name
};

/// What the command line, files and flags give; the later layers win.
struct Settings {
  std::vector<Setting> items;

  /// The winning non-null setting of a key, or null.
  const Setting* find(std::string_view key) const;
};

/// Built-in static names; set by flags, files or the runtime, and reserved.
struct Builtins {
  std::string exe_mode = "eager";
  std::string dtype = "bfloat16";
  int64_t max_seq_len = 2048;
  int64_t block_size = 128;
  int64_t kv_blocks = 0;  // 0: 1 + batch_size * ceil(max_seq_len / block_size)
  int64_t batch_size = 1;
  int64_t world_size = 1;
};
/// Names that reach the runtime without being visible in a file.
inline constexpr std::string_view kRuntimeNames[] = {"max_new_tokens", "next_n", "target.cann", "enable_dynamic_graph",
                                                     "enable_static_kernel"};
inline constexpr std::string_view kBuiltinNames[] = {"exe_mode",  "dtype",      "max_seq_len", "block_size",
                                                     "kv_blocks", "batch_size", "world_size"};

/// Appends the keys of a config.json (an object); nested objects become "group.member" too, and keys that are
/// given under their second name alone get their first.
void add_hf_config(const Json& config, const std::string& origin, Settings& settings);

/// Parses one "key=value" of --set; the value is a YAML scalar or flow list. A section's name may stand
/// before the key: scheduler_config.batch_size, model_config.custom_params.enable_prefetch.
Expected<Setting> parse_set(std::string_view text);

/// Reads a run YAML: `model_config` (exe_mode and custom_params), `scheduler_config`, `data_config` and names
/// of the file's own configuration. Errors name the line.
Expected<void> add_run_yaml(const std::string& path, Settings& settings);

}  // namespace skdsl::config
