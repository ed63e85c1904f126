#include "runtime/model/kv_blocks.h"

#include <utility>

#include "runtime/base/assert.h"

namespace skdsl::model {

namespace {
// SplitMix64; our own so that a seed means the same order everywhere.
uint64_t next(uint64_t& state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
}  // namespace

BlockManager::BlockManager(int64_t blocks, std::optional<uint64_t> shuffle_seed)
    : taken_(static_cast<size_t>(blocks > 0 ? blocks : 0)), usable_(blocks > 1 ? blocks - 1 : 0) {
  for (int64_t b = blocks - 1; b >= 1; --b) free_.push_back(static_cast<int32_t>(b));
  if (!shuffle_seed) return;
  uint64_t state = *shuffle_seed;
  for (size_t i = free_.size(); i > 1; --i) std::swap(free_[i - 1], free_[next(state) % i]);
}

std::optional<int32_t> BlockManager::take() {
  if (free_.empty()) return {};
  const int32_t block = free_.back();
  free_.pop_back();
  taken_[static_cast<size_t>(block)] = true;
  return block;
}

void BlockManager::give_back(int32_t block) {
  SK_ASSERT(block > 0 && static_cast<size_t>(block) < taken_.size() && taken_[static_cast<size_t>(block)],
            "only blocks that were taken come back");
  taken_[static_cast<size_t>(block)] = false;
  free_.push_back(block);
}

}  // namespace skdsl::model
