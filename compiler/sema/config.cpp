// config — the file's `config` block under all layers of settings
#include <algorithm>
#include <cmath>

#include "compiler/config/hf_keys.h"
#include "compiler/config/run_keys.h"
#include "compiler/sema/elaborator.h"

namespace skdsl::sema {

using ast::Kind;
using ast::NodeId;

namespace {
const char* kind_word(const Json& j) {
  return j.is_bool()     ? "a boolean"
         : j.is_string() ? "a string"
         : j.is_number() ? "a number"
         : j.is_array()  ? "a list"
                         : "an object";
}
}  // namespace

Value Elaborator::builtin_value(std::string_view name) const {
  const config::Builtins& b = options_.builtins;
  if (name == "exe_mode") return Value::string(b.exe_mode);
  if (name == "dtype") return Value::string(b.dtype);
  if (name == "max_seq_len") return Value::integer(b.max_seq_len);
  if (name == "block_size") return Value::integer(b.block_size);
  if (name == "batch_size") return Value::integer(b.batch_size);
  if (name == "world_size") return Value::integer(b.world_size);
  if (name == "kv_blocks")
    return Value::integer(b.kv_blocks > 0
                              ? b.kv_blocks
                              : 1 + b.batch_size * ((b.max_seq_len + b.block_size - 1) / b.block_size));
  return {};
}

void Elaborator::resolve_config() {
  const Module& m = modules_.main();
  if (m.config) {
    const auto declare = [&](NodeId entry, const std::string& key) {
      if (std::find(std::begin(config::kBuiltinNames), std::end(config::kBuiltinNames), key) !=
          std::end(config::kBuiltinNames)) {
        report(m.ast.name_span(entry), diag::Id::ReservedName, key,
               "the runtime sets it; use it without declaring it");
        return;
      }
      const auto [it, inserted] = config_.try_emplace(key);
      if (!inserted) {
        report(m.ast.name_span(entry), diag::Id::DuplicateName, key)
            .note(m.ast.name_span(it->second.node), "the first one is here");
        return;
      }
      it->second.node = entry;
      config_order_.push_back(key);
    };
    for (const NodeId item : m.ast.children(m.config)) {
      if (m.ast.kind(item) == Kind::ConfigEntry) declare(item, std::string(m.ast.text(item)));
      if (m.ast.kind(item) == Kind::ConfigGroup) {
        const std::string group(m.ast.text(item));
        config_groups_.insert(group);
        for (const NodeId entry : m.ast.children(item))
          declare(entry, group + "." + std::string(m.ast.text(entry)));
      }
    }
  }
  check_settings();
  for (const std::string& key : config_order_) config_value(key, {});
  check_requirements();
  for (const std::string& key : config_order_) {
    const ConfigKey& k = config_.at(key);
    out_.config.push_back({key, text_of(k.value), k.layer, k.origin});
  }
}

void Elaborator::check_settings() {
  std::vector<std::string> known(config_order_);
  known.insert(known.end(), std::begin(config::kBuiltinNames), std::end(config::kBuiltinNames));
  for (const char* name : {"max_new_tokens", "next_n"}) known.emplace_back(name);
  for (const config::Setting& s : options_.settings.items) {
    if (config_.contains(s.key) || config_groups_.contains(s.key) ||
        std::find(known.begin(), known.end(), s.key) != known.end())
      continue;
    if (s.key.starts_with("npugraph_ex.")) continue;  // options of the mode: the runtime judges them
    const size_t dot = s.key.find('.');
    // A member of a key that is a dict.
    if (const auto root = config_.find(s.key.substr(0, dot));
        dot != std::string::npos && root != config_.end() && is_dict(root->second))
      continue;
    if (s.layer == config::Layer::HfConfig) {
      // Members of a group that nobody declares are judged with the group.
      if (dot != std::string::npos && !config_groups_.contains(s.key.substr(0, dot))) continue;
      if (s.derived) continue;
      const config::HfVerdict verdict = config::judge_hf_key(
          s, options_.settings, [&](std::string_view key) { return config_.find(key) != config_.end(); });
      if (verdict.kind == config::HfKind::Unsupported) {
        report({}, diag::Id::UnsupportedConfig, s.origin, verdict.key, to_json(verdict.value))
            .help(verdict.text);
      } else if (verdict.kind == config::HfKind::Unknown && !s.value.is_null()) {
        report({}, diag::Id::UnknownConfigWarning, s.origin, s.key);
      } else {
        out_.harmless_keys.push_back(s.key);
      }
      continue;
    }
    // Keys of the run config are checked before; of its custom_params the well-known ones need no
    // declaration.
    if (config::find_run_setting(s.key)) continue;
    if (!s.section.empty() && (s.section != "custom_params" || config::find_run_key(s.section, s.key)))
      continue;
    if (dot != std::string::npos && config::find_run_key("custom_params", s.key.substr(0, dot))) continue;
    if (options_.settings.lenient && s.layer == config::Layer::RunYaml) {
      report(s.key_span, diag::Id::RunUnknownIgnored, s.key, "the model file's config");
      continue;
    }
    auto r = report(s.key_span, diag::Id::UnknownConfigKey, s.key, s.origin);
    std::vector<std::string> names = known;
    if (s.section == "custom_params")
      for (std::string& name : config::key_names("custom_params")) names.push_back(std::move(name));
    suggest(r, 0, s.key_span, s.key, diag::nearest(s.key, names));
  }
}

Value Elaborator::convert_setting(const config::Setting& s, NodeId type, const std::string& key) {
  const ast::Ast& a = modules_.main().ast;
  const Json& j = s.value;
  const auto mismatch = [&](std::string_view expected) {
    std::string shown = to_json(j);
    if (shown.size() > 60) shown = shown.substr(0, 57) + "...";
    report(a.span(type), diag::Id::ConfigValueType, key, s.origin,
           fmt::format("{} ({})", kind_word(j), shown), expected);
    return Value{};
  };
  if (a.kind(type) == Kind::TypeList) {
    if (!j.is_array()) return mismatch("a list");
    std::vector<Value> items;
    for (const Json& x : j.as_array()) {
      const config::Setting element{key, x, s.layer, s.origin};
      items.push_back(convert_setting(element, a.child(type, 0), key));
    }
    return Value::list(std::move(items));
  }
  const std::string_view word = a.text(type);
  if (word == "int") {
    if (j.is_int()) return Value::integer(j.as_int());
    // 2^63 is the first double that an integer cannot hold.
    if (j.is_double() && std::abs(j.as_double()) < 0x1p63 && j.as_double() == std::trunc(j.as_double()))
      return Value::integer(static_cast<int64_t>(j.as_double()));
    return mismatch("an integer");
  }
  if (word == "float") return j.is_number() ? Value::real(j.as_double()) : mismatch("a number");
  if (word == "bool") return j.is_bool() ? Value::boolean(j.as_bool()) : mismatch("true or false");
  if (word == "str") return j.is_string() ? Value::string(j.as_string()) : mismatch("a string");
  if (word == "dict") return j.is_object() ? dict_of(j) : mismatch("an object");
  report(a.span(type), diag::Id::UnknownType, word)
      .help("configuration keys are int, float, bool, str, dict or list[…]");
  return {};
}

Value Elaborator::config_value(std::string_view key, Span use) {
  const auto it = config_.find(key);
  if (it == config_.end()) return {};
  ConfigKey& k = it->second;
  if (k.resolved) return k.value;
  const ast::Ast& a = modules_.main().ast;
  if (k.resolving) {
    report(use, diag::Id::BadValue, fmt::format("the default of `{}` depends on itself", key));
    return {};
  }
  k.resolving = true;
  const NodeId type = a.child(k.node, 0), initial = a.child(k.node, 1);
  if (const config::Setting* s = options_.settings.find(key)) {
    k.layer = s->layer;
    k.origin = s->origin;
    k.value = convert_setting(*s, type, std::string(key));
  } else if (initial) {
    k.origin = "default";
    Frame f;
    k.value = eval(f, initial);
    unify(f, type, k.value, a.span(initial), [&](const std::string& expected) {
      report(a.span(initial), diag::Id::TypeMismatch, fmt::format("the default of `{}`", key),
             describe(&f, k.value), expected);
    });
  } else {
    report(a.name_span(k.node), diag::Id::MissingArgument, "the configuration", key)
        .help(fmt::format("give it a default, or set it: --set {}=…", key));
  }
  if (is_dict(k)) set_members(k, std::string(key));
  k.resolving = false;
  k.resolved = true;
  return k.value;
}

bool Elaborator::is_dict(const ConfigKey& key) const {
  const ast::Ast& a = modules_.main().ast;
  const NodeId type = a.child(key.node, 0);
  return a.kind(type) == Kind::TypeName && a.text(type) == "dict";
}

/// `--set key.member=value` changes one entry of a dict.
void Elaborator::set_members(ConfigKey& k, const std::string& key) {
  if (!k.value.is(Value::Kind::Dict)) return;
  for (const config::Setting& s : options_.settings.items) {
    if (s.layer < config::Layer::RunYaml || s.layer < k.layer || !s.key.starts_with(key + ".")) continue;
    Value* at = &k.value;
    std::string_view rest = std::string_view(s.key).substr(key.size() + 1);
    for (size_t dot = rest.find('.'); dot != rest.npos; dot = rest.find('.')) {
      if (!dict_find(*at, rest.substr(0, dot)))
        dict_set(*at, rest.substr(0, dot), Value::make(Value::Kind::Dict));
      at = const_cast<Value*>(dict_find(*at, rest.substr(0, dot)));
      if (!at->is(Value::Kind::Dict)) *at = Value::make(Value::Kind::Dict);
      rest.remove_prefix(dot + 1);
    }
    dict_set(*at, rest, dict_entry(s.value));
    k.layer = s.layer;
    k.origin = s.origin;
  }
}

void Elaborator::check_requirements() {
  const Module& m = modules_.main();
  if (!m.config) return;
  for (const NodeId item : m.ast.children(m.config)) {
    if (m.ast.kind(item) != Kind::Require) continue;
    Frame f;
    const NodeId condition = m.ast.child(item, 0);
    const Value v = eval(f, condition);
    const auto ok = static_bool(v, m.ast.span(condition), "a requirement");
    if (!ok || *ok) continue;
    std::string message(diags_.sources().text(m.ast.span(condition)));
    if (m.ast.child(item, 1)) {
      const auto text = static_string(eval(f, m.ast.child(item, 1)), m.ast.span(item), "the message");
      if (text) message = *text;
    }
    auto r = report(m.ast.span(condition), diag::Id::RequireViolated, message);
    // The values that decide, and who gave them.
    std::set<std::string> said;
    const std::function<void(NodeId)> mention = [&](NodeId n) {
      if (m.ast.kind(n) == Kind::Name && said.insert(std::string(m.ast.text(n))).second) {
        const std::string name(m.ast.text(n));
        if (const auto it = config_.find(name); it != config_.end()) {
          r.note(fmt::format("{} = {} ({})", name, text_of(it->second.value), it->second.origin));
          // A default follows other keys: they are the ones that somebody set.
          if (it->second.layer == config::Layer::Default) mention(m.ast.child(it->second.node, 1));
        } else if (const Value b = builtin_value(name); !b.poison()) {
          r.note(fmt::format("{} = {}", name, text_of(b)));
        }
      }
      for (const NodeId c : m.ast.children(n)) mention(c);
    };
    mention(condition);
  }
}

}  // namespace skdsl::sema
