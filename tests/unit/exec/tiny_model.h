// tiny_model — one attention layer with rope and a paged cache, built op by op: what sessions and generation
// are tested on
#pragma once
#include <map>
#include <string>

#include "tests/unit/exec/builder.h"

namespace skdsl::test {

struct TinySizes {
  int64_t vocabulary = 37, width = 24, heads = 3, kv_heads = 1, head = 8;
  int64_t kv_blocks = 10, block_size = 4, max_seq_len = 16;
};

/// Functions `Tiny.prefill` and `Tiny.decode`; states `k` and `v` (uninitialized), consts `cos` and `sin`.
plan::Program tiny_program(const TinySizes& sizes = {});
/// Seeded weights by path.
std::map<std::string, Tensor> tiny_weights(const TinySizes& sizes = {}, uint64_t seed = 1);

}  // namespace skdsl::test
