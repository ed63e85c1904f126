#include "compiler/superkernel/capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "compiler/superkernel/capture_scope.h"

namespace skdsl::superkernel {

using Kind = CaptureTask::Kind;

namespace {

void add(std::vector<uint32_t>& list, uint32_t x) {
  if (std::find(list.begin(), list.end(), x) == list.end()) list.push_back(x);
}

/// What stands behind the last kernel of a stream, or what a notify stands for.
struct Pending {
  std::set<std::pair<uint32_t, uint32_t>> kernels;  // that must be done, with the event that tells
  std::set<uint32_t> outside;                       // events that must have come
  void join(const Pending& o) {
    kernels.insert(o.kernels.begin(), o.kernels.end());
    outside.insert(o.outside.begin(), o.outside.end());
  }
  bool empty() const { return kernels.empty() && outside.empty(); }
};

}  // namespace

std::vector<CaptureKernel> group_kernels(const std::vector<CaptureTask>& tasks,
                                         const std::vector<CaptureNode>& nodes,
                                         const std::vector<uint32_t>& group) {
  const std::set<uint32_t> inside(group.begin(), group.end());
  std::map<uint32_t, uint32_t> waits_outside;  // by event: how many of its waits are not in the group
  for (uint32_t i = 0; i < nodes.size(); ++i)
    if (nodes[i].notify >= 0 && !inside.contains(i)) ++waits_outside[tasks[i].event];
  struct Stream {
    int64_t last = -1;
    Pending pending;
    std::vector<uint32_t> resets;
  };
  std::map<uint32_t, Stream> streams;
  std::map<uint32_t, Pending> told;       // by notify
  std::map<uint32_t, bool> inner_notify;  // events whose notify is inside
  std::vector<CaptureKernel> out;
  for (const uint32_t n : group) {
    const CaptureTask& t = tasks[n];
    Stream& s = streams[t.stream];
    switch (t.kind) {
      case Kind::Kernel: {
        const auto k = static_cast<uint32_t>(out.size());
        CaptureKernel& c = out.emplace_back();
        c.kernel = t.kernel;
        c.kernel.stream = t.stream;
        c.kernel.send_events.clear();
        c.kernel.recv_events.clear();
        c.capabilities = t.capabilities;
        for (const auto& [from, event] : s.pending.kernels) {
          if (out[from].kernel.stream == t.stream) continue;  // in order anyway
          add(out[from].kernel.send_events, event);
          add(c.kernel.recv_events, event);
        }
        for (const uint32_t e : s.pending.outside) {
          add(c.kernel.recv_events, e);
          c.waits.push_back(e);
        }
        c.resets = std::move(s.resets);
        s = {k, {}, {}};
        break;
      }
      case Kind::Wait:
      case Kind::MemoryWait:
        if (nodes[n].notify >= 0 && inside.contains(static_cast<uint32_t>(nodes[n].notify)))
          s.pending.join(told[static_cast<uint32_t>(nodes[n].notify)]);
        else
          s.pending.outside.insert(t.event);
        break;
      case Kind::Notify:
      case Kind::MemoryWrite: {
        Pending& all = told[n];
        if (s.last >= 0) all.kernels.emplace(static_cast<uint32_t>(s.last), t.event);
        for (const auto& [k, event] : s.pending.kernels) all.kernels.emplace(k, t.event);
        all.outside = s.pending.outside;
        inner_notify[t.event] = true;
        // Behind a wait the last kernel would tell too early, so the end of the launch does.
        if (waits_outside.contains(t.event) && s.last >= 0 && s.pending.empty()) {
          CaptureKernel& from = out[static_cast<size_t>(s.last)];
          add(from.kernel.send_events, t.event);
          from.notifies.push_back(t.event);
        }
        break;
      }
      case Kind::Reset:
        // An event between kernels of the group has become a flag, which needs no reset.
        if (!inner_notify.contains(t.event) || waits_outside.contains(t.event)) add(s.resets, t.event);
        break;
      case Kind::Begin:
      case Kind::End:
      case Kind::Default:
        break;
    }
  }
  return out;
}

tl::expected<Capture, OptionError> capture_superkernels(const std::vector<CaptureTask>& tasks,
                                                        const CaptureOptions& options,
                                                        const CaptureTarget& target) {
  auto prepared = capture_nodes(tasks, options, target);
  if (!prepared) return tl::unexpected(std::move(prepared.error()));
  const std::vector<CaptureNode>& nodes = prepared->nodes;
  CaptureSegments segments = segment_capture(nodes, options, target.cores);
  Capture out;
  out.warnings = std::move(prepared->warnings);
  out.notes = std::move(segments.notes);
  for (const int64_t u : segments.order) {
    if (u >= 0) {
      out.order.push_back(u);
      continue;
    }
    const auto id = static_cast<size_t>(-1 - u);
    CaptureGroup& group = segments.groups[id];
    const auto dissolve = [&] { out.order.insert(out.order.end(), group.nodes.begin(), group.nodes.end()); };
    CapturePiece piece;
    for (const uint32_t n : group.nodes)
      if (tasks[n].kind == Kind::Kernel) piece.kernels.push_back(n);
    if (piece.kernels.empty()) {
      dissolve();
      continue;
    }
    piece.scope = scope_text(nodes[piece.kernels[0]].scopes, prepared->scope_names);
    piece.name = capture_name(id, piece.scope, tasks[piece.kernels.front()].kernel.id,
                              tasks[piece.kernels.back()].kernel.id);
    auto result = compile_capture(group_kernels(tasks, nodes, group.nodes), options, target);
    if (!result || !result->hangs.empty()) {
      std::string why;
      if (result) {
        const plan::SuperKernel& k = result->kernel;
        const uint32_t hung = result->hangs.front();
        why = fmt::format(
            "`{}` meets {} blocks with SyncAll, the launch has {}; switch debug_per_op_max_core_num off",
            tasks[piece.kernels[hung]].kernel.id, k.kernels[hung].block_dim, k.block_dim);
      } else {
        why = fmt::format("{}; {}", result.error().message, result.error().help);
      }
      out.warnings.push_back(fmt::format("`{}` is given up: {}", piece.name, why));
      for (const uint32_t n : piece.kernels) segments.unfused[n] = CaptureReason::PartOfScope;
      dissolve();
      continue;
    }
    piece.result = std::move(*result);
    piece.result.kernel.name = piece.name;
    piece.result.kernel.scope = piece.scope;
    for (const std::string& w : piece.result.warnings)
      out.warnings.push_back(fmt::format("`{}`: {}", piece.name, w));
    piece.nodes = std::move(group.nodes);
    piece.why = group.why;
    piece.trigger = group.trigger;
    out.order.push_back(-1 - static_cast<int64_t>(out.pieces.size()));
    out.pieces.push_back(std::move(piece));
  }
  for (uint32_t n = 0; n < tasks.size(); ++n) {
    if (!segments.unfused[n]) continue;
    const bool kernel = tasks[n].kind == Kind::Kernel || tasks[n].kind == Kind::Default;
    const bool split =
        std::find(segments.split_at.begin(), segments.split_at.end(), n) != segments.split_at.end();
    if (kernel || split)
      out.cuts.push_back({scope_text(nodes[n].scopes, prepared->scope_names), n, *segments.unfused[n]});
  }
  return out;
}

}  // namespace skdsl::superkernel
