// finite — weights that are no numbers
//
// One NaN in a weight makes every logit NaN; where it came from can no longer be seen then. So the tensors
// that a program reads are looked through once, when they are loaded.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "runtime/abi/dtype.h"

namespace skdsl::model {

struct NonFinite {
  int64_t nans = 0;
  int64_t infinities = 0;
  int64_t first = 0;  // element
};

/// Counts what is no finite number among the elements; nothing when all are, or when the type is no float
/// type. The bytes need no alignment.
std::optional<NonFinite> non_finite(sk_dtype dtype, std::span<const std::byte> bytes);

/// "3 NaN and 1 infinite value, the first is element 17"
std::string describe(const NonFinite& found);

}  // namespace skdsl::model
