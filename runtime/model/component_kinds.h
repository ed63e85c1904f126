// component_kinds — tables of the `type`s that a stage of tokenizer.json may have
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/json.h"

namespace skdsl::model {

/// A row of a table of kinds: the type, how it is made, and every member that it may have beside `type`.
template <class Component>
struct Kind {
  std::string_view type;
  Expected<std::unique_ptr<Component>> (*make)(const Json& json, const std::string& where);
  std::vector<std::string_view> members = {};
};

/// Finds the row of `json`'s type and makes the component; null for null. `stage` is the member's name. A
/// member that the row does not list is refused: it might change the ids.
template <class Component>
Expected<std::unique_ptr<Component>> make_of_kind(
    const Json* json, std::string_view stage, const std::string& where,
    std::type_identity_t<std::span<const Kind<Component>>> kinds) {
  if (!json || json->is_null()) return std::unique_ptr<Component>();
  const Json* type = json->find("type");
  if (!type || !type->is_string()) {
    return fail(
        fmt::format("`{}`: {} has no `type`; expected an object with a string as `type`", where, stage));
  }
  std::string supported;
  for (const Kind<Component>& kind : kinds) {
    supported += fmt::format("{}{}", supported.empty() ? "" : ", ", kind.type);
    if (kind.type != type->as_string()) continue;
    std::string members;
    for (const std::string_view name : kind.members)
      members += fmt::format("{}{}", members.empty() ? "" : ", ", name);
    for (const auto& [key, value] : json->as_object())
      if (key != "type" && std::find(kind.members.begin(), kind.members.end(), key) == kind.members.end())
        return fail(fmt::format("`{}`: {} {}: `{}` (here {}) is not supported; supported: {}", where, stage,
                                kind.type, key, to_json(value).substr(0, 80),
                                members.empty() ? "no members" : members));
    return kind.make(*json, where);
  }
  return fail(fmt::format("`{}`: {} of type `{}` is not supported; supported: {}", where, stage,
                          type->as_string(), supported));
}

/// Reads the members of one component; errors name the file and the component.
class Members {
 public:
  /// `place` is the file and the component: "`tokenizer.json`: decoder Strip".
  Members(const Json& json, std::string place) : json_(json), place_(std::move(place)) {}

  /// A boolean; absent or null is `fallback`.
  Expected<bool> flag(std::string_view key, bool fallback = false) const {
    const Json* member = json_.find(key);
    if (!member || member->is_null()) return fallback;
    if (member->is_bool()) return member->as_bool();
    return expected(key, "true or false");
  }
  /// A string that must be there.
  Expected<std::string> text(std::string_view key) const {
    const Json* member = json_.find(key);
    if (member && member->is_string()) return member->as_string();
    return expected(key, "a string");
  }
  /// A string; absent and null are nothing.
  Expected<std::optional<std::string>> optional_text(std::string_view key) const {
    const Json* member = json_.find(key);
    if (!member || member->is_null()) return std::optional<std::string>();
    if (member->is_string()) return std::optional(member->as_string());
    return expected(key, "a string or null");
  }
  /// A count from 0 to 2^16; absent is 0.
  Expected<int64_t> count(std::string_view key) const {
    const Json* member = json_.find(key);
    if (!member) return int64_t{0};
    if (member->is_int() && member->as_int() >= 0 && member->as_int() <= 65536) return member->as_int();
    return expected(key, "an integer from 0 to 65536");
  }
  /// A list that must be there.
  Expected<const Json::Array*> list(std::string_view key) const {
    const Json* member = json_.find(key);
    if (member && member->is_array()) return &member->as_array();
    return expected(key, "a list");
  }

  /// The error that `key` is not what it must be.
  tl::unexpected<Error> expected(std::string_view key, std::string_view what) const {
    const Json* member = json_.find(key);
    return fail(fmt::format("{}: `{}` is {}; expected {}", place_, key,
                            member ? to_json(*member).substr(0, 80) : "missing", what));
  }
  const std::string& place() const { return place_; }

 private:
  const Json& json_;
  std::string place_;
};

/// Members of a component of that stage and type.
inline Members members_of(const Json& json, std::string_view stage, const std::string& where) {
  return {json, fmt::format("`{}`: {} {}", where, stage, json.find("type")->as_string())};
}

}  // namespace skdsl::model
