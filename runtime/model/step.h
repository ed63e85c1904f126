// step — builds the Step record: everything that changes from step to step
#pragma once
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/exec/value.h"

namespace skdsl::model {

/// One request's part of a step. A padding row has kv_len 0 and one row: it writes nothing and reads nothing.
struct StepRequest {
  int64_t rows = 1;                 // of this step
  int64_t kv_len = 0;               // cached rows, this step's included
  std::span<const int32_t> blocks;  // in order; at least ceil(kv_len / block_size)
};

/// The record's tensors by the names of step_fields.def.
struct StepRecord {
#define SK_STEP_FIELD(name, dtype, dims, text) Tensor name;
#define SK_STEP_LIST(name, of)
#include "runtime/plan/step_fields.def"
#undef SK_STEP_FIELD
#undef SK_STEP_LIST

  /// The field of that name, list fields as host lists; nothing when the record has no such field.
  std::optional<exec::RuntimeValue> field(std::string_view name) const;
};

/// `table_columns` is W = ceil(max_seq_len / block_size); unused entries of the table are the null block 0.
StepRecord make_step(std::span<const StepRequest> requests, int64_t block_size, int64_t table_columns);

}  // namespace skdsl::model
