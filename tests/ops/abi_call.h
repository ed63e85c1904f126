// abi_call — a kernel launch by hand
#pragma once
#include <deque>
#include <vector>

#include "tests/ops/op_executor.h"

namespace skdsl::test {

/// The order in which the blocks of a phase are called.
enum class BlockOrder { Rising, Falling, Threads };

/// Owns what an sk_call points to. Tensors keep their bytes alive; `operands` may be strided views.
class AbiCall {
 public:
  AbiCall(Opcode op, const Attrs& attrs, std::vector<Tensor> operands, std::vector<Tensor> results);
  AbiCall(const AbiCall&) = delete;
  AbiCall& operator=(const AbiCall&) = delete;

  /// Runs all phases with `blocks` blocks; the workspace is filled with NaN patterns before.
  void run(uint32_t blocks, BlockOrder order = BlockOrder::Rising);
  /// The same with another function in the kernel's place.
  void run(uint32_t blocks, sk_kernel_fn function, BlockOrder order = BlockOrder::Rising);
  const sk_call& call() const { return call_; }
  const sk_fault& fault() const { return fault_; }
  const std::vector<Tensor>& results() const { return results_; }

 private:
  Opcode op_;
  std::vector<Tensor> operands_, results_;
  std::deque<std::vector<int64_t>> lists_;
  std::vector<sk_tensor> in_, out_;
  std::vector<sk_attr> attr_;
  sk_fault fault_{};
  sk_call call_{};
};

/// Calls kernels directly with a number of blocks.
class AbiExecutor : public OpExecutor {
 public:
  explicit AbiExecutor(uint32_t blocks = 1) : blocks_(blocks) {}
  std::string_view name() const override { return "abi"; }
  std::vector<Tensor> run(Opcode op, const Attrs& attrs, std::span<const Tensor> operands,
                          std::span<const TensorType> results) override;

 private:
  uint32_t blocks_;
};

}  // namespace skdsl::test
