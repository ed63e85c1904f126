// launch — from a checked call to running kernels, and from a fault record to a message
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/exec/allocator.h"
#include "runtime/exec/workers.h"
#include "runtime/plan/plan.h"

namespace skdsl::exec {

/// Where an op stands, as messages begin: "llama.sk:12:5: `embedding` (layers.0)"; what is unknown is left
/// out.
std::string place(const plan::Program& program, Opcode code, const Loc& loc, const std::string& path);

/// An error of an op: "<place>: <what>".
tl::unexpected<Error> fail_at(const std::string& place, Error error);

/// How many blocks a launch takes: 1 when it moves too few bytes to be worth waking the workers, else all.
uint32_t blocks_for(const sk_call& call, const Workers& workers);

/// Scratch bytes that grow on demand and serve one launch at a time.
class Workspace {
 public:
  /// Points the call at workspace for up to workers.count() blocks; growing leaves earlier calls' pointers
  /// dangling.
  Expected<void> attach(const kernels::KernelEntry& kernel, sk_call& call, const Workers& workers,
                        TensorPool& pool);

 private:
  Tensor bytes_;
};

/// Launches and waits. A data fault is repeated on one block, so that the message names the first faulty row
/// whatever the number of workers; every kernel may run again. Error: "<place>: index 70000 at row 3 is out
/// of range; it must be at least 0 and below 131072".
Expected<void> launch(const kernels::KernelEntry& kernel, sk_call& call, uint32_t blocks, Workers& workers,
                      const std::function<std::string()>& where);

/// The attributes of one call in the form that kernels take.
struct AbiAttrs {
  AbiAttrs() = default;
  AbiAttrs(AbiAttrs&&) = default;
  AbiAttrs& operator=(AbiAttrs&&) = default;

  std::vector<sk_attr> attrs;
  std::vector<std::vector<int64_t>> lists;  // what IntList attributes point to

  void add_int(int64_t value);
  void add_float(double value);
  void add_list(std::vector<int64_t> values);
};

/// The number of `text` among a Choice parameter's choices; -1 when it is none of them.
int64_t choice_index(const Param& param, std::string_view text);

/// What a data fault means, at a place.
std::string fault_message(const sk_fault& fault, const std::string& where);

}  // namespace skdsl::exec
