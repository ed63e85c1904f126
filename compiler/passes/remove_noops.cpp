// remove_noops — canonicalises
//
// Operators that give their operand back bit for bit go away: a reshape to the same shape, a cast to the same
// dtype, a slice of everything, a concat of one, `x * 1`, `x / 1`. Two reshapes in a row become one. `x + 0`
// stays: it turns -0 into 0.
//
//   before   %2 = cast %1 {dtype = <f32>} : f32[4]       after   %3 = exp %1 : f32[4]
//            %3 = exp %2 : f32[4]
//
// A state is written in place, so a copy of it is not the same thing as the state: what copies stays there,
// and only a reshape, which shows the same bytes anyway, may go.
#include <algorithm>
#include <cstring>

#include "compiler/passes/copier.h"
#include "compiler/passes/pass.h"

namespace skdsl::passes {

using namespace plan;

namespace {

bool all_ones(const ConstantData& d) {
  const auto every = [&]<class T>(T one) {
    for (size_t i = 0; i < d.bytes.size(); i += sizeof(T))
      if (std::memcmp(d.bytes.data() + i, &one, sizeof(T)) != 0) return false;
    return !d.bytes.empty();
  };
  switch (d.dtype) {
    case DType::F32:
      return every(1.0f);
    case DType::BF16:
      return every(from_f32<bf16>(1.0f).bits);
    case DType::F16:
      return every(from_f32<f16>(1.0f).bits);
    case DType::I8:
      return every(int8_t{1});
    case DType::I32:
      return every(int32_t{1});
    case DType::I64:
      return every(int64_t{1});
    case DType::Bool:
    case DType::None:
    case DType::Stored:
      break;
  }
  return false;
}

class Remover : public Copier {
 public:
  Remover(const Function& from, Function& to, const Program& program) : Copier(from, to), program_(program) {
    for (const Op& op : from.ops) writes_ |= info(op.code).has(kInPlace);
  }
  bool changed = false;

  /// Whether copying would change anything.
  bool may_change() const {
    return std::any_of(from_.ops.begin(), from_.ops.end(), [&](const Op& op) {
      if (op.results.size() != 1 || op.operands.empty()) return false;
      if (same_as(op) != kNone) return true;
      const Op* by = op.code == Opcode::Reshape ? definer(op.operands[0]) : nullptr;
      return by != nullptr && by->code == Opcode::Reshape;
    });
  }

 private:
  bool replace(const Op& op, RegionId into, int depth) override {
    if (op.results.size() != 1 || op.operands.empty()) return false;
    const ValueId same = same_as(op);
    if (same != kNone) {
      become(op.results[0], mapped(same));
      changed = true;
      return true;
    }
    // A reshape reads what the reshape before it read.
    if (op.code == Opcode::Reshape) {
      if (const auto it = reshaped_.find(mapped(op.operands[0])); it != reshaped_.end()) {
        const OpId id = copy_op(op, into, depth);
        to_.ops[id].operands[0] = it->second;
        changed = true;
        reshaped_[mapped(op.results[0])] = it->second;
        return true;
      }
      copy_op(op, into, depth);
      reshaped_[mapped(op.results[0])] = mapped(op.operands[0]);
      return true;
    }
    if (op.code == Opcode::Constant) {
      copy_op(op, into, depth);
      return true;
    }
    return false;
  }

  const Type& old_type(ValueId v) const { return from_.values[v].type; }
  bool same_type(ValueId a, ValueId b) const { return type(old_type(a)) == type(old_type(b)); }

  // The operand that the op gives back; kNone when there is none.
  ValueId same_as(const Op& op) const {
    const ValueId x = op.operands[0], y = op.results[0];
    switch (op.code) {
      case Opcode::Reshape:
        return same_type(x, y) ? x : kNone;
      case Opcode::Slice:
        if (!std::holds_alternative<Dim>(op.attrs[1]) || !(std::get<Dim>(op.attrs[1]) == Dim(0)))
          return kNone;
        return same_type(x, y) && !written(x) ? x : kNone;
      case Opcode::Cast:
      case Opcode::BroadcastTo:
        return same_type(x, y) && !written(x) ? x : kNone;
      case Opcode::Concat:
      case Opcode::Split:
        return op.operands.size() == 1 && op.results.size() == 1 && same_type(x, y) && !written(x) ? x
                                                                                                   : kNone;
      case Opcode::Transpose:
        return same_axes(op) && !written(x) ? x : kNone;
      case Opcode::Mul:
      case Opcode::Div:
        if (same_type(x, y) && is_one(op.operands[1]) && !written(x)) return x;
        if (op.code == Opcode::Mul && same_type(op.operands[1], y) && is_one(x) && !written(op.operands[1]))
          return op.operands[1];
        return kNone;
      default:
        return kNone;
    }
  }

  bool same_axes(const Op& op) const {
    const auto rank = static_cast<int64_t>(old_type(op.operands[0]).rank());
    const auto axis = [&](size_t i) {
      const auto* d = std::get_if<Dim>(&op.attrs[i]);
      if (d == nullptr || !d->is_constant()) return int64_t{-1};
      return d->constant() < 0 ? d->constant() + rank : d->constant();
    };
    return axis(0) >= 0 && axis(0) == axis(1);
  }

  bool is_one(ValueId v) const {
    const Op* by = definer(v);
    if (by == nullptr || by->code != Opcode::Constant) return false;
    return all_ones(program_.constants[static_cast<size_t>(std::get<Dim>(by->attrs[0]).constant())]);
  }

  // Might somebody write over `v` later? Operators give fresh values; states do not, and what comes from
  // outside might be one.
  bool written(ValueId v) const {
    const Op* by = definer(v);
    if (by == nullptr) return writes_;
    if (by->code == Opcode::Reshape) return written_through(*by);
    return by->code == Opcode::State ||
           (writes_ && info(by->code).has(kStructural) && !info(by->code).has(kPure));
  }
  bool written_through(const Op& reshape) const {
    const Op* by = &reshape;
    while (by != nullptr && by->code == Opcode::Reshape) {
      const ValueId v = by->operands[0];
      by = definer(v);
    }
    if (by == nullptr) return writes_;
    return by->code == Opcode::State ||
           (writes_ && info(by->code).has(kStructural) && !info(by->code).has(kPure));
  }

  const Op* definer(ValueId v) const {
    if (definers_.empty()) {
      definers_.assign(from_.values.size(), nullptr);
      for (const Op& op : from_.ops)
        for (const ValueId r : op.results) definers_[r] = &op;
    }
    return definers_[v];
  }

  const Program& program_;
  bool writes_ = false;
  std::unordered_map<ValueId, ValueId> reshaped_;  // of the new function: a reshape's result -> its operand
  mutable std::vector<const Op*> definers_;        // of the old function
};

}  // namespace

bool remove_noops(PassContext& context) {
  bool changed = false;
  for (Function& f : context.program.functions) {
    Function out;
    Remover remover(f, out, context.program);
    if (!remover.may_change()) continue;
    remover.copy_function();
    if (!remover.changed) continue;
    f = std::move(out);
    changed = true;
  }
  return changed;
}

}  // namespace skdsl::passes
