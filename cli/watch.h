// watch — tensor dumps and the hunt for the first NaN, in every mode, fused or not
#pragma once
#include <filesystem>
#include <memory>

#include "runtime/base/error.h"
#include "runtime/exec/observe.h"
#include "runtime/plan/program.h"

namespace skdsl::cli {

/// Watches a run. `dump x` statements are written to a folder as NumPy files (bf16 and f16 as f32); the hunt
/// remembers the first kernel that gives NaN from operands without.
class Watch {
 public:
  Watch(const plan::Program& program, std::string folder, bool hunt)
      : program_(program), folder_(std::move(folder)), hunt_(hunt) {}

  /// Makes the folder; an error names it.
  Expected<void> start();
  exec::Observer observer();
  /// The first trouble: a file that cannot be written, or a NaN with the op that made it.
  const std::optional<Error>& trouble() const { return trouble_; }
  size_t kernels_seen() const { return kernels_; }
  size_t files() const { return files_; }

 private:
  void see(const exec::Observed& o);
  void dump(const exec::Observed& o);

  const plan::Program& program_;
  std::string folder_;
  bool hunt_;
  size_t kernels_ = 0, files_ = 0;
  std::optional<Error> trouble_;
};

}  // namespace skdsl::cli
