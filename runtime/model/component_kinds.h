// component_kinds — tables of the `type`s that a stage of tokenizer.json may have
#pragma once
#include <fmt/format.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "runtime/base/error.h"
#include "runtime/base/json.h"

namespace skdsl::model {

/// A row of a table of kinds.
template <class Component>
struct Kind {
  std::string_view type;
  Expected<std::unique_ptr<Component>> (*make)(const Json& json, const std::string& where);
};

/// Finds the row of `json`'s type and makes the component; null for null. `stage` is the member's name.
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
    if (kind.type == type->as_string()) return kind.make(*json, where);
    supported += fmt::format("{}{}", supported.empty() ? "" : ", ", kind.type);
  }
  return fail(fmt::format("`{}`: {} of type `{}` is not supported; supported: {}", where, stage,
                          type->as_string(), supported.empty() ? "none (null)" : supported));
}

}  // namespace skdsl::model
