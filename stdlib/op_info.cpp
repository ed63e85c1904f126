#include "stdlib/op_info.h"

#include <unordered_map>

namespace skdsl {

Opcode find_op(std::string_view name) {
  static const auto* const index = [] {
    auto* map = new std::unordered_map<std::string_view, Opcode>;
    for (size_t i = 0; i < static_cast<size_t>(Opcode::kCount); ++i)
      map->emplace(kOps[i].name, static_cast<Opcode>(i));
    return map;
  }();
  const auto it = index->find(name);
  return it == index->end() ? Opcode::kCount : it->second;
}

}  // namespace skdsl
