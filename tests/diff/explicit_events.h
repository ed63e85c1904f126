// explicit_events — gives a recording the events that ge_graph would make, as a program for npugraph_ex must
// write them
#pragma once
#include <vector>

#include "compiler/schedule/build.h"

namespace skdsl::testing {

/// The recording with an event wherever data flows between streams; `added` are the places of the new waits
/// in `items`. Nothing when the program's own events are wrong.
inline std::optional<plan::Recording> with_events(const plan::Program& program, plan::Recording recording,
                                                  std::vector<size_t>* added = nullptr) {
  source::Sources sources;
  diag::Engine diags(sources);
  const size_t own = recording.graph.events.size();
  const plan::Function& function = *program.find(recording.graph.function);
  schedule::Build b{program, program, function, diags, recording.graph, false, {}, recording.root};
  for (const plan::RecordedItem& item : recording.items)
    b.items.push_back({item.kind, item.index, item.stream, item.loc});
  if (!schedule::order(b)) return {};
  recording.graph.events = b.out.events;
  recording.items.clear();
  for (const plan::Step& s : b.out.steps) {
    const bool event = s.kind == plan::Step::Kind::Record || s.kind == plan::Step::Kind::Wait;
    if (added && s.kind == plan::Step::Kind::Wait && s.event >= own) added->push_back(recording.items.size());
    recording.items.push_back({s.kind, event ? s.event : s.task, s.stream, {}});
  }
  return recording;
}

}  // namespace skdsl::testing
