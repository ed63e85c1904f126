// copier — rewriting by writing anew
//
// A pass derives from Copier and says for each op whether it goes over as it is, or what stands in its place.
// The new function holds only what was copied, so nothing dead stays behind, and a replaced value is one
// entry of a map.
#pragma once
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/plan/plan.h"

namespace skdsl::passes {

class Copier {
 public:
  Copier(const plan::Function& from, plan::Function& to)
      : from_(from), to_(to), map_(from.values.size(), plan::kNone) {}
  virtual ~Copier() = default;

  /// The whole function into an empty one: name, parameters, body, results.
  void copy_function();

 protected:
  /// Called with each op but terminators of inlined bodies; true when the pass has put something else in its
  /// place.
  virtual bool replace(const plan::Op& op, plan::RegionId into, int depth) = 0;
  virtual plan::ContextId context(plan::ContextId id) { return id; }

  /// Copies an op with its regions; `op` speaks of values of `from`.
  plan::OpId copy_op(const plan::Op& op, plan::RegionId into, int depth);
  /// Copies the ops of a region up to its terminator, which it gives back without copying.
  const plan::Op& copy_ops_before_end(plan::RegionId region, plan::RegionId into, int depth);
  void copy_ops(plan::RegionId region, plan::RegionId into, int depth);
  void copy_args(const std::vector<plan::ValueId>& args, plan::RegionId into);

  plan::ValueId mapped(plan::ValueId v) const { return v == plan::kNone ? plan::kNone : map_[v]; }
  const plan::Type& new_type(plan::ValueId v) const { return to_.values[map_[v]].type; }
  /// The type under the substitution of symbols.
  plan::Type type(const plan::Type& t) const;
  plan::Dim dim(const plan::Dim& d) const;
  plan::Attr attr(const plan::Attr& a) const;

  /// `v` of the old function becomes `now`, a value of the new one. A bare symbol that only `v`'s type
  /// introduces takes the size it has in `now`'s type.
  void become(plan::ValueId v, plan::ValueId now);
  /// Remembers that the symbols of `v`'s type are taken from here on.
  void see(plan::ValueId v);

  const plan::Function& from_;
  plan::Function& to_;
  std::vector<plan::ValueId> map_;  // values of `from` -> values of `to`
  std::unordered_map<plan::SymbolId, plan::Dim> symbols_;
  std::unordered_set<plan::SymbolId> seen_;
  bool too_deep_ = false;
};

}  // namespace skdsl::passes
