#include "cli/blank_weights.h"

#include <sys/mman.h>

#include <algorithm>

#include "runtime/abi/dtype.h"

namespace skdsl::cli {

Expected<BlankWeights> BlankWeights::make(const plan::Program& program, sk_dtype stored) {
  const auto dtype_of = [&](const plan::WeightDecl& w) {
    return w.type.dtype == plan::DType::Stored ? stored : plan::abi_dtype(w.type.dtype);
  };
  const auto shape_of = [](const plan::WeightDecl& w) {
    std::vector<int64_t> shape;
    for (const plan::Dim& d : w.type.dims) shape.push_back(d.constant());
    return shape;
  };
  uint64_t bytes = 64;
  for (const plan::WeightDecl& w : program.weights) {
    uint64_t own = static_cast<uint64_t>(dtype_bytes(dtype_of(w)));
    for (const int64_t d : shape_of(w))
      if (d < 0 || __builtin_mul_overflow(own, static_cast<uint64_t>(d), &own))
        return fail("weight `" + w.path + "` has an impossible size");
    bytes = std::max(bytes, own);
  }
  void* memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return fail_environment("no address space for the largest weight");
  const std::shared_ptr<void> keep(memory, [bytes](void* p) { munmap(p, bytes); });
  BlankWeights out;
  for (const plan::WeightDecl& w : program.weights)
    out.tensors_[w.path] = Tensor::borrow(dtype_of(w), shape_of(w), memory, keep);
  return out;
}

const Tensor* BlankWeights::find(const std::string& path) const {
  const auto it = tensors_.find(path);
  return it == tensors_.end() ? nullptr : &it->second;
}

}  // namespace skdsl::cli
