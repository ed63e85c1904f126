// program — the Plan's first layer: op records with symbolic shapes, regions, host scalars and places
//
// The compiler's IR and the program that eager interprets are one data structure: lowering builds it, passes
// change it, the interpreter walks it, the scheduler flattens one specialised function of it. Everything is
// addressed by ids into vectors; a function owns its values, ops and regions.
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "runtime/abi/dtype.h"
#include "runtime/base/span.h"
#include "runtime/plan/dim.h"
#include "stdlib/op_info.h"

namespace skdsl::plan {

using ValueId = uint32_t;
using OpId = uint32_t;
using RegionId = uint32_t;
using ContextId = uint32_t;
inline constexpr uint32_t kNone = 0xffffffffu;

/// What a value is. Tensors have a dtype and dims; host integers are a Dim (dims[0]).
enum class Kind : uint8_t { Tensor, HostInt, HostFloat, HostBool, HostList };

/// The dtype of a tensor type. `Stored` stands for a weight's dtype in the checkpoint, known when it is
/// loaded.
enum class DType : uint8_t { None, F32, BF16, F16, I8, I32, I64, Bool, Stored };
DType dtype_of(sk_dtype t);
sk_dtype abi_dtype(DType t);  // SK_NONE for Stored and None
std::string_view name(DType t);
std::optional<DType> dtype_named(std::string_view text);  // "f32", "bf16", …, "stored"

struct Type {
  Kind kind = Kind::Tensor;
  DType dtype = DType::None;
  std::vector<Dim> dims;
  friend bool operator==(const Type&, const Type&) = default;

  static Type tensor(DType dtype, std::vector<Dim> dims) { return {Kind::Tensor, dtype, std::move(dims)}; }
  static Type host_int(Dim value) { return {Kind::HostInt, DType::I64, {std::move(value)}}; }
  static Type host(Kind kind) { return {kind, DType::None, {}}; }
  bool is_tensor() const { return kind == Kind::Tensor; }
  size_t rank() const { return dims.size(); }
};

/// An attribute value. IntList and Int hold dims (constants mostly); Choice and Str hold text; DType holds
/// DType. monostate = "none" (absent, the rule decides); only where that is the table's default.
using Attr = std::variant<std::monostate, Dim, double, bool, std::string, std::vector<Dim>, DType>;

/// What an attribute is when nobody gives it; monostate for "none" and for a required one.
Attr default_attr(const Param& param);

/// What surrounds an op in the source: super-kernel scope, stream, core limits. A chain from the innermost
/// outwards.
struct Context {
  enum class Kind : uint8_t { SuperKernel, NoSuperKernel, Stream, Cores };
  Kind kind = Kind::SuperKernel;
  ContextId parent = kNone;
  std::string name;                                          // scope or stream name
  std::vector<std::pair<std::string, std::string>> options;  // as written; cores: aic, aiv
  Loc loc;
  friend bool operator==(const Context&, const Context&) = default;
};

struct Op {
  Opcode code = Opcode::Constant;
  std::vector<ValueId> operands;  // table order; absent optional operands are kNone
  std::vector<ValueId> results;
  std::vector<Attr> attrs;        // table order
  std::vector<RegionId> regions;  // if: then, else; while: condition, body
  ContextId context = kNone;
  Loc loc;
  std::string path;  // instance path of a call ("layers.0.attn.1"); of other ops the instance they belong to
};

struct Value {
  Type type;
  std::string name;  // a hint for printing; not unique
};

struct Region {
  std::vector<ValueId> args;
  std::vector<OpId> ops;  // the last one is a yield (or return in a body)
};

/// None: plain functions, scripts, consts. A draft's phases run after the model's.
enum class Phase : uint8_t { None, Prefill, Decode, DraftPrefill, DraftDecode };
inline constexpr bool is_decode(Phase phase) { return phase == Phase::Decode || phase == Phase::DraftDecode; }
std::string_view name(Phase phase);

struct Function {
  std::string name;  // "main", "LongCatFlash.decode", "layers.0.forward#12"
  Phase phase = Phase::None;
  std::vector<std::string> param_names;  // one for each argument of the body region
  std::vector<Type> results;
  RegionId body = 0;
  Loc loc;
  /// What the call in a script gave for parameters that are no values ("n" -> "3"); a hint for reports, not
  /// in the text form.
  std::vector<std::pair<std::string, std::string>> fixed;
  std::vector<Value> values;
  std::vector<Op> ops;
  std::vector<Region> regions;

  ValueId add_value(Type type, std::string name = {});
  RegionId add_region();
  /// Appends an op to a region and makes its results.
  OpId add_op(RegionId region, Op op, const std::vector<Type>& result_types);
};

/// Literal data of `constant` ops; bytes are little endian, row-major.
struct ConstantData {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;
  friend bool operator==(const ConstantData&, const ConstantData&) = default;
};

/// A weight by path ("layers.0.attn.1.q_a.w"). sources[e] are the checkpoint tensors that are concatenated on
/// axis 0; more than one row, or `stacked`, stacks them on a new axis 0.
struct WeightDecl {
  std::string path;
  Type type;  // constant dims; dtype Stored or the typed one (converted at load)
  std::vector<std::vector<std::string>> sources;
  bool stacked = false;
  Loc loc;
};

/// `const`: result `result` of `function`, evaluated once at load.
struct ConstDecl {
  std::string path;
  Type type;
  std::string function;
  uint32_t result = 0;
  Loc loc;
};

struct StateDecl {
  std::string path;
  Type type;  // constant dims
  bool uninitialized = false;
  bool rebound = false;  // assigned as a whole somewhere: eager only
  Loc loc;
};

struct Program {
  std::vector<std::string> files;    // files[0] = "" (nowhere)
  std::vector<std::string> symbols;  // SymbolId -> name, unique
  std::vector<Context> contexts;
  std::vector<ConstantData> constants;
  std::vector<WeightDecl> weights;
  std::vector<ConstDecl> consts;
  std::vector<StateDecl> states;
  std::vector<std::string> unused_sources;  // globs of checkpoint names that are not ours
  std::deque<Function> functions;

  SymbolId symbol(std::string_view name);        // interned
  SymbolId fresh_symbol(std::string_view base);  // a new name: "u7"
  std::string text(const Dim& dim) const;
  std::string text(const Type& type) const;  // "bf16[T, 64]", "int(T*2)", "float", "list"
  Function* find(std::string_view name);
  const Function* find(std::string_view name) const;
};

/// Text form; `parse(print(p))` gives p back (docs/plan.md has the grammar).
std::string print(const Program& program);

}  // namespace skdsl::plan
