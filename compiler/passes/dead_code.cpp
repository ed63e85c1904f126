// dead_code — simplifies
//
// Pure operators whose results nobody reads go away (one that gives a size its value is read by whoever has
// that size), an `if` without effects likewise; functions stay when they are a phase, the script, a const's
// value, or called by one of those.
//
//   before   %1 = exp %0 : f32[4]        after   return %0
//            return %0
#include <algorithm>
#include <set>
#include <unordered_set>

#include "compiler/passes/pass.h"

namespace skdsl::passes {

using namespace plan;

namespace {

class Sweeper {
 public:
  explicit Sweeper(Function& f) : f_(f), needed_(f.values.size(), 0), dead_(f.ops.size(), 0) {
    mark(f.body, 0);
  }
  bool found() const {
    return std::any_of(dead_.begin(), dead_.end(), [](uint8_t d) { return d != 0; });
  }

  /// Takes the dead ops out; values, ops and regions are numbered anew in the order in which they are met.
  void sweep() {
    values_.assign(f_.values.size(), kNone);
    out_.values.reserve(f_.values.size());
    out_.ops.reserve(f_.ops.size());
    f_.body = move_region(f_.body);
    f_.values = std::move(out_.values);
    f_.ops = std::move(out_.ops);
    f_.regions = std::move(out_.regions);
  }

 private:
  void move_value(ValueId& v) {
    values_[v] = static_cast<ValueId>(out_.values.size());
    out_.values.push_back(std::move(f_.values[v]));
    v = values_[v];
  }
  RegionId move_region(RegionId from) {
    const RegionId to = out_.add_region();
    Region r = std::move(f_.regions[from]);
    for (ValueId& v : r.args) move_value(v);
    std::vector<OpId> ops;
    ops.reserve(r.ops.size());
    for (const OpId id : r.ops) {
      if (dead_[id]) continue;
      Op op = std::move(f_.ops[id]);
      for (ValueId& v : op.operands)
        if (v != kNone) v = values_[v];
      for (RegionId& inner : op.regions) inner = move_region(inner);
      for (ValueId& v : op.results) move_value(v);
      ops.push_back(static_cast<OpId>(out_.ops.size()));
      out_.ops.push_back(std::move(op));
    }
    out_.regions[to] = {std::move(r.args), std::move(ops)};
    return to;
  }

  // A loop may never end, and that is an effect too.
  bool has_effect(const Op& op, int depth) const {
    if (op.code == Opcode::If) {
      for (const RegionId r : op.regions)
        for (const OpId id : f_.regions[r].ops)
          if (depth > kMaxRegionDepth ||
              (f_.ops[id].code != Opcode::Yield && has_effect(f_.ops[id], depth + 1)))
            return true;
      return false;
    }
    return !info(op.code).has(kPure) && op.code != Opcode::State;
  }

  // From the last op to the first: who is needed makes its operands needed.
  void mark(RegionId region, int depth) {
    const auto& ops = f_.regions[region].ops;
    for (auto it = ops.rbegin(); it != ops.rend(); ++it) {
      const Op& op = f_.ops[*it];
      const bool needed = std::any_of(op.results.begin(), op.results.end(),
                                      [&](ValueId v) { return needed_[v] != 0 || gives_size(v); });
      if (!needed && !has_effect(op, depth)) {
        dead_[*it] = 1;
        continue;
      }
      for (const RegionId r : op.regions)
        if (depth < kMaxRegionDepth) mark(r, depth + 1);
      for (const ValueId v : op.operands)
        if (v != kNone) needed_[v] = 1;
      for (const Attr& a : op.attrs) {
        if (const auto* d = std::get_if<Dim>(&a)) use(*d);
        if (const auto* dims = std::get_if<std::vector<Dim>>(&a))
          for (const Dim& x : *dims) use(x);
      }
      for (const ValueId v : op.results)
        for (const Dim& d : f_.values[v].type.dims)
          if (!d.as_symbol()) use(d);
    }
  }

  void use(const Dim& d) {
    d.each_symbol([&](SymbolId s) { sizes_.insert(s); });
  }
  /// Whether a symbol that somebody behind needs gets its value with this one.
  bool gives_size(ValueId v) const {
    const auto& dims = f_.values[v].type.dims;
    return std::any_of(dims.begin(), dims.end(),
                       [&](const Dim& d) { return d.as_symbol() && sizes_.contains(*d.as_symbol()); });
  }

  Function& f_;
  Function out_;
  std::unordered_set<SymbolId> sizes_;
  std::vector<ValueId> values_;  // old -> new
  std::vector<uint8_t> needed_;
  std::vector<uint8_t> dead_;
};

bool drop_functions(Program& program) {
  std::set<std::string> keep;
  std::vector<const Function*> open;
  const auto reach = [&](const Function* f) {
    if (f != nullptr && keep.insert(f->name).second) open.push_back(f);
  };
  for (const Function& f : program.functions)
    if (f.phase != Phase::None || f.name == "main") reach(&f);
  for (const ConstDecl& c : program.consts) reach(program.find(c.function));
  while (!open.empty()) {
    const Function* f = open.back();
    open.pop_back();
    for (const Op& op : f->ops)
      if (op.code == Opcode::Call) reach(program.find(std::get<std::string>(op.attrs[0])));
  }
  if (keep.size() == program.functions.size()) return false;
  std::deque<Function> kept;
  for (Function& f : program.functions)
    if (keep.contains(f.name)) kept.push_back(std::move(f));
  program.functions = std::move(kept);
  return true;
}

}  // namespace

bool dead_code(PassContext& context) {
  bool changed = false;
  for (Function& f : context.program.functions) {
    Sweeper sweeper(f);
    if (!sweeper.found()) continue;
    sweeper.sweep();
    changed = true;
  }
  return drop_functions(context.program) || changed;
}

}  // namespace skdsl::passes
