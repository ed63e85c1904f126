// op_executor — one operator at a time, by whatever runs operators
//
// The same vectors and properties are run through the kernels' ABI, the eager interpreter and the graph
// executor; each is an OpExecutor.
#pragma once
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/tensor/tensor.h"
#include "stdlib/op_info.h"

namespace skdsl::test {

/// Attributes by name; choices and dtypes are given by their name, what is left out has its default.
using AttrValue = std::variant<int64_t, double, bool, std::string, std::vector<int64_t>>;
using Attrs = std::map<std::string, AttrValue, std::less<>>;

struct TensorType {
  sk_dtype dtype = SK_F32;
  std::vector<int64_t> shape;
};

class OpExecutor {
 public:
  virtual ~OpExecutor() = default;
  virtual std::string_view name() const = 0;
  /// Runs `op` on operands in table order (an absent one is an empty Tensor) and gives results of the types
  /// told, which an executor that infers types itself compares with its own. In-place operators write operand
  /// 0's bytes.
  virtual std::vector<Tensor> run(Opcode op, const Attrs& attrs, std::span<const Tensor> operands,
                                  std::span<const TensorType> results) = 0;
};

}  // namespace skdsl::test
