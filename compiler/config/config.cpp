#include "compiler/config/config.h"

#include <fmt/format.h>

#include "compiler/config/hf_keys.h"
#include "compiler/config/run_keys.h"
#include "compiler/config/yaml.h"

namespace skdsl::config {

std::string_view name(Layer layer) {
  constexpr std::string_view kNames[] = {"default", "config.json", "run config", "--set"};
  return kNames[static_cast<size_t>(layer)];
}

const Setting* Settings::find(std::string_view key) const {
  const Setting* best = nullptr;
  for (const Setting& s : items)
    if (s.key == key && !s.value.is_null() && (!best || s.layer >= best->layer)) best = &s;
  return best;
}

namespace {
void add_object(const Json& object, const std::string& prefix, Layer layer, const std::string& origin,
                Settings& out) {
  for (const auto& [key, value] : object.as_object()) {
    out.items.push_back({prefix + key, value, layer, origin, false, "", {}});
    if (value.is_object()) add_object(value, prefix + key + ".", layer, origin, out);
  }
}

}  // namespace

void add_hf_config(const Json& config, const std::string& origin, Settings& settings) {
  if (!config.is_object()) return;
  add_object(config, "", Layer::HfConfig, origin, settings);
  add_hf_second_names(config, origin, settings);
}

Expected<Setting> parse_set(std::string_view text) {
  const size_t eq = text.find('=');
  if (eq == std::string_view::npos || eq == 0)
    return tl::unexpected<Error>(Error{ErrorKind::Usage,
                                       "--set " + std::string(text) + " has no `key=value`",
                                       {"help: write --set hidden_size=64"}});
  Setting s{std::string(text.substr(0, eq)), {}, Layer::Set, "--set " + std::string(text), false, "", {}};
  for (const std::string_view section : run_sections()) {
    const std::string prefix =
        fmt::format("{}{}.", section == "custom_params" ? "model_config." : "", section);
    if (!s.key.starts_with(prefix)) continue;
    s.section = section;
    if (section == "custom_params" || !s.key.starts_with("model_config.custom_params.")) {
      s.key.erase(0, prefix.size());
      break;
    }
  }
  if (!s.section.empty())
    if (const RunKey* row = find_run_key(s.section, s.key)) s.key = row->setting();
  auto value = parse_yaml_value(std::string(text.substr(eq + 1)));
  if (!value)
    return tl::unexpected<Error>(
        Error{ErrorKind::Usage,
              "--set " + std::string(text) +
                  " has a value that is no YAML scalar or list: " + value.error().message,
              {}});
  s.value = std::move(*value);
  return s;
}

}  // namespace skdsl::config
