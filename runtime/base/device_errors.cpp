#include "runtime/base/device_errors.h"

#include <fmt/format.h>

namespace skdsl {

namespace {
constexpr DeviceErrorRow kRows[] = {
    {107020, DeviceErrorClass::StreamState, "a stream did not finish in time",
     "look for a wait without its record, or for ranks that run different collectives"},
    {107027, DeviceErrorClass::StreamState, "a stream is in a state in which it takes no work",
     "find the first failed task on this stream; what comes after it fails too"},
    {207001, DeviceErrorClass::Memory, "device memory could not be allocated",
     "take fewer cache blocks or a smaller batch"},
    {207008, DeviceErrorClass::StreamResources, "there are not enough streams or events for another graph",
     "capture fewer sizes: npugraph_ex.capture_limit, or fewer gears"},
};
constexpr DeviceErrorRow kUnknown = {0, DeviceErrorClass::Unknown,
                                     "the device runtime reports a code that is not in our table",
                                     "look the code up in the manual of your CANN release"};

const DeviceErrorRow& row_of(int64_t code) {
  for (const DeviceErrorRow& row : kRows)
    if (row.code == code) return row;
  return kUnknown;
}
}  // namespace

std::string_view name(DeviceErrorClass error) {
  constexpr std::string_view kNames[] = {"stream state", "memory", "stream resources", "unknown"};
  return kNames[static_cast<size_t>(error)];
}

std::span<const DeviceErrorRow> device_errors() { return kRows; }

Error device_failure(std::string_view what, int64_t code) {
  const DeviceErrorRow& row = row_of(code);
  return {ErrorKind::Environment,
          fmt::format("{}: device error {} ({}): {}", what, code, name(row.error_class), row.meaning),
          {fmt::format("help: {}", row.help)}};
}

}  // namespace skdsl
