// gears — padding a decode call up to one of the batch sizes that graphs are kept for
//
// `gears [2, 4, 8]` in a decode body. T is the first size of the first tensor parameter, B the requests of
// the step. Added rows are requests that write nothing and read nothing: slot -1, kv_len 0, one row.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "runtime/exec/allocator.h"
#include "runtime/exec/value.h"
#include "runtime/plan/plan.h"

namespace skdsl::exec {

/// The gears of a phase, read once.
struct Gears {
  std::vector<int64_t> sizes;  // ascending; empty: the phase has none
  Loc loc;
  std::vector<plan::SymbolId> symbols;  // T, and B when it is another one
  std::string wrong;                    // why they cannot be used; "" when they can
};
Gears gears_of(const plan::Program& program, const plan::Function& function);

/// The smallest gear that holds `rows`; nothing when none does.
std::optional<int64_t> fitting_gear(const Gears& gears, int64_t rows);

/// Rows of the call: the size of T, and whether B has the same.
struct GearRows {
  int64_t rows = 0;
  bool one_row_each = true;
};
GearRows rows_of(const Gears& gears, const plan::Function& function, const std::vector<RuntimeValue>& args);

/// The arguments with `to` rows. New rows are zero but for the fields of the step that a padding request
/// defines.
Expected<std::vector<RuntimeValue>> padded(const Gears& gears, const plan::Function& function,
                                           const std::vector<RuntimeValue>& args, int64_t to,
                                           TensorPool& pool);
/// The results with their first `rows` rows; they share the bytes.
std::vector<RuntimeValue> cut(const Gears& gears, const plan::Function& function,
                              std::vector<RuntimeValue> results, int64_t rows);

}  // namespace skdsl::exec
