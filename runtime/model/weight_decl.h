// weight_decl — how a weight declaration is put together from its sources
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/plan/program.h"

namespace skdsl::model {

/// The dims of a declaration in plain numbers.
std::vector<int64_t> declared_shape(const plan::WeightDecl& decl);

/// Whether the rows of sources become a new axis 0.
inline bool stacks(const plan::WeightDecl& decl) { return decl.stacked || decl.sources.size() > 1; }

/// The shape that each row of sources must give; nothing when the declaration stacks but has not one row for
/// each index of its first axis.
std::optional<std::vector<int64_t>> row_shape(const plan::WeightDecl& decl);

/// Elements of a shape; nothing when a dim is negative or the number does not fit.
std::optional<int64_t> element_count(const std::vector<int64_t>& shape);

/// "[3, 4]"
std::string shape_text(const std::vector<int64_t>& shape);

/// "weight `layers.0.norm.w` (llama.sk:12:3)"
std::string describe(const plan::Program& program, const plan::WeightDecl& decl);

}  // namespace skdsl::model
