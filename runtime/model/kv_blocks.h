// kv_blocks — hands out the blocks of the paged caches
//
// Block 0 is the null block: unused table entries point to it and nobody writes it.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

namespace skdsl::model {

class BlockManager {
 public:
  /// Blocks 1 … blocks - 1 in ascending order, or shuffled by `shuffle_seed` (tests: results must not depend
  /// on it).
  explicit BlockManager(int64_t blocks, std::optional<uint64_t> shuffle_seed = {});

  /// A free block; nothing when all are taken.
  std::optional<int32_t> take();
  /// Gives a block back; it must have been taken.
  void give_back(int32_t block);
  int64_t free_blocks() const { return static_cast<int64_t>(free_.size()); }
  int64_t usable_blocks() const { return usable_; }

 private:
  std::vector<int32_t> free_;  // the next one at the back
  std::vector<bool> taken_;
  int64_t usable_ = 0;
};

}  // namespace skdsl::model
