// gear_report — what padding to gears costs, and which gears would cost less
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/json.h"

namespace skdsl::cli {

/// One batch size that arrives.
struct GearRow {
  int64_t batch = 0;
  int64_t times = 0;
  std::optional<int64_t> gear;  // nothing: larger than every gear, the interpreter serves it
  int64_t padding() const { return gear ? *gear - batch : 0; }
};

struct GearReport {
  std::vector<int64_t> written;  // as in the program
  std::vector<int64_t> gears;    // rounded up to `multiple`, ascending, each once
  int64_t multiple = 1;
  std::vector<GearRow> rows;             // ascending by batch
  int64_t padding = 0, padded_rows = 0;  // over all rows that have a gear
  std::vector<int64_t> better;  // as many gears or fewer, the largest kept; empty when these are the best
  int64_t better_padding = 0, better_rows = 0;
};

/// Most distinct batch sizes for which better gears are looked for: that takes gears x sizes^2 steps.
inline constexpr size_t kMostBatchSizes = 1024;

/// `batches` are the sizes that arrive, one for each time; when there are none, each size up to the largest
/// gear once. Sizes are rounded up to `multiple`, since ranks of sequence parallelism share the rows of a
/// step evenly.
GearReport gear_report(std::vector<int64_t> written, int64_t multiple, std::vector<int64_t> batches);

std::string text(const GearReport& report);
Json json(const GearReport& report);

}  // namespace skdsl::cli
