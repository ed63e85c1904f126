// weights — the tensors that a program's weight declarations name, from a checkpoint or from a seed
//
// A declaration with one source is a view of the mapped file; several sources are joined into memory of our
// own. Declarations that ask for the same sources in the same dtype share their bytes (tied embeddings).
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/base/json.h"
#include "runtime/model/checkpoint.h"
#include "runtime/plan/program.h"
#include "runtime/tensor/tensor.h"

namespace skdsl::model {

struct WeightOptions {
  bool strict = false;                          // a tensor that nobody reads is an error, not a warning
  std::optional<uint64_t> synthetic_seed = {};  // weights from this seed; the checkpoint is not read
  sk_dtype synthetic_dtype = SK_F32;            // of synthetic weights whose declaration names no dtype
  std::optional<uint64_t> memory_bytes =
      {};  // what may be allocated; left out: what the system has available
};

class Weights {
 public:
  /// Every weight of the program. All that is missing or misshapen comes in one error, a note for each
  /// tensor. `checkpoint` may be null when there is a seed.
  static Expected<Weights> load(const plan::Program& program, const Checkpoint* checkpoint,
                                const WeightOptions& options);

  /// The weight of a declaration's path; null when the program has none of that name.
  const Tensor* find(std::string_view path) const;
  /// Bytes of all weights, mapped ones included; shared bytes count once.
  uint64_t total_bytes() const { return total_bytes_; }
  /// Of these, the bytes that were allocated rather than mapped.
  uint64_t allocated_bytes() const { return allocated_bytes_; }
  /// Tensors of the checkpoint that nobody reads and `unused` does not name, one line each (layers are
  /// folded).
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  std::map<std::string, Tensor, std::less<>> by_path_;
  std::vector<std::string> warnings_;
  uint64_t total_bytes_ = 0;
  uint64_t allocated_bytes_ = 0;
};

/// What a program would find in a checkpoint.
struct WeightReport {
  std::optional<Error> error;       // missing or misshapen tensors, or values that are no numbers
  std::vector<std::string> unread;  // as Weights::warnings
  int64_t tensors = 0;              // that the program reads
  uint64_t bytes = 0;               // of these
};

/// Compares a program with a checkpoint without loading it; `values` looks through the bytes too.
WeightReport inspect_weights(const plan::Program& program, const Checkpoint& checkpoint, bool values);

/// Writes the folder that a program reads: model.safetensors with its source tensors, drawn from `seed` in
/// `dtype` (or in the dtype that declarations name), and config.json. Loading it gives the same bits as
/// loading with that seed.
Expected<void> write_synthetic(const plan::Program& program, const std::filesystem::path& folder,
                               uint64_t seed, sk_dtype dtype, const Json& config);

}  // namespace skdsl::model
