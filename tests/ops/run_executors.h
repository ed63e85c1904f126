// run_executors — the executors of programs as OpExecutors: one operator wrapped in a program, or in a static
// graph
#pragma once
#include "runtime/exec/workers.h"
#include "tests/ops/op_executor.h"

namespace skdsl::test {

/// Runs a one-op program in the interpreter.
class EagerExecutor : public OpExecutor {
 public:
  explicit EagerExecutor(uint32_t threads) : workers_(threads) {}
  std::string_view name() const override { return "eager"; }
  std::vector<Tensor> run(Opcode op, const Attrs& attrs, std::span<const Tensor> operands,
                          std::span<const TensorType> results) override;

 private:
  exec::Workers workers_;
};

/// Runs a one-op static graph, twice: a replay must not depend on the run before it.
class GraphExecutor : public OpExecutor {
 public:
  explicit GraphExecutor(uint32_t threads) : workers_(threads) {}
  std::string_view name() const override { return "graph"; }
  std::vector<Tensor> run(Opcode op, const Attrs& attrs, std::span<const Tensor> operands,
                          std::span<const TensorType> results) override;

 private:
  exec::Workers workers_;
};

}  // namespace skdsl::test
