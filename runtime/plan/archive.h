// archive — programs and schedules as bytes, for caches that the same build reads again
//
// The text form (docs/plan.md) is for people and for keeping; this one is for reading back fast. Every
// structure is taken apart by a structured binding, so a field that is added and forgotten here does not
// compile. Bytes that end too early or that hold an impossible count are an error; what else may be wrong
// with them is for the reader's checksum.
#pragma once
#include <cereal/cereal.hpp>
#include <cereal/types/array.hpp>
#include <cereal/types/deque.hpp>
#include <cereal/types/optional.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/utility.hpp>
#include <cereal/types/variant.hpp>
#include <cereal/types/vector.hpp>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "runtime/plan/plan.h"

namespace skdsl::plan {

class Packer : public cereal::OutputArchive<Packer, cereal::AllowEmptyClassElision> {
 public:
  Packer() : OutputArchive(this) {}
  void put(const void* data, size_t size) { bytes.append(static_cast<const char*>(data), size); }
  std::string bytes;
};

class Unpacker : public cereal::InputArchive<Unpacker, cereal::AllowEmptyClassElision> {
 public:
  explicit Unpacker(std::string_view bytes) : InputArchive(this), left_(bytes) {}
  void take(void* data, size_t size) {
    if (size > left_.size()) throw cereal::Exception("the bytes end too early");
    std::memcpy(data, left_.data(), size);
    left_.remove_prefix(size);
  }
  /// Every element of a list takes a byte at least.
  void check_count(uint64_t count) const {
    if (count > left_.size()) throw cereal::Exception("a count is larger than what is there");
  }
  bool at_end() const { return left_.empty(); }
  /// The dim that is this symbol; a program has few and mentions them often.
  const Dim& symbol(SymbolId id) {
    for (const auto& [known, dim] : symbols_)
      if (known == id) return dim;
    return symbols_.emplace_back(id, Dim::symbol(id)).second;
  }

