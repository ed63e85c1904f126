// launch — from a checked call to running kernels, and from a fault record to a message
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/exec/workers.h"
#include "runtime/plan/plan.h"

namespace skdsl::exec {

/// Where an op stands, as messages say it: "llama.sk:12:5: `embedding` (layers.0)"; parts that are unknown are left out.
std::string place(const plan::Program& program, Opcode code, const plan::Loc& loc, const std::string& path);

/// How many blocks a launch takes: 1 when it moves too few bytes to be worth waking the workers, else all.
uint32_t blocks_for(const sk_call& call, const Workers& workers);

/// Zeroed bytes that grow on demand and serve one launch at a time.
class Workspace {
 public:
  /// Points the call at enough workspace for any number of blocks up to workers.count().
  Expected<void> attach(const kernels::KernelEntry& kernel, sk_call& call, const Workers& workers);

 private:
  std::vector<uint8_t> bytes_;
};

/// Launches and waits. A data fault is repeated on one block, so that the message names the first faulty row whatever
/// the number of workers; every kernel gives the same result when run again.
/// Error: "<where>: index 70000 at row 3 is out of range; it must be at least 0 and below 131072".
Expected<void> launch(const kernels::KernelEntry& kernel, sk_call& call, uint32_t blocks, Workers& workers,
                      const std::function<std::string()>& where);

/// Storage for the attributes of one call in the form that kernels take.
struct AbiAttrs {
  std::vector<sk_attr> attrs;
  std::vector<std::vector<int64_t>> lists;  // what IntList attributes point to
};

}  // namespace skdsl::exec
