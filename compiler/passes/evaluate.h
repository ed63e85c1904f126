// evaluate — operators on literal tensors, where the result is certain to be the kernel's, bit for bit
//
// Certain are: moving elements, comparing, integers that do not overflow, and + - * / of f32, which IEEE
// defines. What depends on a kernel's choice (NaN payloads, which zero is larger, conversions out of range)
// is left to the kernel.
#pragma once
#include <optional>
#include <vector>

#include "runtime/plan/program.h"

namespace skdsl::passes {

/// The results of `op`, or nothing when they are not certain. `results` are the types; all sizes must be
/// constant.
std::optional<std::vector<plan::ConstantData>> evaluate(
    const plan::Op& op, const std::vector<const plan::ConstantData*>& operands,
    const std::vector<plan::Type>& results);

}  // namespace skdsl::passes
