// capture_superkernel — from one group of captured kernels to a super kernel, as the capture engine does it
//
// A prebuilt entry function plays two task queues, one on the cube and one on the vector cores. Every kernel
// is followed by a barrier over the cores of its sides; flags tie the queues where streams or events ask for
// it. Behaviour: graph-autofusion, super_kernel/src/aot/sk_task_builder.cpp.
#pragma once
#include <string>
#include <vector>

#include "compiler/superkernel/capture_options.h"
#include "compiler/superkernel/capture_task.h"

namespace skdsl::superkernel {

/// A kernel of a group, in the order in which the group took it. SubKernel::send_events and recv_events name
/// the flags between kernels of different streams, and all of `waits` and `notifies` too.
struct CaptureKernel {
  SubKernel kernel;
  uint8_t capabilities = 0;
  std::vector<uint32_t> waits;     // events from outside, awaited in front of it
  std::vector<uint32_t> resets;    // events that are cleared behind those waits
  std::vector<uint32_t> notifies;  // events to the outside, behind it
};

/// Bits of the early-start mask of a kernel in its two queues.
enum EarlyStartMask : uint32_t {
  kAicToAicSet = 1,
  kAicToAicWait = 2,
  kAicToAivSet = 4,
  kAivToAicWait = 8,
  kAivToAivSet = 16,
  kAivToAivWait = 32,
  kAivToAicSet = 64,
  kAicToAivWait = 128,
  kSplitCoreControl = 1 << 15,  // on DAV_3510, with any other bit
};

struct CaptureResult {
  plan::SuperKernel kernel;
  std::string entry;                  // symbol of the entry function
  std::vector<uint32_t> param_slots;  // by kernel: the first of its own
  std::vector<uint32_t> early_start;  // by kernel: its mask
  bool constant_codegen = false;      // the entry function is written for these tasks
  std::vector<std::string> warnings;
  std::vector<uint32_t> hangs;  // kernels whose SyncAll counts other cores than the launch has
};
/// The super kernel of a group; the error says which kernel cannot be part of one.
tl::expected<CaptureResult, OptionError> compile_capture(const std::vector<CaptureKernel>& kernels,
                                                         const CaptureOptions& options,
                                                         const CaptureTarget& target);

/// The type and block count of the entry function: AIV or AIC when all kernels are of that kind, 1:2 when one
/// of them is or when there are more vector than cube cores, else 1:1.
Shape entry_shape(const std::vector<std::pair<plan::KernelType, uint32_t>>& kernels);
/// "sk_entry_mix12_debug_op_trace".
std::string entry_symbol(plan::KernelType type, const CaptureOptions& options);
/// Whether a kernel runs on every core of its sides, so that its SyncAll ends.
bool covers_all(const Shape& launch, plan::KernelType type, uint32_t block_dim);

/// Units of 2 KiB that are preloaded for a kernel of that size on a side, by preload_code.
uint32_t capture_preload_units(uint32_t preload_code, uint32_t code_bytes, plan::Side side);

/// Whether the data cache is cleaned before and after a kernel.
struct Dcci {
  bool before = false, after = false;
  friend bool operator==(const Dcci&, const Dcci&) = default;
};
Dcci capture_dcci(const CaptureOptions& options, std::string_view kernel, uint8_t capabilities);

}  // namespace skdsl::superkernel
