// value — what the interpreter computes with: tensors, host scalars and host lists
#pragma once
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "runtime/plan/program.h"
#include "runtime/tensor/tensor.h"

namespace skdsl::exec {

/// A value of a running program: one alternative for each plan::Kind, in its order.
using RuntimeValue = std::variant<Tensor, int64_t, double, bool, std::vector<int64_t>>;

/// The kind that a type calls this value.
plan::Kind kind_of(const RuntimeValue& value);
/// "bf16[3, 64]", "int 7", "list of 3"; for messages.
std::string describe(const RuntimeValue& value);
/// As `print` shows it: numbers with up to 9 significant digits, tensors as nested lists, long ones cut with
/// `…`.
std::string text(const RuntimeValue& value);

}  // namespace skdsl::exec
