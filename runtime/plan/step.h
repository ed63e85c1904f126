// step — what an executor does, in order
#pragma once
#include <cstdint>

namespace skdsl::plan {

struct Step {
  enum class Kind : uint8_t {
    Call,      // task
    Record,    // event
    Wait,      // event
    Prefetch,  // task (a prefetch op): recorded only
    Note,  // task: a construct that is carried and has no numeric effect (tap, mark_static, wait_tensor …)
    SuperKernel,  // Schedule::superkernels: several tasks in one launch
  };
  Kind kind = Kind::Call;
  uint32_t task = UINT32_MAX;   // or super kernel
  uint32_t event = UINT32_MAX;  // Schedule::events
  uint32_t stream = 0;
  friend bool operator==(const Step&, const Step&) = default;
};

}  // namespace skdsl::plan
