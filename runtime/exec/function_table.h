// function_table — what the interpreter works out once for each function
//
// The kernel of every op, its attributes when no symbol is in them, and which values nobody reads any more
// after it.
#pragma once
#include <vector>

#include "runtime/exec/launch.h"
#include "runtime/plan/program.h"

namespace skdsl::exec {

struct OpTable {
  const kernels::KernelEntry* kernel = nullptr;
  bool static_attrs = false;  // `attrs` below is complete
  AbiAttrs attrs;
  std::vector<plan::ValueId> release;      // dead after this op: results nobody reads included
  const plan::Function* callee = nullptr;  // of calls
};

struct FunctionTable {
  std::vector<OpTable> ops;                             // by OpId
  std::vector<std::vector<plan::ValueId>> unused_args;  // by RegionId: arguments that nobody reads
};

/// The function must have passed plan::verify.
FunctionTable make_table(const plan::Program& program, const plan::Function& function);

using SymbolLookup = std::function<std::optional<int64_t>(plan::SymbolId)>;

/// The attributes of an op under the symbols known; nothing when one of them is not.
std::optional<AbiAttrs> evaluate_attrs(const plan::Op& op, const SymbolLookup& lookup);

}  // namespace skdsl::exec
