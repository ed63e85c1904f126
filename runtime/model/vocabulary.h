// vocabulary — the `vocab` of a token model: names and ids, both ways
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "runtime/model/component_kinds.h"

namespace skdsl::model {

class Vocabulary {
 public:
  /// Reads the object (token: id) under `vocab`.
  static Expected<Vocabulary> read(const Json& model, const Members& members);

  std::optional<int32_t> id_of(std::string_view token) const {
    const auto at = ids_.find(token);
    return at == ids_.end() ? std::nullopt : std::optional(at->second);
  }
  const std::string* token_of(int32_t id) const {
    const auto at = tokens_.find(id);
    return at == tokens_.end() ? nullptr : at->second;
  }
  /// One more than the largest id.
  int32_t size() const { return size_; }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, int32_t, Hash, std::equal_to<>> ids_;
  std::unordered_map<int32_t, const std::string*> tokens_;  // names of ids_, which never move
  int32_t size_ = 0;
};

}  // namespace skdsl::model
