// plan — a Program and, for each static graph, a Schedule
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/plan/program.h"
#include "runtime/plan/superkernel.h"

namespace skdsl::plan {

using BufferId = uint32_t;

/// Regions inside regions; a deeper program is refused by every stage.
inline constexpr int kMaxRegionDepth = 512;

/// Where the bytes of a schedule's tensor live.
enum class Storage : uint8_t { Input, Arena, Weight, State, Constant };

/// A tensor with a static shape. Contiguous; several buffers may share bytes (views, in-place results).
struct Buffer {
  Storage storage = Storage::Arena;
  DType dtype = DType::F32;  // Stored only for weights
  std::vector<int64_t> shape;
  uint64_t offset = 0;  // Arena: bytes from its start
  uint32_t index = 0;   // Input: argument number; Constant: see constant()
  std::string path;     // Weight (or const), State
  std::string name;     // hint for printing
};

/// One attribute with its symbols resolved, in the form kernels take it. IntList: `list`; else `i` or `f`.
struct TaskAttr {
  AttrType type = AttrType::Int;
  int64_t i = 0;
  double f = 0;
  std::vector<int64_t> list;
  std::string text;  // Str (never reaches a kernel) and the spelling of a Choice
  friend bool operator==(const TaskAttr&, const TaskAttr&) = default;
};

/// A task: one op of the flattened graph in plan vocabulary.
struct Task {
  Opcode code = Opcode::Add;
  std::vector<BufferId> in;  // kNone = absent operand
  std::vector<BufferId> out;
  std::vector<TaskAttr> attrs;
  ContextId context = kNone;  // Program::contexts
  Core core = Core::None;     // kernel type on the device
  uint32_t block_dim = 0;  // blocks on the device (assumed until the chip profile says otherwise); the host
                           // calls with blocks = workers
  uint32_t stream = 0;     // Schedule::streams
  bool view = false;       // no work: out[0] shares in[0]'s bytes
  Loc loc;
  std::string path;
};

/// Why a scope is not one super kernel (fusion_reasons.def).
enum class FusionReason : uint8_t {
#define SK_FUSION_REASON(Name, word, reason, remedy) Name,
#include "runtime/plan/fusion_reasons.def"
#undef SK_FUSION_REASON
  kCount
};
struct FusionReasonRow {
  std::string_view word, reason, remedy;
};
const FusionReasonRow& row(FusionReason reason);

/// A place where a scope was cut.
struct FusionCut {
  std::string scope;
  uint32_t task = kNone;  // the op that cut: unfused, or outside the scope
  FusionReason reason = FusionReason::Tbe;
  friend bool operator==(const FusionCut&, const FusionCut&) = default;
};

/// A static graph: one function under bindings of its symbols.
struct Schedule {
  std::string function;
  std::vector<std::pair<std::string, int64_t>> bindings;  // symbol -> value, sorted by name
  std::vector<std::string> streams;                       // streams[0] = "main"
  std::vector<std::string> events;
  std::vector<Buffer> buffers;
  std::vector<ConstantData> constants;  // this graph's own: numbered on after Program::constants
  std::vector<BufferId> inputs;  // one for each argument; kNone for a host scalar, whose value is a binding
  std::vector<BufferId> outputs;
  std::vector<Task> tasks;
  std::vector<Step> steps;
  std::vector<SuperKernel> superkernels;
  std::vector<FusionCut> cuts;
  uint64_t arena_bytes = 0;
};

struct Plan {
  Program program;
  std::vector<Schedule> schedules;
};

/// The data of a Constant buffer: Program::constants first, then Schedule::constants; null when out of range.
const ConstantData* constant(const Program& program, const Schedule& schedule, uint32_t index);

std::string print(const Plan& plan);
std::string print(const Schedule& schedule, const Program& program);

/// The inverse of print; errors name the line and what was expected.
Expected<Program> parse_program(std::string_view text);
Expected<Plan> parse_plan(std::string_view text);

/// The same up to the numbering of values, ops and regions; ops that stand in no region do not count.
bool equal(const Program& a, const Program& b);
bool equal(const Schedule& a, const Schedule& b);
bool equal(const Plan& a, const Plan& b);

/// What is wrong with a program or plan, one line each; empty when it may be executed.
/// Program: ids in range, arity and attribute kinds as in ops.def, every use after its definition and visible
/// in its region, regions end in yield or return with matching types. Schedule: buffers inside the arena, no
/// task reads what no earlier one wrote, no two live buffers overlap unless one is a view or in-place result
/// of the other, and what tasks of two streams share is ordered by events. A super kernel starts when all its
/// streams have come so far and they all continue behind it; its two sides end, call every kernel and enforce
/// every dependency.
std::vector<std::string> verify(const Program& program);
std::vector<std::string> verify(const Plan& plan);
std::vector<std::string> verify(const Schedule& schedule, const Program& program);

}  // namespace skdsl::plan
