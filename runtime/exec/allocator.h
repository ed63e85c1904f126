// allocator — result tensors without a system call for each op
//
// Freed blocks wait in lists by size and serve the next tensor of that size; what waits is bounded. Shapes
// come from user programs, so a size that the machine cannot hold is an Error, not an exception.
#pragma once
#include <memory>
#include <span>

#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace skdsl::exec {

#ifdef SKDSL_POISON
inline constexpr bool kPoisonByDefault = true;
#else
inline constexpr bool kPoisonByDefault = false;
#endif

/// Bytes of main memory of this machine.
uint64_t physical_memory_bytes();

class TensorPool {
 public:
  explicit TensorPool(bool poison = kPoisonByDefault, uint64_t max_cached_bytes = uint64_t{256} << 20);

  /// A contiguous tensor, 64-byte aligned; every byte is 0xff (NaN in all floats) when the pool poisons.
  /// Error: a negative size, or more bytes than the machine has.
  Expected<Tensor> empty(sk_dtype dtype, std::span<const int64_t> shape);
  Expected<Tensor> zeros(sk_dtype dtype, std::span<const int64_t> shape);

  bool poisons() const;
  /// Bytes in tensors that are alive, and the most there ever were; for tests of "memory stays bounded".
  uint64_t live_bytes() const;
  uint64_t peak_bytes() const;

 private:
  struct Blocks;  // outlives the pool while tensors do
  std::shared_ptr<Blocks> blocks_;
};

}  // namespace skdsl::exec
