// op_info — what a row of ops.def says about an operator
//
// ops.def is the one place where an operator's facts stand. Parser names, shape and dtype checking, the
// verifier, docs/ops.md, kernel symbols, completion and the random tests are read off these rows.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

namespace skdsl {

/// A list of at most N entries that can stand in a constexpr table.
template <class T, size_t N>
struct FixedList {
  std::array<T, N> items{};
  size_t count = 0;
  constexpr FixedList() = default;
  constexpr FixedList(std::initializer_list<T> list) {
    for (const T& x : list) items[count++] = x;
  }
  constexpr const T* begin() const { return items.data(); }
  constexpr const T* end() const { return items.data() + count; }
  constexpr size_t size() const { return count; }
  constexpr const T& operator[](size_t i) const { return items[i]; }
};

/// Which element types an operand takes.
enum class Types : uint8_t {
  Float,  // f32, bf16, f16: activations; weights as stored
  Index,  // i32, i64
  Int,    // i8, i32, i64
  Int8,   // quantised values
  Int32,  // sums of products of quantised values
  Bool,
  Any,
  Event,    // a named event, not a tensor
  HostAny,  // any value, host scalars and lists included
};

enum class AttrType : uint8_t {
  Int,  // an integer or a dim expression
  Float,
  Bool,
  Str,
  DType,
  IntList,  // integers or dim expressions
  Choice,   // one of `choices`, given as a string
};

/// A parameter of an operator, in the order of a call. Operands are values; attributes are known when the
/// plan is made.
struct Param {
  std::string_view name;
  bool is_attr = false;
  Types types = Types::Any;         // operands
  bool optional = false;            // operands: may be left out
  bool variadic = false;            // operands: a list; only the last operand
  AttrType attr = AttrType::Int;    // attributes
  std::string_view default_text{};  // attributes: "" = required; "none" = absent, the rule decides
  std::string_view choices{};       // Choice: "a|b|c"
};

constexpr Param in(std::string_view name, Types types) { return {.name = name, .types = types}; }
constexpr Param opt(std::string_view name, Types types) {
  return {.name = name, .types = types, .optional = true};
}
constexpr Param many(std::string_view name, Types types) {
  return {.name = name, .types = types, .variadic = true};
}
constexpr Param attr(std::string_view name, AttrType type, std::string_view default_text = "") {
  return {.name = name, .is_attr = true, .attr = type, .default_text = default_text};
}
constexpr Param choice(std::string_view name, std::string_view choices, std::string_view default_text = "") {
  return {.name = name,
          .is_attr = true,
          .attr = AttrType::Choice,
          .default_text = default_text,
          .choices = choices};
}

/// How result types follow from operands and attributes; one function each in compiler/ops/infer.cpp.
enum class ShapeRule : uint8_t {
#define SK_SHAPE_RULE(Name, text) Name,
#include "stdlib/shape_rules.def"
#undef SK_SHAPE_RULE
};

/// The device engine that a kernel of this operator runs on.
enum class Core : uint8_t { None, Aic, Aiv, Mix11, Mix12, AiCpu, Host };

enum Trait : uint32_t {
  kPure = 1u << 0,     // same operands, same results; may be removed when unused
  kInPlace = 1u << 1,  // writes operand 0; result 0 (if any) is that storage
  kElementwise =
      1u << 2,          // output element i reads operand elements i only: result may reuse operand 0's buffer
  kHostRead = 1u << 3,  // brings device data to the host: breaks a graph
  kHostIo = 1u << 4,    // prints
  kRandom = 1u << 5,    // cannot be captured
  kDynamicShape = 1u << 6,  // the result's shape depends on values
  kSync = 1u << 7,          // the host waits for a stream
  kCollective = 1u << 8,
  kScopeCollective = 1u << 9,  // a collective that a super kernel may hold
  kView = 1u << 10,            // same bytes under another shape
  kStructural = 1u << 11,      // no kernel: the executors know it (call, if, state, event …)
  kLayout = 1u << 12,          // moves elements and keeps their dtype, stored weights included
  kHostFn = 1u << 13,          // computed by the host from host values
};

/// One row of ops.def.
struct OpInfo {
  std::string_view name;
  std::string_view category;
  std::string_view summary;  // one sentence with shapes, for docs/ops.md
  FixedList<Param, 24> params;
  FixedList<std::string_view, 4> results;  // {"ys…"} = as many as the rule gives
  ShapeRule rule;
  uint32_t traits = 0;
  Core core = Core::None;
  uint32_t phases = 1;         // barriers inside = phases - 1
  bool workspace = false;      // sk_workspace_<name> tells the bytes per block
  uint32_t code_bytes = 4096;  // of the device kernel's .text; assumed
  std::string_view source;     // where the meaning comes from ("" = the usual one)

  constexpr bool has(uint32_t trait) const { return (traits & trait) != 0; }
  constexpr bool has_kernel() const { return core != Core::None && core != Core::Host; }
  constexpr size_t n_operands() const {
    size_t n = 0;
    for (const Param& p : params) n += !p.is_attr;
    return n;
  }
  constexpr size_t n_attrs() const { return params.size() - n_operands(); }
};

/// Products of int8 values that int32 is sure to hold the sum of: 131071 * 128 * 128 < 2^31.
inline constexpr int64_t kMaxInt8Terms = 131071;

/// The operators, in table order; `Opcode` is the index of a row.
enum class Opcode : uint16_t {
#define SK_OP(Name, op_name, ...) Name,
#include "stdlib/ops.def"
#undef SK_OP
  kCount
};

inline constexpr OpInfo kOps[] = {
#define SK_OP(Name, op_name, ...) OpInfo{.name = #op_name, __VA_ARGS__},
#include "stdlib/ops.def"
#undef SK_OP
};

constexpr const OpInfo& info(Opcode op) { return kOps[static_cast<size_t>(op)]; }

/// The row named `name`, or Opcode::kCount.
Opcode find_op(std::string_view name);

/// The position of a parameter among operands or among attributes; -1 when there is none of that name.
constexpr int operand_index(const OpInfo& op, std::string_view name) {
  int i = 0;
  for (const Param& p : op.params)
    if (!p.is_attr) {
      if (p.name == name) return i;
      ++i;
    }
  return -1;
}
constexpr int attr_index(const OpInfo& op, std::string_view name) {
  int i = 0;
  for (const Param& p : op.params)
    if (p.is_attr) {
      if (p.name == name) return i;
      ++i;
    }
  return -1;
}
/// The n-th operand's row (a variadic last operand answers for all after it).
constexpr const Param& operand_param(const OpInfo& op, size_t n) {
  const Param* last = nullptr;
  for (const Param& p : op.params)
    if (!p.is_attr) {
      last = &p;
      if (n == 0) return p;
      --n;
    }
  return *last;
}
constexpr const Param& attr_param(const OpInfo& op, size_t n) {
  const Param* last = nullptr;
  for (const Param& p : op.params)
    if (p.is_attr) {
      last = &p;
      if (n == 0) return p;
      --n;
    }
  return *last;
}

}  // namespace skdsl
