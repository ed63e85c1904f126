// superkernel — several kernels that run as one launch: what they are and the steps of the two sides
//
// The cube cores (side aic) and the vector cores (side aiv) of the device each run a list of steps. Counting
// flags tie them: `sync` and the early-start halves meet all cores of one kind, `signal` / `await` the two
// kinds of core inside one AI-core group. The words are those of CANN's SuperKernel (graph-autofusion,
// super_kernel/src/jit).
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/plan/step.h"
#include "stdlib/op_info.h"

namespace skdsl::plan {

/// Which cores a kernel is made for: AIC cube, AIV vector; MIX 1:1 and 1:2 one or two vector cores in each
/// group.
enum class KernelType : uint8_t { Aiv, Aic, MixAiv10, MixAic10, MixAic11, MixAic12 };
std::string_view name(KernelType type);  // "AIV", "MIX_AIC_1_2", …
std::optional<KernelType> find_kernel_type(std::string_view name);
/// The type of a kernel on that core kind; AICPU and host have none.
std::optional<KernelType> kernel_type(Core core);

enum class Side : uint8_t { Aic, Aiv };
inline constexpr std::array kSides{Side::Aic, Side::Aiv};
std::string_view name(Side side);
constexpr Side other(Side s) { return s == Side::Aic ? Side::Aiv : Side::Aic; }

constexpr bool is_cube(KernelType t) { return t == KernelType::Aic || t == KernelType::MixAic10; }
constexpr bool is_vector(KernelType t) { return t == KernelType::Aiv || t == KernelType::MixAiv10; }
constexpr bool is_mix(KernelType t) { return !is_cube(t) && !is_vector(t); }
constexpr bool runs_on(KernelType t, Side s) {
  return is_mix(t) || (s == Side::Aic ? is_cube(t) : is_vector(t));
}

/// Cores that take part: those whose index is below `limit`, counted in groups or in vector cores of the
/// whole device.
struct CoreGuard {
  bool vector_core = false;
  uint32_t limit = 0;
  friend bool operator==(const CoreGuard&, const CoreGuard&) = default;
};

enum class SyncScope : uint8_t { AllAic, AllAiv, AllMix };
std::string_view name(SyncScope scope);
/// The barrier over the cores of one side.
constexpr SyncScope scope_of(Side s) { return s == Side::Aic ? SyncScope::AllAic : SyncScope::AllAiv; }

enum class StepField : uint8_t {
  Of,
  Units,
  Guard,
  Copies,
  ParamSlot,
  Feeds,
  Scope,
  Via,
  Direction,
  Flag,
  OnlyIf,
  Config,
  Event,
  Enabled,
  Offset,
  Bytes,
  LockSlot,
  Why,
  What,
  Id,
  Edge,
};

/// One step of a side; which fields count follows from its kind (superkernel_steps.def).
struct SkStep {
  enum class Kind : uint8_t {
#define SK_STEP_KIND(Name, word, ...) Name,
#include "runtime/plan/superkernel_steps.def"
#undef SK_STEP_KIND
    kCount
  };
  enum class Dcci : uint8_t { Before, After, Debug };
  enum class What : uint8_t { SuperKernel, SubKernel, Notify, Wait };

