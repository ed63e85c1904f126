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

#include "compiler/passes/copier.h"
#include "compiler/passes/pass.h"

namespace skdsl::passes {

using namespace plan;

namespace {

class Sweeper : public Copier {
 public:
  Sweeper(const Function& from, Function& to)
      : Copier(from, to), needed_(from.values.size(), 0), dead_(from.ops.size(), 0) {
    mark(from.body, 0);
  }
  bool changed() const {
    return std::any_of(dead_.begin(), dead_.end(), [](uint8_t d) { return d != 0; });
  }

 private:
  bool replace(const Op& op, RegionId, int) override {
    return dead_[static_cast<size_t>(&op - from_.ops.data())] != 0;
  }

  // A loop may never end, and that is an effect too.
  bool has_effect(const Op& op, int depth) const {
    if (op.code == Opcode::If) {
      for (const RegionId r : op.regions)
        for (const OpId id : from_.regions[r].ops)
          if (depth > kMaxRegionDepth ||
              (from_.ops[id].code != Opcode::Yield && has_effect(from_.ops[id], depth + 1)))
            return true;
      return false;
    }
    return !info(op.code).has(kPure) && op.code != Opcode::State;
  }

  // From the last op to the first: who is needed makes its operands needed.
  void mark(RegionId region, int depth) {
    const auto& ops = from_.regions[region].ops;
    for (auto it = ops.rbegin(); it != ops.rend(); ++it) {
      const Op& op = from_.ops[*it];
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
        for (const Dim& d : from_.values[v].type.dims)
          if (!d.as_symbol()) use(d);
    }
  }

  void use(const Dim& d) {
    d.each_symbol([&](SymbolId s) { sizes_.insert(s); });
  }
  /// Whether a symbol that somebody behind needs gets its value with this one.
  bool gives_size(ValueId v) const {
    const auto& dims = from_.values[v].type.dims;
    return std::any_of(dims.begin(), dims.end(),
                       [&](const Dim& d) { return d.as_symbol() && sizes_.contains(*d.as_symbol()); });
  }

  std::set<SymbolId> sizes_;
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
    Function out;
    Sweeper sweeper(f, out);
    if (!sweeper.changed()) continue;
    sweeper.copy_function();
    f = std::move(out);
    changed = true;
  }
  return drop_functions(context.program) || changed;
}

}  // namespace skdsl::passes
