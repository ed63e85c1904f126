// sampling — how the next token is chosen from its logits
//
// Greedy, or a draw: temperature, then the top-k, then the top-p, in the order of Hugging Face's generate. A
// draw is the same on every machine: its arithmetic is ours, in a fixed order, and its random numbers are
// those of Philox4x32-10 (as in PyTorch's CUDA and NPU generators), with the request and the number of its
// token as counter, so a request's tokens do not depend on what else is in the batch.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "runtime/base/error.h"

namespace skdsl::model {

inline constexpr std::string_view kGeneratorName = "Philox4x32-10";

struct Sampling {
  double temperature = 0;        // 0: greedy
  std::optional<int64_t> top_k;  // at least 1: only the k most likely tokens
  std::optional<double> top_p;   // in (0, 1]: only the most likely tokens that together reach p
  int64_t seed = 0;              // at least 0

  bool greedy() const { return temperature == 0; }
};

/// The error of a value that is out of range, or of a filter without a temperature; it names the flag.
Expected<void> check(const Sampling& sampling);

/// Ten rounds of Philox 4x32.
std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

/// In [0, 1), 53 bits: the number that draws token `token` of request `request`.
double uniform(int64_t seed, uint64_t request, uint64_t token);

/// The largest logit's index, the lowest among equals, never NaN; nothing when all are NaN.
std::optional<int32_t> largest(std::span<const float> logits);

/// The token for a uniform number; among equal logits the lower id counts as more likely. Nothing when all
/// logits are NaN.
std::optional<int32_t> sample(std::span<const float> logits, const Sampling& sampling, double uniform);

}  // namespace skdsl::model
