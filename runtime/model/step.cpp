#include "runtime/model/step.h"

#include "runtime/base/assert.h"

namespace skdsl::model {

namespace {
Tensor vector_of(int64_t n) { return Tensor::zeros(SK_I32, {{n}}); }

std::vector<int64_t> list_of(const Tensor& t) {
  if (!t) return {};  // of a record that only answers which fields there are
  const int32_t* p = t.data<int32_t>();
  return {p, p + t.elements()};
}
}  // namespace

std::optional<exec::RuntimeValue> StepRecord::field(std::string_view name) const {
#define SK_STEP_FIELD(field, dtype, dims, text) \
  if (name == #field) return exec::RuntimeValue(field);
#define SK_STEP_LIST(field, of) \
  if (name == #field) return exec::RuntimeValue(list_of(of));
#include "runtime/plan/step_fields.def"
#undef SK_STEP_FIELD
#undef SK_STEP_LIST
  return {};
}

StepRecord make_step(std::span<const StepRequest> requests, int64_t block_size, int64_t table_columns) {
  const auto n = static_cast<int64_t>(requests.size());
  int64_t rows = 0;
  for (const StepRequest& r : requests) rows += r.rows;

  StepRecord step;
  step.position_ids = vector_of(rows);
  step.slot_mapping = vector_of(rows);
  step.block_table = Tensor::zeros(SK_I32, {{n, table_columns}});
  step.actual_seq_lengths_q = vector_of(n);
  step.actual_seq_lengths_kv = vector_of(n);
  step.actual_seq_lengths_cu_q = vector_of(n);
  step.actual_seq_lengths_cu_kv = vector_of(n);

  int64_t row = 0, kv_sum = 0;
  for (int64_t b = 0; b < n; ++b) {
    const StepRequest& r = requests[static_cast<size_t>(b)];
    const bool padding = r.kv_len == 0;
    SK_ASSERT(padding || r.kv_len >= r.rows, "kv_len counts this step's rows");
    for (int64_t i = 0; i < r.rows; ++i, ++row) {
      const int64_t position = padding ? 0 : r.kv_len - r.rows + i;
      int64_t slot = -1;
      if (!padding) {
        const auto block = static_cast<size_t>(position / block_size);
        SK_ASSERT(block < r.blocks.size(), "a request has blocks for all its rows");
        slot = r.blocks[block] * block_size + position % block_size;
      }
      step.position_ids.data<int32_t>()[row] = static_cast<int32_t>(position);
      step.slot_mapping.data<int32_t>()[row] = static_cast<int32_t>(slot);
    }
    SK_ASSERT(static_cast<int64_t>(r.blocks.size()) <= table_columns, "a request fits its row of the table");
    int32_t* table = step.block_table.data<int32_t>() + b * table_columns;
    for (size_t i = 0; i < r.blocks.size(); ++i) table[i] = r.blocks[i];
    kv_sum += r.kv_len;
    step.actual_seq_lengths_q.data<int32_t>()[b] = static_cast<int32_t>(r.rows);
    step.actual_seq_lengths_kv.data<int32_t>()[b] = static_cast<int32_t>(r.kv_len);
    step.actual_seq_lengths_cu_q.data<int32_t>()[b] = static_cast<int32_t>(row);
    step.actual_seq_lengths_cu_kv.data<int32_t>()[b] = static_cast<int32_t>(kv_sum);
  }
  step.kv_len = step.actual_seq_lengths_kv;
  return step;
}

}  // namespace skdsl::model
