// capture_nodes — what each captured task is for grouping, and why it cannot fuse by itself
//
// An event counts inside a super kernel only when both halves are known. A write to memory is the notify of a
// wait when its value satisfies it, else it resets the word.
#include <algorithm>
#include <map>

#include "compiler/superkernel/capture_scope.h"
#include "compiler/superkernel/capture_segment.h"

namespace skdsl::superkernel {

using Kind = CaptureTask::Kind;

namespace {

// Finds the other halves. Reasons are only added to nodes that have none.
class Pairs {
 public:
  Pairs(const std::vector<CaptureTask>& tasks, const CaptureOptions& options, std::vector<CaptureNode>& nodes)
      : tasks_(tasks), bypass_(options.strategy(CaptureStrategy::ValueBreaker)), nodes_(nodes) {}

  void run() {
    events();
    memory();
  }

 private:
  void refuse(uint32_t n, CaptureReason why) {
    if (!nodes_[n].unfused) nodes_[n].unfused = why;
  }

  void events() {
    struct Event {
      std::vector<uint32_t> notifies, waits;
      bool waited = false;  // by a wait behind a notify
    };
    std::map<uint32_t, Event> all;
    std::vector<bool> waited(tasks_.size(), false);
    for (uint32_t i = 0; i < tasks_.size(); ++i) {
      if (tasks_[i].kind == Kind::Notify) all[tasks_[i].event].notifies.push_back(i);
      if (tasks_[i].kind != Kind::Wait) continue;
      Event& e = all[tasks_[i].event];
      e.waits.push_back(i);
      // A wait in front of every notify waits for nothing that was captured.
      if (e.notifies.empty()) {
        refuse(i, CaptureReason::ExternalDependency);
        continue;
      }
      nodes_[i].notify = e.notifies.back();
      waited[e.notifies.back()] = true;
    }
    for (const auto& [id, e] : all) {
      for (const uint32_t n : e.notifies) {
        if (e.notifies.size() > 1) refuse(n, CaptureReason::UnsupportedEvent);
        if (!waited[n]) refuse(n, CaptureReason::ExternalDependency);
      }
      if (e.notifies.size() > 1)
        for (const uint32_t w : e.waits) refuse(w, CaptureReason::UnsupportedEvent);
    }
  }

  void memory() {
    std::map<uint32_t, std::vector<uint32_t>> writes;
    std::map<uint32_t, bool> waited_address;
    std::vector<bool> notifies(tasks_.size(), false);
    for (uint32_t i = 0; i < tasks_.size(); ++i) {
      const CaptureTask& t = tasks_[i];
      if (t.kind == Kind::MemoryWrite) writes[t.event].push_back(i);
      if (t.kind != Kind::MemoryWait) continue;
      waited_address[t.event] = true;
      std::vector<uint32_t> good;
      for (const uint32_t w : writes[t.event])
        if (satisfies(t.flag, tasks_[w].value, t.value)) good.push_back(w);
      if (good.empty()) {
        if ((bypass_ & kUnpairedWaits) == 0) refuse(i, CaptureReason::MemoryOnly);
        continue;
      }
      nodes_[i].notify = good.back();
      const bool fuses = good.size() == 1 && (bypass_ & kPairedWaits) != 0;
      if (!fuses) refuse(i, CaptureReason::UnsupportedEvent);
      for (const uint32_t w : good) {
        notifies[w] = true;
        if (!fuses) refuse(w, CaptureReason::UnsupportedEvent);
      }
    }
    for (uint32_t i = 0; i < tasks_.size(); ++i)
      if (tasks_[i].kind == Kind::MemoryWrite && !notifies[i])
        refuse(i, waited_address.contains(tasks_[i].event) ? CaptureReason::ResetNode
                                                           : CaptureReason::MemoryOnly);
  }

  const std::vector<CaptureTask>& tasks_;
  uint32_t bypass_;
  std::vector<CaptureNode>& nodes_;
};

}  // namespace

tl::expected<CaptureNodes, OptionError> capture_nodes(const std::vector<CaptureTask>& tasks,
                                                      const CaptureOptions& options,
                                                      const CaptureTarget& target) {
  auto scopes = read_scopes(tasks);
  if (!scopes) return tl::unexpected(std::move(scopes.error()));
  CaptureNodes out;
  out.scope_names = std::move(scopes->names);
  out.warnings = std::move(scopes->warnings);
  for (uint32_t i = 0; i < tasks.size(); ++i) {
    const CaptureTask& t = tasks[i];
    CaptureNode& n = out.nodes.emplace_back();
    n.kind = t.kind;
    n.stream = t.stream;
    n.scopes = std::move(scopes->open[i]);
    n.unfused = scopes->unfused[i];
    const auto refuse = [&](bool when, CaptureReason why) {
      if (when && !n.unfused) n.unfused = why;
    };
    if (t.kind == Kind::Kernel) {
      n.type = t.kernel.type;
      n.block_dim = t.kernel.block_dim;
      n.cores = cores_of(t.kernel.type, t.kernel.block_dim);
      n.sync_all = t.kernel.sync_all && (t.capabilities & kSkipsBatchCheck) == 0;
      if (t.unfusable) refuse(true, *t.unfusable);
      refuse(t.kernel.dynamic, CaptureReason::DynamicTask);
      refuse(t.simt && target.dav_3510, CaptureReason::SimtOp);
      refuse(n.cores.cube > target.cores.aic || n.cores.vector > target.cores.aiv,
             CaptureReason::TooManyCores);
    } else if (t.kind == Kind::Default) {
      refuse(true, t.unfusable.value_or(CaptureReason::DefaultNode));
    } else if (t.unfusable) {
      refuse(true, *t.unfusable);
    }
  }
  Pairs(tasks, options, out.nodes).run();
  return out;
}

}  // namespace skdsl::superkernel
