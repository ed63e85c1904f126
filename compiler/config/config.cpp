#include "compiler/config/config.h"

#include <yaml-cpp/yaml.h>

#include <charconv>

#include "compiler/config/hf_keys.h"

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
    out.items.push_back({prefix + key, value, layer, origin});
    if (value.is_object()) add_object(value, prefix + key + ".", layer, origin, out);
  }
}

/// YAML scalars by the core schema: null, booleans, integers, floats, else text. Quoted scalars are text.
Json scalar(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  if (node.Tag() == "!") return text;
  if (text.empty() || text == "~" || text == "null" || text == "None") return nullptr;
  if (text == "true" || text == "True") return true;
  if (text == "false" || text == "False") return false;
  int64_t i = 0;
  const auto [int_end, int_error] = std::from_chars(text.data(), text.data() + text.size(), i);
  if (int_error == std::errc() && int_end == text.data() + text.size()) return i;
  double d = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), d);
  if (error == std::errc() && end == text.data() + text.size()) return d;
  return text;
}

Json to_json_value(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Scalar:
      return scalar(node);
    case YAML::NodeType::Sequence: {
      Json::Array out;
      for (const auto& item : node) out.push_back(to_json_value(item));
      return out;
    }
    case YAML::NodeType::Map: {
      Json::Object out;
      for (const auto& item : node) out.emplace_back(item.first.Scalar(), to_json_value(item.second));
      return out;
    }
    default:
      return nullptr;
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
  std::string_view key = text.substr(0, eq);
  for (const std::string_view section : {"model_config.custom_params.", "model_config.", "scheduler_config."})
    if (key.starts_with(section)) {
      key.remove_prefix(section.size());
      break;
    }
  Setting s{std::string(key), {}, Layer::Set, "--set " + std::string(text)};
  try {
    s.value = to_json_value(YAML::Load(std::string(text.substr(eq + 1))));
  } catch (const YAML::Exception& e) {
    return tl::unexpected<Error>(
        Error{ErrorKind::Usage,
              "--set " + std::string(text) + " has a value that is no YAML scalar or list: " + e.msg,
              {}});
  }
  return s;
}

Expected<void> add_run_yaml(const std::string& path, Settings& settings) {
  YAML::Node root;
  try {
    root = YAML::LoadFile(path);
  } catch (const YAML::BadFile&) {
    return fail_environment(path + " cannot be read");
  } catch (const YAML::Exception& e) {
    return fail(path + ":" + std::to_string(e.mark.line + 1) + ": not valid YAML: " + e.msg);
  }
  if (!root.IsMap()) return fail(path + ": a run config is a map of sections");
  const auto add = [&](const std::string& key, const YAML::Node& node) {
    settings.items.push_back(
        {key, to_json_value(node), Layer::RunYaml, path + ":" + std::to_string(node.Mark().line + 1)});
  };
  // Each section's keys that this runtime acts on; the map says under which name.
  struct Known {
    std::string_view section, key, target;
  };
  static constexpr Known kKnown[] = {
      {"model_config", "exe_mode", "exe_mode"},
      {"model_config", "dtype", "dtype"},
      {"model_config", "next_n", "next_n"},
      {"scheduler_config", "batch_size", "batch_size"},
      {"scheduler_config", "max_new_tokens", "max_new_tokens"},
      {"scheduler_config", "block_size", "block_size"},
      {"scheduler_config", "max_seq_len", "max_seq_len"},
  };
  for (const auto& section : root) {
    const std::string section_name = section.first.Scalar();
    const auto at = [&](const YAML::Node& n) {
      return path + ":" + std::to_string(n.Mark().line + 1) + ": ";
    };
    if (section_name != "model_config" && section_name != "scheduler_config")
      return fail(at(section.first) + "unknown section `" + section_name + "`",
                  {"help: the sections are model_config and scheduler_config"});
    if (!section.second.IsMap())
      return fail(at(section.first) + "section `" + section_name + "` must be a map");
    for (const auto& item : section.second) {
      const std::string key = item.first.Scalar();
      if (section_name == "model_config" && key == "custom_params") {
        if (!item.second.IsMap()) return fail(at(item.first) + "`custom_params` must be a map");
        for (const auto& custom : item.second) add(custom.first.Scalar(), custom.second);
        continue;
      }
      bool found = false;
      for (const Known& k : kKnown)
        if (k.section == section_name && k.key == key) {
          add(std::string(k.target), item.second);
          found = true;
        }
      if (!found) {
        std::string names;
        for (const Known& k : kKnown)
          if (k.section == section_name) names += (names.empty() ? "" : ", ") + std::string(k.key);
        return fail(at(item.first) + "unknown key `" + key + "` in " + section_name,
                    {"help: known are " + names +
                     (section_name == "model_config" ? ", custom_params (the model file's own keys)" : "")});
      }
    }
  }
  return {};
}

}  // namespace skdsl::config
