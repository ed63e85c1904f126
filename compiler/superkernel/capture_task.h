// capture_task — what was captured: the tasks of all streams in the order of capture
//
// A task's place in the list is its number. Kernels carry what their compilation left; events, memory words
// and scope markers stand between them on their streams.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/superkernel/superkernel.h"
#include "runtime/plan/plan.h"

namespace skdsl::superkernel {

/// Why a task is in no super kernel.
using CaptureReason = plan::FusionReason;

/// Why a group of tasks ended.
enum class CaptureBreak : uint8_t {
#define SK_CAPTURE_BREAK(Name, ...) Name,
#include "compiler/superkernel/capture_breaks.def"
  kCount
};
struct CaptureBreakRow {
  std::string_view word, reason;
};
const CaptureBreakRow& row(CaptureBreak why);

/// What a kernel can do by itself: the mask of its bind macro.
enum CaptureCapability : uint8_t {
  kWaitsEarly = 1,      // awaits the end of the kernel before it
  kSetsEarly = 2,       // lets the next kernel start
  kNoDcci = 4,          // needs no clean data cache behind it
  kSkipsBatchCheck = 8  // its SyncAll does not count the cores
};

/// How a wait compares the word in memory with its value.
enum class MemoryFlag : uint8_t { Geq, Eq, And, Nor };
bool satisfies(MemoryFlag flag, uint64_t word, uint64_t value);

struct CaptureTask {
  enum class Kind : uint8_t { Kernel, Notify, Wait, Reset, MemoryWrite, MemoryWait, Begin, End, Default };
  Kind kind = Kind::Kernel;
  uint32_t stream = 0;
  uint32_t event = 0;  // Notify, Wait, Reset: the event; MemoryWrite, MemoryWait: the address
  uint64_t value = 0;  // MemoryWrite, MemoryWait
  MemoryFlag flag = MemoryFlag::Geq;
  std::optional<std::string> scope;  // Begin, End; nothing = the scope without a name
  SubKernel kernel;                  // Kernel: id is its function name; stream and events are not read
  uint8_t capabilities = 0;
  bool simt = false;
  std::optional<CaptureReason> unfusable;  // known before: unsupported, attributes not read …
};

/// The device under capture.
struct CaptureTarget {
  Platform cores;
  bool dav_3510 = false;  // mix kernels are kept apart from the others by barriers, SIMT kernels do not fuse
};

/// Cube and vector cores that a kernel runs on.
struct Cores {
  uint32_t cube = 0, vector = 0;
  friend bool operator==(const Cores&, const Cores&) = default;
};
Cores cores_of(plan::KernelType type, uint32_t block_dim);

}  // namespace skdsl::superkernel
