// session — a loaded model: program, weights, states, workers and the graphs compiled so far
//
// The session decides who runs a call: prefill, plain functions and scripts go to the interpreter; decode
// phases go to the mode that was asked for. Calls of decode phases made inside scripts come back here.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/exec/bindings.h"
#include "runtime/exec/captures.h"
#include "runtime/exec/graph.h"
#include "runtime/exec/interpreter.h"
#include "runtime/exec/value.h"
#include "runtime/plan/hook.h"
#include "runtime/plan/program.h"

namespace skdsl::model {

/// Gives the tensor of a weight path, or null; the session copies the handle, not the bytes.
using WeightFinder = std::function<const Tensor*(const std::string& path)>;

struct SessionOptions {
  std::string mode = "eager";  // "eager", "npugraph_ex" or "ge_graph"
  uint32_t threads = 0;        // workers; 0 = one for each core
  bool poison = exec::kPoisonByDefault;
  plan::CompileHook compile;               // needed by ge_graph
  plan::RecordingHook recording;           // needed by npugraph_ex
  exec::CaptureOptions capture;            // of npugraph_ex
  exec::NativeCompiler* native = nullptr;  // makes machine code of graphs; it must outlive the session
  exec::NativeOptions native_options;
  /// Told of each decode call of npugraph_ex that was served: its number, from 1, and by what.
  std::function<void(uint64_t step, const exec::ServedCall&)> on_decode;
  const std::atomic<bool>* interrupt = nullptr;  // Ctrl-C: the running call ends with the error "interrupted"
  std::function<void(std::string_view)> print;   // what `print` ops show; default: standard output
  bool verify = true;      // plan::verify first; off where the program's maker has done it
  bool dry = false;        // no kernel is executed: results are zero, weights are never read
  exec::Observer observe;  // told of each kernel as it ends and of each `dump`, in every mode
};

/// What happened so far; `--json` reports it.
struct Counters {
  uint64_t captures = 0;                  // static graphs made
  uint64_t recompiles = 0;                // of these, graphs for a function that already had one
  uint64_t recaptures = 0;                // npugraph_ex: captures of a compiled graph that already had one
  uint64_t replays = 0;                   // decode steps served by a graph
  uint64_t interpreted_decode_steps = 0;  // decode steps served by the interpreter, capturing ones included
};

/// Milliseconds of wall time.
struct Timings {
  double load_ms = 0;     // evaluating consts, allocating states
  double compile_ms = 0;  // the compile hook and building graphs
};

class Session {
 public:
  /// Takes the program, looks up every weight, evaluates the consts and allocates the states. Weights that
  /// only consts read are not kept: when the caller drops its own table their bytes go.
  static Expected<std::unique_ptr<Session>> create(plan::Program program, const WeightFinder& weights,
                                                   SessionOptions options);
  /// The same for a program that others look at too.
  static Expected<std::unique_ptr<Session>> create(std::shared_ptr<const plan::Program> program,
                                                   const WeightFinder& weights, SessionOptions options);
  ~Session();

  const plan::Program& program() const;
  const std::string& mode() const;
  uint32_t threads() const;

  /// The model's or the draft's phase: the function of that phase whose name is "<Model>.prefill" or
  /// "<Model>.decode"; null when the program has none.
  const plan::Function* phase(plan::Phase phase) const;

  /// Runs a function: decode phases in the session's mode, everything else in the interpreter.
  Expected<std::vector<exec::RuntimeValue>> call(const plan::Function& function,
                                                 std::vector<exec::RuntimeValue> args);
  /// The same for the function of that name; a script is the function "main".
  Expected<std::vector<exec::RuntimeValue>> call(std::string_view function,
                                                 std::vector<exec::RuntimeValue> args);

  /// All states as they were at the start; graphs stay valid.
  void reset_states();

  bool interrupted() const;
  const Counters& counters() const;
  /// What npugraph_ex captured and why; null in other modes.
  const exec::Captures* captures() const;
  const Timings& timings() const;
  /// Who runs each graph, in the order of their making; of npugraph_ex with static_kernel_compile only.
  const std::vector<std::pair<std::string, exec::GraphExecutor>>& executors() const;
  exec::Bindings& bindings();
  /// Bytes of weights, consts and states that the session holds.
  uint64_t resident_bytes() const;

 private:
  Session();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skdsl::model
