// superkernel — from a list of compiled kernels and options to a super kernel, as the graph-compile engine
// does it
//
// types (type, block count) → events → serial or two-stream emission → analysis. The input is a task list,
// never the program: static graphs, captured tasks and `explain --case` share this entry. Behaviour:
// graph-autofusion, super_kernel/src/jit/superkernel. Where the original loses a wait or a barrier, meets on
// one side only, or never calls a kernel, ours does not; `Result::deviations` names each such place.
#pragma once
#include <string>
#include <vector>

#include "compiler/superkernel/options.h"
#include "runtime/plan/superkernel.h"

namespace skdsl::superkernel {

/// A kernel as its own compilation left it.
struct SubKernel {
  std::string id;       // for messages: "k0", "layers.0.norm"
  std::string op_type;  // for the dcci lists
  plan::KernelType type = plan::KernelType::Aiv;
  uint32_t block_dim = 1;
  uint32_t stream = 0;
  uint32_t params = 0;      // 8-byte parameters
  uint32_t code_bytes = 0;  // of its .text section
  bool dynamic = false;     // tiling sink: block_dim is what the platform has
  bool sync_all = false;
  bool early_start_set = false, early_start_wait = false;  // does that half of the hand-shake itself
  bool dcci_before = false, dcci_after = false, dcci_disable = false;
  uint32_t copies = 0;  // it was compiled with; 0 = as the super kernel wants
  std::vector<uint32_t> send_events, recv_events;
  uint32_t task = 0;
};

/// Cores of the device.
struct Platform {
  uint32_t aic = 24, aiv = 48;
};

struct Result {
  plan::SuperKernel kernel;
  // Parameters of the entry function.
  uint32_t entry_align = 512;
  std::vector<uint32_t> param_slots;  // by kernel: the first of its own
  int64_t workspace_slot = -1, profiling_slot = -1, task_id_slot = -1;
  bool one_copy = false;  // the original writes a run configuration into the header then

  std::vector<std::string> warnings;
  std::vector<std::string>
      deviations;  // where the original's schedule would be wrong, and what is done instead
  std::vector<uint32_t>
      hangs;  // kernels whose SyncAll waits for cores that never come, since nobody feeds it
};

/// The super kernel of `kernels` in the order of the list; the error names the option when one is at fault.
tl::expected<Result, OptionError> compile_superkernel(const std::vector<SubKernel>& kernels,
                                                      const Options& options, const Platform& platform);

/// Type and block count that hold all kernels (before debug-aic-num and debug-aiv-num).
struct Shape {
  plan::KernelType type = plan::KernelType::MixAic11;
  uint32_t block_dim = 0;
  friend bool operator==(const Shape&, const Shape&) = default;
};
Shape shape_of(const std::vector<std::pair<plan::KernelType, uint32_t>>& kernels);
/// The shape under debug-aic-num and debug-aiv-num: ratio 1:0, 0:1, 1:1 or 1:2, at most the platform, at
/// least the need.
tl::expected<Shape, OptionError> with_debug_cores(const Shape& shape, uint32_t aic, uint32_t aiv,
                                                  const Platform& platform);

/// A kernel whose SyncAll covers fewer cores than the super kernel starts.
bool needs_feed(const Shape& superkernel, plan::KernelType type, uint32_t block_dim, bool sync_all);
/// Bytes of the mailboxes: 512 for each core, doubled until they hold two lines of 64 bytes for each kernel.
uint64_t feed_workspace_bytes(const Shape& superkernel, size_t kernels);
/// 2 KiB units that are preloaded for a kernel of that size; at most 8.
uint32_t preload_units(uint32_t code_bytes);
/// The copy of a kernel's code that a core runs.
uint32_t copy_of_core(uint32_t core, uint32_t copies);
/// Runs of at least two neighbours with dcci disabled, which the original warns about.
std::vector<std::vector<uint32_t>> dcci_disabled_runs(const std::vector<bool>& disabled);

/// Whether neighbours on different streams without an event between them need two queues.
bool needs_two_streams(const std::vector<SubKernel>& kernels);

/// Edges between kernels of the two queues.
enum class Edge : uint8_t { C2C, C2V, V2C, V2V };
std::vector<Edge> edge_labels(plan::KernelType from, plan::KernelType to);
struct Flag {
  uint32_t from = 0, to = 0;
  bool to_vector = false;
  friend bool operator==(const Flag&, const Flag&) = default;
};
/// Drops flags that others make redundant: crossed lines, several sends, several receives. Kernels are
/// numbered in the order of both queues.
std::vector<Flag> reduce_flags(std::vector<Flag> flags);

}  // namespace skdsl::superkernel
