#include "compiler/passes/in_place.h"

namespace skdsl::passes {

using namespace plan;

namespace {
bool same_bytes(const Type& a, const Type& b) {
  if (!a.is_tensor() || !b.is_tensor() || a.dtype == DType::Stored || b.dtype == DType::Stored) return false;
  if (dtype_bytes(abi_dtype(a.dtype)) != dtype_bytes(abi_dtype(b.dtype))) return false;
  Dim x(1), y(1);
  for (const Dim& d : a.dims) x = x * d;
  for (const Dim& d : b.dims) y = y * d;
  return x == y;
}
}  // namespace

InPlace find_in_place(const Function& f) {
  InPlace out;
  out.root.resize(f.values.size());
  for (ValueId v = 0; v < f.values.size(); ++v) out.root[v] = v;
  out.reuses_operand.assign(f.ops.size(), 0);
  std::vector<uint8_t> ours(f.values.size(), 0);  // roots in memory that only this function knows
  std::vector<OpId> last_use(f.values.size(), kNone);
  const auto& ops = f.regions[f.body].ops;
  for (const OpId id : ops) {
    const Op& op = f.ops[id];
    for (const ValueId v : op.operands)
      if (v != kNone) last_use[out.root[v]] = id;
    for (const ValueId v : op.results) {
      if (info(op.code).has(kView))
        out.root[v] = out.root[op.operands[0]];
      else
        ours[v] = !info(op.code).has(kStructural | kInPlace);
    }
  }
  for (const OpId id : ops) {
    const Op& op = f.ops[id];
    if (!info(op.code).has(kElementwise) || op.results.size() != 1) continue;
    const ValueId root = out.root[op.operands[0]];
    out.reuses_operand[id] = ours[root] && last_use[root] == id &&
                             same_bytes(f.values[op.operands[0]].type, f.values[op.results[0]].type) &&
                             same_bytes(f.values[root].type, f.values[op.results[0]].type);
  }
  return out;
}

}  // namespace skdsl::passes