 private:
  std::string_view left_;
  std::vector<std::pair<SymbolId, Dim>> symbols_;
};

}  // namespace skdsl::plan
CEREAL_SETUP_ARCHIVE_TRAITS(skdsl::plan::Unpacker, skdsl::plan::Packer)
namespace skdsl::plan {

template <class T>
concept Number = std::is_arithmetic_v<T>;

void save(Packer& a, const Number auto& n) { a.put(&n, sizeof n); }
void load(Unpacker& a, Number auto& n) { a.take(&n, sizeof n); }
template <class T>
void save(Packer& a, const cereal::BinaryData<T>& data) {
  a.put(data.data, static_cast<size_t>(data.size));
}
template <class T>
void load(Unpacker& a, cereal::BinaryData<T>& data) {
  a.take(data.data, static_cast<size_t>(data.size));
}
template <class Archive, class T>
void serialize(Archive& a, cereal::NameValuePair<T>& pair) {
  a(pair.value);
}
template <class T>
void serialize(Packer& a, cereal::SizeTag<T>& tag) {
  const auto n = static_cast<uint32_t>(tag.size);
  a.put(&n, sizeof n);
}
template <class T>
void serialize(Unpacker& a, cereal::SizeTag<T>& tag) {
  uint32_t n = 0;
  a.take(&n, sizeof n);
  a.check_count(n);
  tag.size = n;
}

inline void save(Packer& a, const Dim& d) {
  uint32_t terms = 0;
  d.each_term([&](const auto&, int64_t) { ++terms; });
  const auto symbol = d.as_symbol();
  // 0: a constant. 1: a bare symbol. Otherwise one more than the number of terms.
  a(symbol ? 1u : terms == 0 ? 0u : terms + 1);
  if (symbol) {
    a(*symbol);
    return;
  }
  int64_t constant = d.is_constant() ? d.constant() : 0;
  if (terms > 0) constant = *d.evaluate([](SymbolId) { return std::optional<int64_t>(0); });
  a(constant);
  d.each_term([&](const std::vector<SymbolId>& factors, int64_t coefficient) { a(factors, coefficient); });
}
inline void load(Unpacker& a, Dim& d) {
  uint32_t kind = 0;
  a(kind);
  if (kind == 1) {
    SymbolId id = 0;
    a(id);
    d = a.symbol(id);
    return;
  }
  int64_t constant = 0;
  a(constant);
  d = Dim(constant);
  for (uint32_t t = 1; t < kind; ++t) {
    std::vector<SymbolId> factors;
    int64_t coefficient = 0;
    a(factors, coefficient);
    Dim term(coefficient);
    for (const SymbolId s : factors) term = term * a.symbol(s);
    d = d + term;
  }
}

/// What `serialize` takes: a structure and the same structure read-only.
template <class T, class Of>
concept Is = std::is_same_v<std::remove_const_t<T>, Of>;

#define SK_ARCHIVE(Type, ...)                         \
  template <class Archive, ::skdsl::plan::Is<Type> T> \
  void serialize(Archive& archive, T& object_) {      \
    auto& [__VA_ARGS__] = object_;                    \
    archive(__VA_ARGS__);                             \
  }

SK_ARCHIVE(Type, kind, dtype, dims)
SK_ARCHIVE(Context, kind, parent, name, options, loc)
SK_ARCHIVE(Op, code, operands, results, attrs, regions, context, loc, path)
SK_ARCHIVE(Value, type, name)
SK_ARCHIVE(Region, args, ops)
SK_ARCHIVE(Function, name, phase, param_names, results, body, loc, fixed, values, ops, regions)
SK_ARCHIVE(ConstantData, dtype, shape, bytes)
SK_ARCHIVE(WeightDecl, path, type, sources, stacked, loc)
SK_ARCHIVE(ConstDecl, path, type, function, result, loc)
SK_ARCHIVE(StateDecl, path, type, uninitialized, rebound, loc)
SK_ARCHIVE(Program, files, symbols, contexts, constants, weights, consts, states, unused_sources, functions)

SK_ARCHIVE(Buffer, storage, dtype, shape, offset, index, path, name)
SK_ARCHIVE(TaskAttr, type, i, f, list, text)
SK_ARCHIVE(Task, code, in, out, attrs, context, core, block_dim, stream, view, loc, path)
SK_ARCHIVE(FusionCut, scope, task, reason)
SK_ARCHIVE(Step, kind, task, event, stream)
SK_ARCHIVE(CoreGuard, vector_core, limit)
SK_ARCHIVE(SkStep, kind, of, units, guard, copies, slot, feeds, scope, via_sync_all, drains_stores, to_vector,
           idle_only, config, event, enabled, offset, bytes, why, what, id, begin)
SK_ARCHIVE(SkKernel, task, type, block_dim, stream, dynamic, sync_all, send_events, recv_events)
SK_ARCHIVE(SuperKernel, name, scope, options, type, block_dim, two_stream, feed_workspace_bytes, kernels,
           steps, notes, body)
SK_ARCHIVE(Schedule, function, bindings, streams, events, buffers, constants, inputs, outputs, tasks, steps,
           superkernels, cuts, arena_bytes)

template <class T>
std::string pack(const T& of) {
  Packer packer;
  packer(of);
  return std::move(packer.bytes);
}

/// Error: what does not fit. All bytes must have been used.
template <class T>
Expected<T> unpack(std::string_view bytes) {
  try {
    Unpacker unpacker(bytes);
    T out;
    unpacker(out);
    if (unpacker.at_end()) return out;
    return fail("packed bytes go on behind their end");
  } catch (const std::exception& e) {
    return fail(std::string("packed bytes: ") + e.what());
  }
}

}  // namespace skdsl::plan

namespace skdsl {
SK_ARCHIVE(Loc, file, line, column, length)
SK_ARCHIVE(Span, file, begin, end)
}  // namespace skdsl
