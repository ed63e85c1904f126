// run_keys — the table of run_keys.def: what a run config may say, its types, defaults and effects
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/json.h"

namespace skdsl::config {

enum class KeyType : uint8_t {
  Bool,
  Int,
  Float,
  Str,
  Choice,
  Dict,
  Switch,
  OptBool,
  OptInt,
  OptFloat,
  OptStr,
  OptChoice,
  OptDict
};
enum class KeyStatus : uint8_t { Acts, Recorded, NoEffect, Dead, Derived };
/// "acts", "recorded only", "no effect here", "dead", "derived".
std::string_view name(KeyStatus status);

struct RunKey {
  std::string_view section;  // "model_config", "custom_params", …
  std::string_view key;      // of ge with dots
  KeyType type;
  std::string_view initial;  // the default, JSON
  std::string_view range;
  KeyStatus status;
  std::string_view note;
  std::string_view source;

  bool optional() const { return type >= KeyType::OptBool; }
  /// How the file says it: "model_config.custom_params.enable_afd", "parallel_config.world_size".
  std::string path() const;
  /// The name of its setting: the bare key for what models and the runtime know by it, else the path.
  std::string setting() const;
};

/// All rows, section by section.
std::span<const RunKey> run_keys();
const RunKey* find_run_key(std::string_view section, std::string_view key);
/// The row whose setting has this name, or null; custom_params are not among them.
const RunKey* find_run_setting(std::string_view setting);

/// Sections in the order of the table. custom_params is one here, and a key of model_config in a file.
const std::vector<std::string_view>& run_sections();
/// Sections that have a key of this name.
std::vector<const RunKey*> rows_named(std::string_view key);
std::vector<std::string> key_names(std::string_view section);

/// What to use instead of an interface that is not modelled; "" when `key` is none.
std::string_view not_modelled(std::string_view key);
/// The mode that stands for a back end of another device ("inductor"), or "" when the name is none of these.
std::string_view foreign_backend(std::string_view name);

/// "an integer of at least 1", "one of eager, ge_graph, npugraph_ex", …
std::string expectation(const RunKey& key);
/// The value as the key's type has it (yes becomes true), or nothing when it is of another type or out of
/// range.
std::optional<Json> conform(const RunKey& key, const Json& value);
Json default_value(const RunKey& key);

/// docs/run-config.md's tables.
std::string run_keys_markdown();

}  // namespace skdsl::config
