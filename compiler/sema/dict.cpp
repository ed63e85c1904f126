// dict — values by name: what a nested object of config.json becomes, and the functions on it
#include "compiler/sema/elaborator.h"

namespace skdsl::sema {

using K = Value::Kind;

/// A JSON value as it is; null is no value, which `dict_set` leaves out.
Value Elaborator::dict_entry(const Json& j) {
  if (j.is_bool()) return Value::boolean(j.as_bool());
  if (j.is_int()) return Value::integer(j.as_int());
  if (j.is_double()) return Value::real(j.as_double());
  if (j.is_string()) return Value::string(j.as_string());
  if (j.is_object()) return dict_of(j);
  if (!j.is_array()) return Value::none();
  std::vector<Value> items;
  for (const Json& x : j.as_array()) items.push_back(dict_entry(x));
  return Value::list(std::move(items));
}

Value Elaborator::dict_of(const Json& object) {
  Value out = Value::make(K::Dict);
  for (const auto& [key, value] : object.as_object()) dict_set(out, key, dict_entry(value));
  return out;
}

const Value* Elaborator::dict_find(const Value& dict, std::string_view key) {
  for (size_t i = 0; i + 1 < dict.items.size(); i += 2)
    if (dict.items[i].text == key) return &dict.items[i + 1];
  return nullptr;
}

/// No value takes the entry away.
void Elaborator::dict_set(Value& dict, std::string_view key, Value v) {
  for (size_t i = 0; i + 1 < dict.items.size(); i += 2) {
    if (dict.items[i].text != key) continue;
    std::vector<Value>& items = dict.items.edit();
    const auto at = items.begin() + static_cast<std::ptrdiff_t>(i);
    if (v.is(K::None))
      items.erase(at, at + 2);
    else
      at[1] = std::move(v);
    return;
  }
  if (v.is(K::None)) return;
  std::vector<Value>& items = dict.items.edit();
  items.push_back(Value::string(std::string(key)));
  items.push_back(std::move(v));
}

Value Elaborator::dict_member(const Value& dict, std::string_view key, Span at) {
  if (const Value* v = dict_find(dict, key)) return *v;
  const auto quoted = [&](const std::string& near) {  // d.key or d["key"]
    return diags_.sources().text(at).starts_with('"') ? fmt::format("\"{}\"", near) : near;
  };
  auto r = report(at, diag::Id::UnknownMember, "a dict", key);
  std::vector<std::string> names;
  for (size_t i = 0; i < dict.items.size(); i += 2) names.push_back(dict.items[i].text);
  if (const std::string near = diag::nearest(key, names); !near.empty())
    r.did_you_mean(at, near, quoted(near));
  else
    r.help(fmt::format("`get(d, \"{}\", otherwise)` gives another value where it is absent", key));
  return {};
}

//   dict(base, a = 1, …)     base with these entries; base may be left out
//   get(d, "a", otherwise)   the entry, or `otherwise`
//   contains(d, "a")         whether there is one; of a list, whether an element is equal
//   keys(d)                  the names in order
Value Elaborator::dict_function(Frame& f, std::string_view name, std::vector<CallArg> args, Span at) {
  if (name == "dict") {
    Value out = Value::make(K::Dict);
    for (size_t i = 0; i < args.size(); ++i) {
      CallArg& arg = args[i];
      if (!arg.name.empty()) {
        dict_set(out, arg.name, std::move(arg.value));
      } else if (i == 0 && arg.value.is(K::Dict)) {
        out = std::move(arg.value);
      } else {
        report(arg.span, diag::Id::TypeMismatch, "an argument of `dict`", describe(&f, arg.value),
               "a dict first, then `name = value`");
        return {};
      }
    }
    return out;
  }
  const size_t n = name == "get" ? 3 : name == "contains" ? 2 : 1;
  for (const CallArg& arg : args)
    if (!arg.name.empty()) {
      report(arg.name_span, diag::Id::UnknownArgument, fmt::format("`{}`", name), arg.name);
      return {};
    }
  if (args.size() != n) {
    report(at, diag::Id::TooManyArguments, fmt::format("`{}`", name), n, args.size());
    return {};
  }
  const Value& base = args[0].value;
  if (name == "contains" && base.is(K::List)) {
    for (Value item : base.items) {
      Value wanted = args[1].value;
      // Where they were made does not matter.
      item.origin = wanted.origin = {};
      if (same(item, wanted)) return Value::boolean(true);
    }
    return Value::boolean(false);
  }
  if (!base.is(K::Dict)) {
    report(args[0].span, diag::Id::TypeMismatch, fmt::format("the first argument of `{}`", name),
           describe(&f, base), name == "contains" ? "a dict or a list" : "a dict");
    return {};
  }
  if (name == "keys") {
    std::vector<Value> out;
    for (size_t i = 0; i < base.items.size(); i += 2) out.push_back(base.items[i]);
    return Value::list(std::move(out));
  }
  const auto key = static_string(args[1].value, args[1].span, "a key");
  if (!key) return {};
  const Value* found = dict_find(base, *key);
  if (name == "contains") return Value::boolean(found != nullptr);
  return found ? *found : args[2].value;
}

}  // namespace skdsl::sema
