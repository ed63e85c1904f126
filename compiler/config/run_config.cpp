#include "compiler/config/run_config.h"

#include <algorithm>

#include "compiler/config/run_edit.h"
#include "compiler/config/yaml.h"

namespace skdsl::config {

namespace {

/// Sections of other programs: their files are no recipes of language models.
constexpr std::string_view kOtherPrograms[] = {"model_args",    "entry_script", "launcher",
                                               "launcher_args", "dit_cache",    "env_vars"};
/// Keys that the older layout has at the top.
constexpr std::string_view kLegacyTop[] = {"exe_mode", "world_size", "model_path", "model_name",
                                           "draft_model_path"};
constexpr std::string_view kLegacyData[] = {"batch_size", "max_new_tokens", "input_max_len"};

/// Names of the older layout whose right name is too far away to be guessed.
struct Renamed {
  std::string_view section, key, now;
};
constexpr Renamed kRenamed[] = {{"data_config", "input_max_len", "data_config.input_truncated_len"},
                                {"data_config", "max_new_tokens", "scheduler_config.max_new_tokens"},
                                {"data_config", "batch_size", "scheduler_config.batch_size"},
                                {"parallel_config", "oproj_tp_size", "parallel_config.o_proj_tp_size"},
                                {"disagg", "disaggregation_mode", "disagg.mode"}};

std::string section_path(std::string_view section) {
  return fmt::format("{}{}", section == "custom_params" ? "model_config." : "", section);
}

bool is_section(std::string_view name) {
  const auto& all = run_sections();
  return std::find(all.begin(), all.end(), name) != all.end();
}

std::string shown(const Json& value) {
  std::string text = to_json(value);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

std::string wrong(std::string_view what, const Json& value, std::string_view expected) {
  return fmt::format("`{}` is {}, expected {}", what, value.is_null() ? "empty" : shown(value), expected);
}

/// Where a value was given: a place in a file, or words of a command line.
struct Place {
  Span key, value;
  std::string origin;
};

class Checker {
 public:
  Checker(const RunContext& context, Settings& settings, diag::Engine& diags)
      : context_(context), settings_(settings), diags_(diags) {}

  /// Checks one key and gives its value the type of its row; false when it is not to be used.
  bool check(std::string_view section, const std::string& key, Json& value, const Place& place) {
    if (const RunKey* row = find_run_key(section, key)) return check_value(*row, value, place);
    if (const std::string_view use = not_modelled(key); !use.empty()) {
      told(diags_.report(place.key, diag::Id::RunNotModelled, key), place).help(fmt::format("use {}", use));
      return false;
    }
    if (section == "custom_params" && check_custom(key, place)) return true;
    unknown(section, key, place);
    return false;
  }

  /// Reports a key that is in no place where it counts.
  void unknown(std::string_view section, const std::string& key, const Place& place) {
    const std::string where = section.empty() ? "the top level" : section_path(section);
    const auto id = settings_.lenient ? diag::Id::RunUnknownIgnored : diag::Id::RunUnknownKey;
    for (const Renamed& r : kRenamed)
      if (r.section == section && r.key == key) {
        told(diags_.report(place.key, id, key, where), place).help(fmt::format("it is `{}` now", r.now));
        return;
      }
    std::vector<std::string> homes;
    for (const RunKey* row : rows_named(key))
      if (row->status != KeyStatus::Dead && row->status != KeyStatus::Derived && row->section != section)
        homes.push_back(section_path(row->section));
    if (!homes.empty()) {
      const auto misplaced = settings_.lenient ? diag::Id::RunUnknownIgnored : diag::Id::RunMisplacedKey;
      told(diags_.report(place.key, misplaced, key, where), place)
          .help(fmt::format("`{}` belongs in {}", key, fmt::join(homes, " or in ")));
      return;
    }
    auto report = told(diags_.report(place.key, id, key, where), place);
    if (!section.empty())
      if (const std::string near = diag::nearest(key, key_names(section)); !near.empty()) {
        report.help(fmt::format("did you mean `{}`?", near));
        rename_key(diags_.sources(), place.key, key, near, report);
        return;
      }
    std::vector<std::string> all;
    for (const RunKey& row : run_keys())
      if (row.status != KeyStatus::Dead && row.status != KeyStatus::Derived) all.emplace_back(row.key);
    if (const std::string near = diag::nearest(key, all); !near.empty()) {
      const auto rows = rows_named(near);
      report.help(fmt::format("did you mean `{}` of {}?", near, section_path(rows.front()->section)));
      return;
    }
    if (section == "custom_params")
      report.help("declare it in the model file's `config`");
    else
      report.help(fmt::format("`skdsl config --table` lists what {} may have",
                              section.empty() ? "a run config" : where));
  }

 private:
  /// For --set, which has no place in a file.
  diag::Engine::Builder told(diag::Engine::Builder report, const Place& place) const {
    if (!place.key) report.note(place.origin);
    return report;
  }

  /// A key of the model file, or of a model file that is not here. True when it may stay.
  bool check_custom(const std::string& key, const Place& place) {
    if (context_.declares && context_.declares(key)) return true;
    for (const RunKey* row : rows_named(key))
      if (row->section != "custom_params") return false;
    if (context_.declares) return true;  // the model file refuses it, with the nearest name
    if (!diag::nearest(key, key_names("custom_params")).empty() || is_section(key)) return false;
    told(diags_.report(place.key, diag::Id::RunFreeKey, key), place)
        .help("name a model file to check it: skdsl config explain FILE.sk --config RUN.yaml");
    return true;
  }

  bool check_value(const RunKey& row, Json& value, const Place& place) {
    if (row.status == KeyStatus::Dead || row.status == KeyStatus::Derived) {
      auto report = told(diags_.report(place.key, diag::Id::RunDeadKey, row.key,
                                       row.status == KeyStatus::Dead ? "nobody reads it" : "it is computed"),
                         place);
      report.help(fmt::format("leave it out: {}", row.note));
      remove_entry(diags_.sources(), place.key, place.value, report);
      return false;
    }
    if (row.key == "custom_params" && value.is_object()) return true;
    // A model file's own declaration decides what its keys may be.
    if (row.section == "custom_params" && context_.declares && context_.declares(row.key)) return true;
    if (auto good = conform(row, value)) {
      value = std::move(*good);
      return true;
    }
    if (const std::string_view instead =
            row.key == "exe_mode" && value.is_string() ? foreign_backend(value.as_string()) : "";
        !instead.empty()) {
      auto report = told(diags_.report(place.value ? place.value : place.key, diag::Id::UnsupportedBackend,
                                       value.as_string()),
                         place);
      report.help(fmt::format("the modes are eager, ge_graph and npugraph_ex; did you mean `{}`?", instead));
      if (place.value) report.fix(place.value, std::string(instead));
      return false;
    }
    const bool option = row.section == "npugraph_ex" || row.section == "ge";
    auto report = told(diags_.report(place.value ? place.value : place.key,
                                     option ? diag::Id::RunOptionRange : diag::Id::RunBadValue,
                                     wrong(row.path(), value, expectation(row))),
                       place);
    if (!value.is_string()) {
      const bool choice = row.type == KeyType::Choice || row.type == KeyType::OptChoice;
      if (choice && value.is_int())
        report.help(fmt::format("text that looks like a number is quoted: \"{}\"", shown(value)));
      report.help(fmt::format("left out, it is {}", row.initial));
      if (const std::string near = nearest_allowed(row, value); !near.empty() && place.value)
        report.fix(place.value, near);
      return false;
    }
    std::vector<std::string> choices;
    std::string_view rest = row.range;
    for (size_t bar = 0; row.type == KeyType::Choice && bar != rest.npos;
         rest.remove_prefix(bar == rest.npos ? 0 : bar + 1)) {
      bar = rest.find('|');
      choices.emplace_back(rest.substr(0, bar));
    }
    const std::string near =
        value.as_string() == "acl_graph" ? "npugraph_ex" : diag::nearest(value.as_string(), choices);
    if (near.empty()) {
      report.help(fmt::format("left out, it is {}", row.initial));
    } else {
      report.help(fmt::format("did you mean `{}`?", near));
      if (place.value) report.fix(place.value, near);
    }
    return false;
  }

  const RunContext& context_;
  Settings& settings_;
  diag::Engine& diags_;
};

class Reader {
 public:
  Reader(const RunContext& context, Settings& settings, diag::Engine& diags)
      : settings_(settings), diags_(diags), checker_(context, settings, diags) {}

  void read(const YamlNode& root) {
    if (root.kind != YamlNode::Kind::Map) {
      diags_.report(root.span, diag::Id::YamlSyntax, "a run config is a map of sections")
          .help("write `model_config:` and its keys below it, indented");
      return;
    }
    if (is_of_another_program(root) || is_legacy(root)) return;
    const size_t errors = diags_.errors();
    std::vector<const YamlEntry*> empty;
    for (const auto& entry : root.entries) {
      const auto& [key, value] = entry;
      if (is_section(key.text) && key.text != "custom_params") {
        if (value.kind == YamlNode::Kind::Null)
          empty.push_back(&entry);
        else
          section(key.text, "", value);
      } else {
        top_level(root, key, value);
      }
    }
    // Where keys slipped out of their section, they are the trouble.
    if (diags_.errors() > errors) return;
    for (const auto* entry : empty)
      diags_.report(entry->key.span, diag::Id::RunBadValue, wrong(entry->key.text, nullptr, "a map of keys"))
          .help("leave the section out, or give it keys");
  }

 private:
  Place place(const YamlNode& key, const YamlNode& value) const {
    const Span span = value.kind == YamlNode::Kind::Null ? key.span : value.span;
    return {key.span, span,
            fmt::format("{}:{}", diags_.sources().name(key.span.file), diags_.sources().loc(key.span).line)};
  }

  bool is_of_another_program(const YamlNode& root) {
    if (root.find("model_config")) return false;
    for (const std::string_view name : kOtherPrograms)
      for (const auto& [key, value] : root.entries) {
        if (key.text != name) continue;
        diags_.report(key.span, diag::Id::RunLayout, fmt::format("not an LLM recipe: it has `{}`", name))
            .help(
                "a run config of a language model has model_config, data_config, parallel_config and "
                "scheduler_config");
        return true;
      }
    return false;
  }

  bool is_legacy(const YamlNode& root) {
    if (root.find("scheduler_config")) return false;
    const YamlNode* shows = nullptr;
    for (const std::string_view name : kLegacyTop)
      for (const auto& [key, value] : root.entries)
        if (!shows && key.text == name && value.kind == YamlNode::Kind::Scalar) shows = &key;
    if (const YamlNode* data = root.find("data_config"); !shows && data)
      for (const std::string_view name : kLegacyData)
        for (const auto& [key, value] : data->entries)
          if (!shows && key.text == name) shows = &key;
    if (!shows) return false;
    const bool top =
        std::find(std::begin(kLegacyTop), std::end(kLegacyTop), shows->text) != std::end(kLegacyTop);
    diags_
        .report(shows->span, diag::Id::RunLayout,
                fmt::format("legacy layout: it has `{}` {}", shows->text,
                            top ? "at the top level" : "in data_config"))
        .help(
            "exe_mode, model_name and model_path stand in model_config now, world_size in parallel_config, "
            "batch_size "
            "and max_new_tokens in scheduler_config");
    return true;
  }

  void top_level(const YamlNode& root, const YamlNode& key, const YamlNode& value) {
    const Place where = place(key, value);
    // Files kept these at the top for older readers.
    for (const auto& [above, name] : {std::pair{"model_config", "model_name"},
                                      {"model_config", "model_path"},
                                      {"model_config", "exe_mode"},
                                      {"parallel_config", "world_size"}}) {
      const YamlNode* section = key.text == name ? root.find(above) : nullptr;
      const YamlNode* counts = section ? section->find(name) : nullptr;
      if (!counts) continue;
      auto report =
          diags_.report(key.span, diag::Id::RunDeadKey, key.text, "nobody reads it at the top level");
      report.help(fmt::format("leave it out: `{}.{}` counts", above, name));
      remove_entry(diags_.sources(), key.span, where.value, report);
      return;
    }
    if (const std::string_view use = not_modelled(key.text); !use.empty()) {
      diags_.report(key.span, diag::Id::RunNotModelled, key.text).help(fmt::format("use {}", use));
      return;
    }
    if (!rows_named(key.text).empty()) {
      checker_.unknown("", key.text, where);
      return;
    }
    std::vector<std::string> names;
    for (const std::string_view s : run_sections())
      if (s != "custom_params") names.emplace_back(s);
    auto report =
        diags_.report(key.span, settings_.lenient ? diag::Id::RunUnknownIgnored : diag::Id::RunUnknownKey,
                      key.text, "the top level");
    const std::string near = key.text == "disagg_config" ? "disagg" : diag::nearest(key.text, names);
    std::vector<std::string> keys;
    for (const RunKey& row : run_keys()) keys.emplace_back(row.key);
    if (!near.empty()) {
      report.help(fmt::format("did you mean `{}`?", near));
      report.fix(key.span, near);
    } else if (const std::string slip = diag::nearest(key.text, keys);
               value.kind != YamlNode::Kind::Map && !slip.empty()) {
      report.help(
          fmt::format("did you mean `{}` of {}?", slip, section_path(rows_named(slip).front()->section)));
    } else {
      report.help(fmt::format("the sections are {}", fmt::join(names, ", ")));
    }
  }

  /// The keys of a section; `prefix` is the way into a nested one ("debug.").
  void section(const std::string& name, const std::string& prefix, const YamlNode& map) {
    if (map.kind != YamlNode::Kind::Map) {
      diags_
          .report(map.span, diag::Id::RunBadValue,
                  wrong(section_path(name), to_json_value(map), "a map of keys"))
          .help("write its keys below it, indented");
      return;
    }
    for (const auto& [key, value] : map.entries) {
      const std::string full = prefix + key.text;
      if (is_section(key.text) && !(name == "model_config" && key.text == "custom_params")) {
        diags_.report(key.span, diag::Id::RunMisplacedKey, key.text, section_path(name))
            .help(key.text == "custom_params"
                      ? "`custom_params` belongs in model_config"
                      : fmt::format("`{}` is a section: it begins a line without blanks", key.text));
        if (value.kind == YamlNode::Kind::Null) return;  // what follows was meant to be its keys
        continue;
      }
      if (name == "ge" && has_keys_below(full)) {
        section(name, full + ".", value);
        continue;
      }
      Json json = to_json_value(value);
      const Place where = place(key, value);
      if (name == "model_config" && key.text == "custom_params" && value.kind == YamlNode::Kind::Map) {
        section("custom_params", "", value);
        continue;
      }
      if (!checker_.check(name, full, json, where)) continue;
      const RunKey* row = find_run_key(name, full);
      add(row ? row->setting() : full, json, name, where);
    }
  }

  static bool has_keys_below(std::string_view path) {
    for (const RunKey& row : run_keys())
      if (row.section == "ge" && row.key.size() > path.size() && row.key.starts_with(path) &&
          row.key[path.size()] == '.')
        return true;
    return false;
  }

  void add(const std::string& key, const Json& value, const std::string& section, const Place& where) {
    settings_.items.push_back(
        {key, value, Layer::RunYaml, where.origin, false, section, where.value, where.key});
    if (section != "custom_params" || !value.is_object()) return;
    for (const auto& [member, below] : value.as_object()) add(key + "." + member, below, section, where);
  }

  Settings& settings_;
  diag::Engine& diags_;
  Checker checker_;
};

bool is_known_place(const std::vector<std::string>& above, const std::string& key) {
  if (above.empty()) return is_section(key);
  if (above.size() == 1) return find_run_key(above[0], key) != nullptr;
  if (above[0] == "model_config" && above[1] == "custom_params")
    return above.size() == 2 && find_run_key("custom_params", key) != nullptr;
  std::string full;
  for (size_t i = 1; i < above.size(); ++i) full += above[i] + ".";
  return find_run_key(above[0], full + key) != nullptr;
}

}  // namespace

Expected<void> read_run_config(const std::string& path, const RunContext& context, Settings& settings,
                               diag::Engine& diags) {
  auto file = diags.sources().read(path);
  if (!file) return tl::unexpected(file.error());
  read_run_config(*file, context, settings, diags);
  return {};
}

void read_run_config(uint32_t file, const RunContext& context, Settings& settings, diag::Engine& diags) {
  if (const auto root = read_yaml(file, is_known_place, diags)) Reader(context, settings, diags).read(*root);
}

void check_run_settings(const RunContext& context, Settings& settings, diag::Engine& diags) {
  Checker checker(context, settings, diags);
  std::erase_if(settings.items, [&](Setting& s) {
    if (s.layer != Layer::Set || s.section.empty()) return false;
    std::string key = s.key;
    for (const RunKey& row : run_keys())
      if (row.section == s.section && row.setting() == s.key) key = row.key;
    return !checker.check(s.section, key, s.value, {{}, {}, s.origin});
  });
}

}  // namespace skdsl::config
