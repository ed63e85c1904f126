// capture_segment — which captured tasks become one super kernel, in the capture engine
//
// Streams are drained side by side: a group takes, from every stream, the tasks that fuse and stand under the
// same set of open scopes; a task that does not fuse stops its stream for this group, a wait holds its stream
// until its notify has been taken. Groups are then split where SyncAll or a possible deadlock asks for it.
// Behaviour: graph-autofusion, super_kernel/src/aot/sk_scope_split.cpp.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/superkernel/capture_options.h"
#include "compiler/superkernel/capture_task.h"

namespace skdsl::superkernel {

/// A task as grouping sees it; the list is in the order of capture.
struct CaptureNode {
  CaptureTask::Kind kind = CaptureTask::Kind::Kernel;
  plan::KernelType type = plan::KernelType::Aiv;
  uint32_t block_dim = 0;
  uint32_t stream = 0;
  std::vector<uint32_t> scopes;  // names that are open
  std::optional<CaptureReason> unfused;
  int64_t notify = -1;  // Wait, MemoryWait: the node that ends it; -1 = none in the list
  Cores cores;
  bool sync_all = false;  // its SyncAll counts cores
};

/// The nodes of a task list; warnings come from its scopes. Every reason that a task has by itself is set:
/// scopes, kinds, cores, events without their other half.
struct CaptureNodes {
  std::vector<CaptureNode> nodes;
  std::vector<std::string> scope_names;
  std::vector<std::string> warnings;
};
tl::expected<CaptureNodes, OptionError> capture_nodes(const std::vector<CaptureTask>& tasks,
                                                      const CaptureOptions& options,
                                                      const CaptureTarget& target);

struct CaptureGroup {
  std::vector<uint32_t> nodes;  // in the order in which they were taken
  CaptureBreak why = CaptureBreak::None;
  int64_t trigger = -1;  // the node that ended it
};

struct CaptureSegments {
  std::vector<CaptureGroup> groups;
  std::vector<int64_t> order;  // what runs one after the other: a node, or group g as -1 - g
  std::vector<std::optional<CaptureReason>> unfused;  // by node, with what grouping added
  std::vector<uint32_t> split_at;                     // waits at which a group fell into two
  uint32_t resplits = 0;
  std::vector<std::string> notes;  // where the original would group otherwise, and why that is wrong
};
CaptureSegments segment_capture(std::vector<CaptureNode> nodes, const CaptureOptions& options,
                                const Platform& cores);

/// The groups that SyncAll makes of kernels with these cores: one whose SyncAll covers less than was gathered
/// begins a new group (a drop), and so does one with more cores than a SyncAll before it has met.
struct SyncAllKernel {
  Cores cores;
  bool sync_all = false;
};
struct SyncAllPart {
  uint32_t kernels = 0;
  bool by_drop = false;  // why it began
};
std::vector<SyncAllPart> sync_all_split(const std::vector<SyncAllKernel>& kernels);

/// Picks the next of the streams' heads: tasks that are no kernels first, then events and markers, then
/// kernels, each by number. `parallel` (auto_op_parallel) alternates kinds instead: a mix kernel first; after
/// mix another mix, after vector a cube kernel, after cube a vector kernel, in each case of another stream,
/// else whatever another stream has.
class CandidateHeap {
 public:
  CandidateHeap(const std::vector<CaptureNode>& nodes, bool parallel) : nodes_(nodes), parallel_(parallel) {}
  void push(uint32_t node) { heads_.push_back(node); }
  bool empty() const { return heads_.empty(); }
  uint32_t pop();

 private:
  size_t choose() const;
  const std::vector<CaptureNode>& nodes_;
  bool parallel_;
  std::vector<uint32_t> heads_;  // at most one for each stream
  int64_t last_ = -1;            // the last kernel that was taken
};

/// How often grouping begins anew at most.
inline constexpr uint32_t kMaxResplits = 10;

/// "sk_<id>_<scope>_start_<first>_end_<last>"; without kernels "sk_<id>_no_kernel_scope_<scope>".
std::string capture_name(size_t id, std::string_view scope, std::string_view first, std::string_view last);

/// The wait at which a group must be split, or -1. `groups` are all groups in order, `at` the one that is
/// looked at: its launch holds its cores while it waits, so what a wait depends on must find cores beside it.
struct Deadlock {
  int64_t wait = -1;
  int64_t node = -1;  // where it shows
};
Deadlock find_deadlock(const std::vector<CaptureNode>& nodes, const std::vector<CaptureGroup>& groups,
                       size_t at, const Platform& cores);

}  // namespace skdsl::superkernel
