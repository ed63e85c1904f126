// hook — how the runtime asks for a static graph without knowing the compiler
#pragma once
#include <functional>

#include "runtime/plan/plan.h"

namespace skdsl::plan {

/// A function of the program and the sizes of its symbols.
struct GraphKey {
  std::string function;
  std::vector<std::pair<std::string, int64_t>> bindings;  // sorted by name
};

/// Gives the schedule for a key; the compiler's diagnostics have been printed when it fails.
using CompileHook = std::function<Expected<Schedule>(const Program& program, const GraphKey& key)>;

/// One thing that a run did, in its order.
struct RecordedItem {
  Step::Kind kind = Step::Kind::Call;
  uint32_t index = 0;  // task, or event for Record and Wait
  uint32_t stream = 0;
  Loc loc;
};

/// What a run of a function did: tasks over buffers, every size and attribute a number. `graph` has no steps
/// and no places in the arena yet, and no block_dim.
struct Recording {
  Schedule graph;
  std::vector<RecordedItem> items;
  std::vector<BufferId> root;  // by buffer: the one whose bytes it shows
  bool reuse_operands = true;  // results may be written over operands that nobody reads any more
};

/// Orders a recording, places its buffers and verifies it.
using RecordingHook = std::function<Expected<Schedule>(const Program& program, Recording recording)>;

}  // namespace skdsl::plan
