// blank_weights — tensors of the right sizes for runs that never read them
#pragma once
#include <map>
#include <string>

#include "runtime/base/error.h"
#include "runtime/plan/program.h"
#include "runtime/tensor/tensor.h"

namespace skdsl::cli {

class BlankWeights {
 public:
  /// All weights of the program show one mapping that no memory stands behind; `stored` is the dtype of those
  /// whose dtype the checkpoint would tell.
  static Expected<BlankWeights> make(const plan::Program& program, sk_dtype stored);
  /// Null when the program has no weight of that path.
  const Tensor* find(const std::string& path) const;

 private:
  std::map<std::string, Tensor> tensors_;
};

}  // namespace skdsl::cli
