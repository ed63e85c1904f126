// host_ops — operators that the host computes itself: reading tensors, printing, arithmetic of host scalars
#pragma once
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/exec/allocator.h"
#include "runtime/exec/launch.h"
#include "runtime/exec/value.h"
#include "runtime/plan/program.h"

namespace skdsl::exec {

/// What host operators share during the life of an interpreter.
struct HostServices {
  TensorPool& pool;
  std::function<void(std::string_view)> print;
  std::map<int64_t, std::deque<Tensor>>
      mailbox;  // sent and not yet received, by tag; one rank sends to itself
};

/// One call; operands as in the table, absent ones are tensors without dtype.
struct HostCall {
  const plan::Op& op;
  std::span<const RuntimeValue> in;
  const AbiAttrs& attrs;
  std::span<const plan::Type> results;  // their types as declared
};

using HostOp = Expected<std::vector<RuntimeValue>> (*)(HostServices&, const HostCall&);

/// The implementation, or null when the operator is not one of the host's. Errors name no place: the caller
/// knows it.
HostOp find_host_op(Opcode code);

/// The element at a position of a contiguous tensor as a host scalar: int64_t, double or bool.
RuntimeValue element(const Tensor& tensor, int64_t position);

/// A contiguous copy.
Expected<Tensor> copy_of(const Tensor& tensor, TensorPool& pool);

}  // namespace skdsl::exec
