// captures — npugraph_ex: the first decode call of a key is interpreted and recorded, later ones replay the
// recording
//
// Two levels. A *compiled graph* stands for one path through the function under its constant guards; a
// *capture* of it for one value of its symbols. A failing constant guard compiles (recompile), a new value of
// a symbol or another address captures (recapture); each has its limit, and past it the calls are
// interpreted. Every such event keeps its reason.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/exec/capture_options.h"
#include "runtime/exec/graph.h"
#include "runtime/exec/guards.h"
#include "runtime/exec/interpreter.h"
#include "runtime/plan/hook.h"

namespace skdsl::exec {

/// Something other than a replay.
struct CaptureEvent {
  enum class Kind : uint8_t { Compile, Recompile, Recapture, Fallback, Misuse };
  Kind kind = Kind::Compile;
  CaptureReason reason = CaptureReason::FirstCall;
  uint64_t step = 0;  // decode call of the session, from 1
  std::string function;
  Loc loc;  // the phase; the first operator of another branch; the gears; the use of what is overwritten
  std::string guard, before, after;  // "" when no guard is to blame
};
std::string_view name(CaptureEvent::Kind kind);  // "compile", "recompile", …

/// How a decode call was served.
struct ServedCall {
  enum class By : uint8_t { Interpreter, Capture, Replay };
  By by = By::Interpreter;
  std::string function;
  std::string key;                      // "B=2 T=2 W=16"; of the graph that served it or was made
  int64_t padding = 0;                  // rows added for a gear
  std::optional<CaptureReason> reason;  // why it was not a replay
};

/// "captured B=2 T=2 (shape)", "replay of B=2 T=2", "interpreter (recompile_limit)".
std::string describe(const ServedCall& served);

struct CaptureCounters {
  uint64_t captures = 0;    // recordings that became graphs
  uint64_t recompiles = 0;  // compiled graphs beyond the first of a function
  uint64_t recaptures = 0;  // captures beyond the first of a compiled graph
  uint64_t replays = 0;
  uint64_t interpreted = 0;  // calls served by the interpreter, the capturing ones included
};
struct CaptureFallback {
  uint64_t step;
  CaptureReason reason;
};

class Captures {
 public:
  /// All references must outlive it. `options.poison`, `interrupt` and `observe` of `graph` reach the graphs.
  Captures(const plan::Program& program, Bindings& bindings, Workers& workers, Interpreter& interpreter,
           plan::RecordingHook hook, CaptureOptions options, GraphOptions graph);
  ~Captures();

  /// A call of a decode phase. The core limit around the call site counts. Unless clone_output is on, the
  /// results stand in memory of the graph that the next replay writes over.
  Expected<std::vector<RuntimeValue>> call(const plan::Function& function, std::vector<RuntimeValue> args,
                                           const CallSite& site = {});

  const CaptureCounters& counters() const;
  const std::vector<CaptureEvent>& events() const;
  const std::vector<CaptureFallback>& fallbacks() const;
  const ServedCall& last() const;
  double compile_ms() const;
  /// Bytes of the arenas of all graphs that exist, shared ones once.
  uint64_t arena_bytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skdsl::exec
