// hf_keys — what a key of config.json means to a model that does not declare it
//
// The rows stand in hf_keys.def.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "compiler/config/config.h"

namespace skdsl::config {

enum class HfKind : uint8_t {
  Unknown,      // no row
  Runtime,      // the runtime reads it; `text` is what for
  Harmless,     // does not change the mathematics
  Neutral,      // changes it, but not at this value
  Unsupported,  // changes it; `text` says what would be supported
};

struct HfVerdict {
  HfKind kind = HfKind::Unknown;
  std::string text;
  std::string key;  // what decided, a member of an object perhaps
  Json value;
};

/// Whether the model declares a key.
using Declares = std::function<bool(std::string_view key)>;

/// What an undeclared key of a config.json means among the other settings.
HfVerdict judge_hf_key(const Setting& setting, const Settings& settings, const Declares& declares);

/// Appends, for keys that have a second name in config.json, a setting under the name that is not given
/// (rope_parameters.rope_theta gives rope_theta). They are `derived`: a model that does not declare them does
/// not see them.
void add_hf_second_names(const Json& config, const std::string& origin, Settings& settings);

}  // namespace skdsl::config