  Kind kind = Kind::PipeBarrier;
  uint32_t of = 0;     // index into SuperKernel::kernels
  uint32_t units = 0;  // of 2 KiB
  CoreGuard guard;
  uint32_t copies = 1;
  uint32_t slot = 0;   // parameter of the super kernel: first of the kernel's, of an event or of a lock
  bool feeds = false;  // idle cores join the kernel's SyncAll until its end is published
  SyncScope scope = SyncScope::AllMix;
  bool via_sync_all = false;   // the barrier is SyncAll<true>, not the bare flag
  bool drains_stores = false;  // cube cores: the store pipe is drained first, not the result pipe
  bool to_vector = false;      // Signal, Await: c2v, else v2c
  std::optional<CoreGuard>
      idle_only;        // OnlyIf: cores at or above the limit; the kernel does it on the others itself
  uint32_t config = 0;  // kind of the kernel before << 2 | kind of this one; aic 0, aiv 1, mix 2
  uint32_t event = 0;
  bool enabled = false;
  uint32_t offset = 0;  // bytes from the start of the feed workspace
  uint64_t bytes = 0;
  Dcci why = Dcci::Debug;
  What what = What::SuperKernel;
  uint32_t id = 0;
  bool begin = false;
  friend bool operator==(const SkStep&, const SkStep&) = default;
};

/// The word of a kind and its fields.
struct SkStepRow {
  std::string_view word;
  FixedList<StepField, 6> fields;
};
const SkStepRow& row(SkStep::Kind kind);

/// A kernel inside a super kernel.
struct SkKernel {
  uint32_t task = 0;  // Schedule::tasks; the number of a record in a conformance case
  KernelType type = KernelType::Aiv;
  uint32_t block_dim = 0;
  uint32_t stream = 0;    // Schedule::streams
  bool dynamic = false;   // tiling sink
  bool sync_all = false;  // has a SyncAll over its cores
  std::vector<uint32_t> send_events, recv_events;
  friend bool operator==(const SkKernel&, const SkKernel&) = default;
};

/// A super kernel. A side that the task ratio does not launch has no steps.
struct SuperKernel {
  std::string name;
  std::string scope;
  std::string options;  // "key=value:…", as given
  KernelType type = KernelType::MixAic12;
  uint32_t block_dim = 0;
  bool two_stream = false;
  uint64_t feed_workspace_bytes = 0;
  std::vector<SkKernel> kernels;
  std::array<std::vector<SkStep>, 2> steps;  // by Side
  std::vector<std::string> notes;            // where it is not what the original compiler would make, and why
  std::vector<Step> body;  // what the launch stands for, in order: its kernels, and the views, notes,
                           // prefetches and events between them

  const std::vector<SkStep>& of(Side s) const { return steps[static_cast<size_t>(s)]; }
  std::vector<SkStep>& of(Side s) { return steps[static_cast<size_t>(s)]; }
  friend bool operator==(const SuperKernel&, const SuperKernel&) = default;
};

/// "0:1", "1:0", "1:1", "1:2".
std::string_view task_ratio(KernelType superkernel_type);

/// A dependency between kernels of a super kernel: `before` must be done on all its cores when `after`
/// starts.
struct SkDependency {
  uint32_t before = 0, after = 0;
  friend bool operator==(const SkDependency&, const SkDependency&) = default;
};
/// What kernels owe each other: neighbours in the list (serial) or in a stream (two-stream), and every event
/// from an earlier kernel to a later one.
std::vector<SkDependency> dependencies(const SuperKernel& k);

/// What one run of the two sides shows, each flag followed to its end.
struct SkAnalysis {
  bool ends = true;                 // no side waits for ever
  bool flags_balanced = true;       // as many signals as awaits in each direction
  bool all_mix_matches = true;      // both sides meet at the same number of all_mix barriers
  bool every_kernel_called = true;  // on each of its sides, once
  bool feed_end_published = true;
  std::vector<SkDependency> unenforced;
  std::vector<std::pair<uint32_t, uint32_t>> waits_not_emitted;  // kernel, event
};
SkAnalysis analyse(const SuperKernel& k);

/// The events of kernel `k` that are not settled inside: sent to, or received from, somewhere else or
/// backwards.
struct SkEvents {
  std::vector<std::pair<uint32_t, uint32_t>> notify,
      wait;  // event, slot relative to the kernel's first event slot
};
SkEvents external_events(const SuperKernel& superkernel, size_t k);

/// What a wait half does on a side, in order: "wait:all_aic", "signal:c2v", "await:v2c" …
struct SkWaitActions {
  bool wait_all = false;  // the all-core flag of this side
  bool signal = false;    // towards the other side
  bool await = false;     // from the other side
};
SkWaitActions wait_actions(uint32_t config, Side side);

}  // namespace skdsl::plan
