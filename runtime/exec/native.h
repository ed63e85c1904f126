// native — a decode step as machine code: what a graph hands to its compiler, and what that code calls back
//
// A step is one launch: every worker enters the step function once and leaves it at the end. It calls one
// function for each *distinct* super kernel, with an argument table of the worker's own, and kernels of
// ordinary tasks directly. The order inside a super kernel is fixed beforehand (native_order.h); code is the
// same for every number of workers above one. The runtime does not know who compiles: a NativeCompiler is
// given to it.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/abi/abi.h"
#include "runtime/base/error.h"
#include "runtime/base/span.h"
#include "stdlib/op_info.h"

namespace skdsl::exec {

// ---- what the code sees at run time

/// How far a worker has come, in arrivals since the graph was built. A line of its own: only its worker
/// writes it.
struct alignas(64) NativeProgress {
  std::atomic<uint64_t> reached{0};
};

/// What all workers of one run share. Code reads `lanes` only.
struct NativeFrame {
  uint32_t lanes = 1;                  // workers
  uint32_t spins = 0;                  // polls before a waiting worker gives its core away
  uint64_t base = 0;                   // arrivals of the runs before
  NativeProgress* progress = nullptr;  // by worker
  const std::atomic<bool>* interrupt = nullptr;
  std::atomic<uint32_t> stop{UINT32_MAX};  // launches of the step from this one on do not run
  std::atomic<bool> interrupted{false};
};

/// The argument table of one launch: kernels' calls, then their fault records, in the order of
/// NativeFunction::kernels. A worker has one for each launch of the step.
using NativeTable = void*;
using NativeEntry = void (*)(NativeFrame* frame, const NativeTable* tables, uint32_t worker);

/// Who takes part in a meeting, and how. The first worker runs small kernels alone, so it may be all that
/// others wait for, or the only one who waits.
enum NativeMeet : uint32_t {
  kOthersArrive = 1,
  kFirstArrives = 2,
  kFirstWaits = 4,  // for the others
  kOthersWaitFirst = 8,
  kOthersWaitOthers = 16,
  kArrive = kFirstArrives | kOthersArrive,
  kWait = kFirstWaits | kOthersWaitFirst | kOthersWaitOthers,
  kMeet = kArrive | kWait,
  kOthers = kOthersArrive | kOthersWaitFirst | kOthersWaitOthers,
};

// ---- what is compiled

/// The static shape of an operand or result, strides in elements.
struct NativeTensor {
  std::vector<int64_t> dim, stride;
  uint32_t dtype = SK_NONE, layout = SK_STRIDED;
  friend bool operator==(const NativeTensor&, const NativeTensor&) = default;
};

/// An attribute: `list` for IntList, else the 8 bytes of sk_attr.
struct NativeAttr {
  bool is_list = false;
  uint64_t bits = 0;
  std::vector<int64_t> list;
  friend bool operator==(const NativeAttr&, const NativeAttr&) = default;
};

/// A kernel inside a function.
struct NativeKernel {
  Opcode code = Opcode::Add;
  uint32_t phases = 1;
  bool alone = false;      // on the first worker only
  bool may_fault = false;  // it has integer operands, the only data that can be out of range
  bool workspace = false;
  std::vector<NativeTensor> in, out;
  std::vector<NativeAttr> attrs;
  // Not compared: the first launch of a distinct function gives them.
  Loc loc;
  std::string path;
  std::vector<uint32_t> weights;  // operands that are weights
};
bool same_code(const NativeKernel& a, const NativeKernel& b);

struct NativeOp {
  enum class Kind : uint8_t {
    Call,      // a phase of a kernel
    Meet,      // `how`
    Prefetch,  // pull a kernel's code and weights towards the core
    Touch,     // read a kernel's argument records, before the meeting that it waits for
  };
  Kind kind = Kind::Call;
  uint32_t kernel = 0;
  uint32_t phase = 0;
  uint32_t meeting = 0;  // from 1 in each function
  uint32_t how = kMeet;
  friend bool operator==(const NativeOp&, const NativeOp&) = default;
};

/// A distinct super kernel, or an ordinary task (`plain`).
struct NativeFunction {
  std::string name;
  bool plain = false;
  std::vector<NativeKernel> kernels;
  std::vector<NativeOp> ops;
  uint32_t meetings = 0;  // numbers used

  /// No kernel runs on more than the first worker.
  bool first_only() const {
    return std::all_of(kernels.begin(), kernels.end(), [](const NativeKernel& k) { return k.alone; });
  }
};
/// Equal up to the argument table.
bool same_code(const NativeFunction& a, const NativeFunction& b);

struct NativeLaunch {
  uint32_t function = 0;
  uint32_t how = kMeet;  // the meeting before it
};

/// x86 twins of what a super kernel does on the device, and kernels compiled for their shapes
/// (native_options.def).
struct NativeOptions {
#define SK_NATIVE_OPTION(name, on, text) bool name = on;
#include "runtime/exec/native_options.def"
#undef SK_NATIVE_OPTION
  friend bool operator==(const NativeOptions&, const NativeOptions&) = default;
};

struct NativeStep {
  std::string name;   // of the graph's function
  bool solo = false;  // one worker: nobody is met
  NativeOptions options;
  std::vector<NativeFunction> functions;
  std::vector<NativeLaunch> launches;
  std::vector<std::string> files;  // Program::files
};

/// What became of a step; `run --json` tells it.
struct NativeInfo {
  double compile_ms = 0;  // until the code could be called
  bool from_cache = false;
  size_t functions = 0;       // distinct super kernels
  size_t static_kernels = 0;  // kernels compiled for their shapes
  uint64_t code_bytes = 0;
};

/// Machine code of a step; it stays valid while this lives.
class NativeCode {
 public:
  virtual ~NativeCode() = default;
  virtual NativeEntry entry() const = 0;
  virtual const NativeInfo& info() const = 0;
};

class NativeCompiler {
 public:
  virtual ~NativeCompiler() = default;
  virtual Expected<std::unique_ptr<NativeCode>> compile(const NativeStep& step) = 0;
};

/// The functions of the runtime that code calls, by name; kernels are found by theirs.
struct NativeSymbol {
  const char* name;
  const void* address;
};
std::vector<NativeSymbol> native_symbols();

}  // namespace skdsl::exec

extern "C" {
/// One meeting: `number` is counted from the start of the step; `how` are bits of NativeMeet.
void sk_native_meet(skdsl::exec::NativeFrame* frame, uint32_t worker, uint64_t number, uint32_t how) noexcept;
/// The meeting before a launch; not 0 when the step ends here, because of a fault before or an interrupt.
uint32_t sk_native_boundary(skdsl::exec::NativeFrame* frame, uint32_t worker, uint64_t number,
                            uint32_t launch, uint32_t how) noexcept;
/// A kernel of this launch has recorded a fault: later launches do not run.
void sk_native_fault(skdsl::exec::NativeFrame* frame, uint32_t launch) noexcept;
}
