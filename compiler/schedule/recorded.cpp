// recorded — a recording of the interpreter through the same ordering, memory plan and verifier as any static
// graph
#include <fmt/format.h>

#include <algorithm>

#include "compiler/schedule/build.h"
#include "runtime/plan/text.h"

namespace skdsl::schedule {

using namespace plan;

namespace {

// The recorded form of passes::find_in_place: an elementwise task whose operand nobody reads afterwards.
std::vector<uint8_t> reusable(const Schedule& g, const std::vector<BufferId>& root) {
  std::vector<uint32_t> last(g.buffers.size(), kNone);
  for (uint32_t i = 0; i < g.tasks.size(); ++i)
    for (const BufferId b : g.tasks[i].in)
      if (b != kNone) last[root[b]] = i;
  for (const BufferId b : g.outputs) last[root[b]] = static_cast<uint32_t>(g.tasks.size());
  const auto bytes = [&](BufferId b) { return text::byte_size(g.buffers[b].dtype, g.buffers[b].shape); };
  std::vector<uint8_t> out(g.tasks.size(), 0);
  for (uint32_t i = 0; i < g.tasks.size(); ++i) {
    const Task& t = g.tasks[i];
    if (!info(t.code).has(kElementwise) || t.view || t.out.size() != 1 || t.in.empty() || t.in[0] == kNone)
      continue;
    const Buffer& x = g.buffers[t.in[0]];
    const Buffer& y = g.buffers[t.out[0]];
    out[i] = x.storage == Storage::Arena && last[root[t.in[0]]] == i &&
             dtype_bytes(abi_dtype(x.dtype)) == dtype_bytes(abi_dtype(y.dtype)) &&
             bytes(t.in[0]) == bytes(t.out[0]) && bytes(root[t.in[0]]) == bytes(t.out[0]);
  }
  return out;
}

bool fits(Build& b) {
  bool good = true;
  for (Task& t : b.out.tasks) {
    const OpInfo& row = info(t.code);
    if (row.has(kInPlace) && b.out.buffers[t.in[0]].storage != Storage::State) {
      good = false;
      b.diags
          .report(b.span(t.loc), diag::Id::Misplaced,
                  fmt::format("`{}` writes a value that is not a state", row.name))
          .help("declare a `state` and write into it");
    }
    if (t.view || t.out.empty() || !row.has_kernel()) continue;
    int64_t elements = 1;
    for (const int64_t d : b.out.buffers[t.out[0]].shape) elements *= d;
    t.block_dim = block_dim(b.original, t, elements);
  }
  return good;
}

}  // namespace

std::optional<Schedule> schedule_recording(const Program& program, Recording recording, diag::Engine& diags,
                                           const ScheduleOptions& options) {
  const Function* function = program.find(recording.graph.function);
  if (function == nullptr) {
    diags.report({}, diag::Id::UnknownName, recording.graph.function);
    return {};
  }
  Build build{
      program, program, *function, diags, std::move(recording.graph), false, {}, std::move(recording.root)};
  for (const RecordedItem& item : recording.items)
    build.items.push_back({item.kind, item.index, item.stream, item.loc});
  build.may_reuse = recording.reuse_operands ? reusable(build.out, build.root)
                                             : std::vector<uint8_t>(build.out.tasks.size(), 0);
  build.events_are_explicit = true;
  if (!fits(build) || !order(build)) return {};
  if (options.superkernel && options.capture && !fuse_captured(build, options)) return {};
  place(build);
  if (const auto messages = verify(build.out, program); !messages.empty()) {
    diags.report({}, diag::Id::InternalVerify, "scheduling a capture", messages.front());
    return {};
  }
  return std::move(build.out);
}

}  // namespace skdsl::schedule
