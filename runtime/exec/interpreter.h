// interpreter — eager: walks the program layer with real numbers
//
// Any shape, data-dependent control flow, host reads. A frame holds the values of one running function and
// what its symbols stand for: a value whose type has a dim of exactly one symbol binds that symbol when it
// becomes available. Results take the evaluated dims of their types; values are dropped after their last use,
// so memory stays bounded.
#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/exec/allocator.h"
#include "runtime/exec/bindings.h"
#include "runtime/exec/launch.h"
#include "runtime/exec/observe.h"
#include "runtime/exec/value.h"
#include "runtime/exec/workers.h"
#include "runtime/plan/program.h"

namespace skdsl::exec {

class Recorder;

/// Where a script calls a phase.
struct CallSite {
  plan::ContextId context = plan::kNone;  // what surrounds the call
  std::function<std::optional<Loc>(const Tensor& bytes)>
      later_use;  // the next place that reads a value in these bytes
};
using CallHook = std::function<Expected<std::vector<RuntimeValue>>(
    const plan::Function&, std::vector<RuntimeValue>, const CallSite&)>;

struct InterpreterOptions {
  bool poison = kPoisonByDefault;
  const std::atomic<bool>* interrupt =
      nullptr;  // looked at before every op; set: run ends with the error "interrupted"
  std::function<void(std::string_view)> print;  // receives what `print` shows; default: standard output
  Observer observe;                             // told of each kernel as it ends, and of each `dump`
  CallHook decode_hook;  // takes calls of decode phases made by scripts; default: run them here
};

class Interpreter {
 public:
  /// All references must outlive the interpreter; the program may get more functions, not other ones.
  Interpreter(const plan::Program& program, Bindings& bindings, Workers& workers,
              InterpreterOptions options = {});
  ~Interpreter();

  /// Runs a function; arguments in the order of its parameters, results in the order of its return.
  /// Errors name the op, its instance path, file, line and column.
  Expected<std::vector<RuntimeValue>> run(const plan::Function& function, std::vector<RuntimeValue> args);
  /// The same; the recorder is told of everything that touches tensors.
  Expected<std::vector<RuntimeValue>> record(const plan::Function& function, std::vector<RuntimeValue> args,
                                             Recorder& recorder);

  /// Whether the bytes are neither a weight's nor a literal's.
  bool may_write(const Tensor& t);

  TensorPool& pool();
  /// Ops executed so far, control flow included.
  uint64_t ops_run() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skdsl::exec
