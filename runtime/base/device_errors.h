// device_errors — what an error code of the device runtime means
//
// A code is told apart by its class: a stream that timed out is not a memory that ran out, whatever the
// handler around a replay makes of it.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "runtime/base/error.h"

namespace skdsl {

enum class DeviceErrorClass : uint8_t { StreamState, Memory, StreamResources, Unknown };
std::string_view name(DeviceErrorClass error);

struct DeviceErrorRow {
  int64_t code;
  DeviceErrorClass error_class;
  std::string_view meaning, help;
};
std::span<const DeviceErrorRow> device_errors();

/// The error to report when `what` ("replay of decode") failed with a code; it keeps the code.
Error device_failure(std::string_view what, int64_t code);

}  // namespace skdsl
