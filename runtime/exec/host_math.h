// host_math — arithmetic of host scalars: 64-bit integers that never wrap, doubles, booleans
#pragma once
#include <optional>
#include <span>
#include <string_view>

#include "runtime/base/error.h"
#include "runtime/exec/value.h"

namespace skdsl::exec {

/// A scalar as a number; nothing for tensors and lists. Booleans are 0 and 1; as_integer refuses floats.
std::optional<double> as_real(const RuntimeValue& value);
std::optional<int64_t> as_integer(const RuntimeValue& value);
/// A scalar that is not zero.
bool truth(const RuntimeValue& value);

/// `host_fn`: integers stay integers, a float among the operands makes it floats; floordiv and mod round
/// down. Where `result` is HostInt the value must be a whole number ("`/` must divide exactly"). Errors:
/// division by zero, overflow, operands of a wrong kind.
Expected<RuntimeValue> host_function(std::string_view name, std::span<const RuntimeValue> operands,
                                     plan::Kind result);

}  // namespace skdsl::exec
