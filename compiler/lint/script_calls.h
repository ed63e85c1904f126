// script_calls — what a script tells about the graphs of its decodes
//
// A script calls a decode with sizes, numbers and core limits; each difference between two calls may be
// another graph. All variants that sema makes of one phase are one function to the capture.
#pragma once
#include <string>
#include <vector>

#include "compiler/lint/rule.h"

namespace skdsl::lint {

/// A call of a decode phase by the script.
struct DecodeCall {
  plan::OpId op = plan::kNone;
  const plan::Function* callee = nullptr;  // the variant that it calls
  std::string decode;                      // the phase: "K.decode"
  std::vector<int64_t> sizes;      // of all tensor operands, one after the other; -1: only a run knows
  std::vector<std::string> names;  // of `sizes`: "x.shape[0]"
  int64_t rows = -1;               // first size of the first tensor operand
  int64_t requests = -1;           // of `step`
  bool gears = false;              // the phase has gears
};

/// Calls in the order of the script; empty when the function of the context is no script.
std::vector<DecodeCall> decode_calls(const Context& context);

/// Whether two calls go to the same function of the capture and give sizes for the same operands.
bool comparable(const DecodeCall& a, const DecodeCall& b);

}  // namespace skdsl::lint
