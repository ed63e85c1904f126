#include "compiler/config/run_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "compiler/config/config.h"

namespace skdsl::config {

namespace {

constexpr RunKey kKeys[] = {
#define SK_KEY(section, key, type, initial, range, status, note, source) \
  {section, key, KeyType::type, initial, range, KeyStatus::status, note, source},
#define SK_NPU(field, type, initial, range, status, note, source) \
  {"npugraph_ex", #field, KeyType::type, initial, range, KeyStatus::status, note, source},
#define SK_GE(field, key, type, initial, range, status, note, source) \
  {"ge", key, KeyType::type, initial, range, KeyStatus::status, note, source},
#include "compiler/config/run_keys.def"
};

struct Foreign {
  std::string_view key, use;
};
constexpr Foreign kNotModelled[] = {
#define SK_NOT_MODELLED(key, use) {key, use},
#include "compiler/config/run_keys.def"
};

/// Keys that models and the runtime know by their bare name.
constexpr std::string_view kBare[] = {"exe_mode",       "dtype",      "next_n",      "batch_size",
                                      "max_new_tokens", "block_size", "max_seq_len", "kv_blocks"};

std::vector<std::string_view> choices(std::string_view range) {
  std::vector<std::string_view> out;
  for (size_t bar = 0; bar != range.npos; range.remove_prefix(bar == range.npos ? 0 : bar + 1)) {
    bar = range.find('|');
    out.push_back(range.substr(0, bar));
  }
  return out;
}

struct Bounds {
  std::optional<double> least, most;
};

Bounds bounds(std::string_view range) {
  const auto number = [](std::string_view text) -> std::optional<double> {
    double d = 0;
    if (text.empty() || std::from_chars(text.data(), text.data() + text.size(), d).ec != std::errc())
      return {};
    return d;
  };
  const size_t dots = range.find("..");
  if (dots == range.npos) return {};
  return {number(range.substr(0, dots)), number(range.substr(dots + 2))};
}

std::string within(std::string_view range) {
  const Bounds b = bounds(range);
  if (b.least && b.most) return fmt::format(" from {} to {}", *b.least, *b.most);
  if (b.least) return fmt::format(" of at least {}", *b.least);
  return "";
}

bool inside(std::string_view range, double value) {
  const Bounds b = bounds(range);
  return (!b.least || value >= *b.least) && (!b.most || value <= *b.most);
}

/// The words of YAML 1.1, which the original's reader takes for booleans.
std::optional<bool> boolean_word(const Json& value) {
  if (value.is_bool()) return value.as_bool();
  if (!value.is_string()) return {};
  std::string word = value.as_string();
  for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (word == "yes" || word == "on") return true;
  if (word == "no" || word == "off") return false;
  return {};
}

std::string_view type_word(KeyType type) {
  constexpr std::string_view kWords[] = {"bool",        "int",           "float",       "str",
                                         "choice",      "map",           "bool or 0–2", "bool or null",
                                         "int or null", "float or null", "str or null", "choice or null",
                                         "map or null"};
  return kWords[static_cast<size_t>(type)];
}

}  // namespace

std::string_view name(KeyStatus status) {
  constexpr std::string_view kNames[] = {"acts", "recorded only", "no effect here", "dead", "derived"};
  return kNames[static_cast<size_t>(status)];
}

std::string RunKey::path() const {
  return fmt::format("{}{}.{}", section == "custom_params" ? "model_config." : "", section, key);
}

std::string RunKey::setting() const {
  if (section == "custom_params") return std::string(key);
  if ((section == "model_config" || section == "scheduler_config") &&
      std::find(std::begin(kBare), std::end(kBare), key) != std::end(kBare))
    return std::string(key);
  return path();
}

std::span<const RunKey> run_keys() { return kKeys; }

const RunKey* find_run_key(std::string_view section, std::string_view key) {
  for (const RunKey& k : kKeys)
    if (k.section == section && k.key == key) return &k;
  return nullptr;
}

const RunKey* find_run_setting(std::string_view setting) {
  for (const RunKey& k : kKeys)
    if (k.section != "custom_params" && k.setting() == setting) return &k;
  return nullptr;
}

const std::vector<std::string_view>& run_sections() {
  static const std::vector<std::string_view> kSections = [] {
    std::vector<std::string_view> out;
    for (const RunKey& k : kKeys)
      if (std::find(out.begin(), out.end(), k.section) == out.end()) out.push_back(k.section);
    return out;
  }();
  return kSections;
}

std::vector<const RunKey*> rows_named(std::string_view key) {
  std::vector<const RunKey*> out;
  for (const RunKey& k : kKeys)
    if (k.key == key) out.push_back(&k);
  return out;
}

std::vector<std::string> key_names(std::string_view section) {
  std::vector<std::string> out;
  for (const RunKey& k : kKeys)
    if (k.section == section) out.emplace_back(k.key);
  return out;
}

std::string_view not_modelled(std::string_view key) {
  for (const Foreign& f : kNotModelled)
    if (f.key == key) return f.use;
  return "";
}

std::string_view foreign_backend(std::string_view name) {
  // Names of back ends of torch.compile, and of npugraph_ex before it was called so.
  constexpr std::string_view kNames[][2] = {{"acl_graph", "npugraph_ex"},       {"aclgraph", "npugraph_ex"},
                                            {"reduce-overhead", "npugraph_ex"}, {"inductor", "npugraph_ex"},
                                            {"cudagraphs", "npugraph_ex"},      {"max-autotune", "ge_graph"},
                                            {"torchair", "ge_graph"},           {"aot_eager", "eager"}};
  for (const auto& [foreign, mode] : kNames)
    if (foreign == name) return mode;
  return "";
}

std::string expectation(const RunKey& key) {
  switch (key.type) {
    case KeyType::Bool:
      return "true or false";
    case KeyType::OptBool:
      return "true, false or null";
    case KeyType::Int:
      return "an integer" + within(key.range);
    case KeyType::OptInt:
      return "an integer" + within(key.range) + ", or null";
    case KeyType::Float:
      return "a number" + within(key.range);
    case KeyType::OptFloat:
      return "a number" + within(key.range) + ", or null";
    case KeyType::Str:
      return "a text";
    case KeyType::OptStr:
      return "a text, or null";
    case KeyType::Choice:
    case KeyType::OptChoice:
      return fmt::format("one of {}", fmt::join(choices(key.range), ", "));
    case KeyType::Switch:
      return "true, false, 0, 1 or 2";
    case KeyType::Dict:
      return "a map";
    case KeyType::OptDict:
      return "a map, a list or null";
  }
  return "";
}

std::optional<Json> conform(const RunKey& key, const Json& value) {
  if (value.is_null()) return key.optional() ? std::optional<Json>(value) : std::nullopt;
  switch (key.type) {
    case KeyType::Bool:
    case KeyType::OptBool:
      if (const auto b = boolean_word(value)) return Json(*b);
      return {};
    case KeyType::Switch:
      if (const auto b = boolean_word(value)) return Json(*b);
      [[fallthrough]];
    case KeyType::Int:
    case KeyType::OptInt:
      if (!value.is_int() || !inside(key.range, static_cast<double>(value.as_int()))) return {};
      return value;
    case KeyType::Float:
    case KeyType::OptFloat:
      if (!value.is_number() || !inside(key.range, value.as_double())) return {};
      return Json(value.as_double());
    case KeyType::Str:
    case KeyType::OptStr:
      // A release such as 9.1 is a number to YAML.
      if (value.is_number() && key.section == "target") return Json(to_json(value));
      if (!value.is_string()) return {};
      return value;
    case KeyType::Choice:
    case KeyType::OptChoice: {
      if (!value.is_string()) return {};
      for (const std::string_view c : choices(key.range))
        if (c == value.as_string()) return value;
      return {};
    }
    case KeyType::Dict:
      return value.is_object() ? std::optional<Json>(value) : std::nullopt;
    case KeyType::OptDict:
      return value.is_object() || value.is_array() ? std::optional<Json>(value) : std::nullopt;
  }
  return {};
}

Json default_value(const RunKey& key) {
  auto value = parse_json(key.initial, "default");
  return value ? std::move(*value) : Json();
}

std::string run_keys_markdown() {
  const auto cell = [](std::string_view text) {
    std::string out;
    for (const char c : text) out += c == '|' ? std::string(" ") : std::string(1, c);
    return out;
  };
  std::string out;
  for (const std::string_view section : run_sections()) {
    out +=
        fmt::format("### {}{}\n\n| key | type | default | allowed | status | |\n|---|---|---|---|---|---|\n",
                    section == "custom_params" ? "model_config." : "", section);
    for (const RunKey& k : kKeys)
      if (k.section == section)
        out += fmt::format("| {} | {} | {} | {} | {} | {} |\n", k.key, type_word(k.type), k.initial,
                           cell(k.range), name(k.status), k.note);
    out += '\n';
  }
  out += "### Not modelled\n\n| name | use |\n|---|---|\n";
  for (const Foreign& f : kNotModelled) out += fmt::format("| {} | {} |\n", f.key, f.use);
  return out;
}

}  // namespace skdsl::config
