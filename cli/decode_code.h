// decode_code — the machine code that the decode phases of a model would run as, for commands that look
#pragma once
#include "cli/decode_plan.h"
#include "runtime/exec/native.h"

namespace skdsl::cli {

struct DecodeStep {
  exec::NativeStep step;
  std::string graph;                  // as `run --json` names it
  std::vector<uint32_t> superkernel;  // by launch: which of the schedule's, or plan::kNone
};

/// One step for each schedule of the plan; no weights are read.
Expected<std::vector<DecodeStep>> decode_steps(const DecodePlan& plan, uint32_t threads);

}  // namespace skdsl::cli
