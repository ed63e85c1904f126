// shape_check — the last look at a call's shapes before kernels run, which check nothing themselves
//
// The compiler proved shapes as far as symbols let it. What only values tell — x[0..n] with n read from a
// tensor — is checked here, once per launch in eager and once per graph.
#pragma once
#include <optional>
#include <string>

#include "runtime/abi/abi.h"
#include "stdlib/op_info.h"

namespace skdsl::exec {

/// What is wrong with the shapes of this call; nothing when its kernel may run. Every operand and result is
/// contiguous.
std::optional<std::string> shape_error(Opcode op, const sk_call& call);

}  // namespace skdsl::exec
