// inline_layers — lowers
//
// A call of a layer function becomes the function's body: the layer's symbols become the sizes of the
// arguments, and its scopes, streams and core limits hang under those of the call.
//
//   before   %1 = call %0 {callee = "layers.0"} : f32[T, 64] ctx(2)     after   %1 = rms_norm %0, %w : f32[T,
//   64] ctx(5)
//                                                                                // context 5 = the body's,
//                                                                                parent 2
//
// Phases, consts and scripts are what runs, so they are what calls are expanded in. In a script the calls of
// phases stay: each is a step of its own, in the mode that was asked for.
//
// A prefetch waits for the value in its `after` operand, or for the result of the instance named by
// `after_path`; it moves behind the definition of that value, because the value and not the statement's place
// decides when it starts.
#include <fmt/format.h>

#include <map>
#include <set>

#include "compiler/passes/copier.h"
#include "compiler/passes/pass.h"

namespace skdsl::passes {

using namespace plan;

namespace {

// A program that calls a function at two places, which calls another at two places …, doubles with every
// level.
constexpr size_t kMaxOps = 1'000'000;

// The results of inlined calls by instance path; kNone when a path computed several.
using Triggers = std::map<std::string, ValueId>;

// Functions by name.
using Index = std::unordered_map<std::string, const Function*>;

struct Shared {
  PassContext& context;
  const Index& functions;
  bool inline_phases;
  Triggers triggers;
  std::set<const Function*> inlined;
  std::map<std::pair<ContextId, ContextId>, ContextId> contexts;  // (a body's context, the call's) -> ours
};

const Function* callee(const Index& functions, const Op& op) {
  if (op.code != Opcode::Call) return nullptr;
  const auto it = functions.find(std::get<std::string>(op.attrs[0]));
  return it == functions.end() ? nullptr : it->second;
}

class Inliner : public Copier {
 public:
  Inliner(const Function& from, Function& to, Shared& shared, const Inliner* caller, ContextId under)
      : Copier(from, to), shared_(shared), caller_(caller), under_(under) {}

  bool failed() const { return too_deep_; }

 private:
  bool replace(const Op& op, RegionId into, int depth) override {
    if (repeated_) rename_new_symbols(op);
    const Function* f = callee(shared_.functions, op);
    if (f == nullptr || (f->phase != Phase::None && !shared_.inline_phases)) return false;
    if (to_.ops.size() > kMaxOps || depth >= kMaxRegionDepth) {
      too_deep_ = true;
      return true;
    }
    Inliner body(*f, to_, shared_, this, context(op.context));
    body.repeated_ = repeated_ || !shared_.inlined.insert(f).second;
    body.symbols_ = symbols_;
    const auto& params = f->regions[f->body].args;
    for (size_t i = 0; i < params.size(); ++i) {
      body.map_[params[i]] = mapped(op.operands[i]);
      const Type& declared = f->values[params[i]].type;
      const Type& actual = new_type(op.operands[i]);
      for (size_t k = 0; k < declared.rank(); ++k)
        if (const auto s = declared.dims[k].as_symbol(); s && !body.seen_.contains(*s))
          body.symbols_[*s] = actual.dims[k];
      body.see(params[i]);
    }
    const Op& end = body.copy_ops_before_end(f->body, into, depth + 1);
    too_deep_ |= body.too_deep_;
    if (too_deep_) return true;
    for (size_t i = 0; i < op.results.size(); ++i) become(op.results[i], body.mapped(end.operands[i]));
    if (op.results.size() == 1 && !op.path.empty()) {
      const auto [it, first] = shared_.triggers.emplace(op.path, mapped(op.results[0]));
      if (!first) it->second = kNone;
    }
    return true;
  }

  ContextId context(ContextId id) override {
    if (id == kNone || under_ == kNone) return id == kNone ? under_ : id;
    auto& all = shared_.context.program.contexts;
    std::vector<ContextId> chain;
    for (ContextId c = id; c != kNone; c = all[c].parent) chain.push_back(c);
    ContextId parent = under_;
    for (auto it = chain.rbegin(); it != chain.rend(); ++it) {
      const auto [at, missing] =
          shared_.contexts.emplace(std::pair{*it, parent}, static_cast<ContextId>(all.size()));
      if (missing) {
        Context copy = all[*it];
        copy.parent = parent;
        all.push_back(std::move(copy));
      }
      parent = at->second;
    }
    return parent;
  }

  bool knows(SymbolId s) const { return seen_.contains(s) || (caller_ != nullptr && caller_->knows(s)); }

  // The second expansion of a body binds its own run-time sizes, so they need names of their own.
  void rename_new_symbols(const Op& op) {
    const uint32_t traits = info(op.code).traits;
    if ((traits & (kDynamicShape | kHostRead | kHostFn)) == 0 && op.regions.empty() &&
        op.code != Opcode::Call)
      return;
    const auto rename = [&](ValueId v) {
      for (const Dim& d : from_.values[v].type.dims)
        if (const auto s = d.as_symbol(); s && !symbols_.contains(*s) && !knows(*s))
          symbols_.emplace(*s, Dim::symbol(shared_.context.program.fresh_symbol("u")));
    };
    for (const ValueId v : op.results) rename(v);
    for (const RegionId r : op.regions)
      for (const ValueId v : from_.regions[r].args) rename(v);
  }

  Shared& shared_;
  const Inliner* caller_;
  ContextId under_;
  bool repeated_ = false;
};

// Sets operand 0 of the prefetches and moves each behind its value; true when that changed something.
bool place_prefetches(Function& f, const Triggers& triggers, PassContext& context) {
  std::map<ValueId, std::vector<OpId>> waiting;
  std::vector<std::vector<OpId>> before;
  for (const Region& r : f.regions) before.push_back(r.ops);
  bool changed = false;
  for (Region& r : f.regions)
    std::erase_if(r.ops, [&](OpId id) {
      Op& op = f.ops[id];
      if (op.code != Opcode::Prefetch) return false;
      const auto& path =
          std::get<std::string>(op.attrs[static_cast<size_t>(attr_index(info(op.code), "after_path"))]);
      if (op.operands[0] == kNone && !path.empty()) {
        const auto it = triggers.find(path);
        if (it == triggers.end() || it->second == kNone) {
          auto report =
              context.diags.report(context.diags.sources().span(op.loc), diag::Id::PrefetchAfter, path);
          if (it != triggers.end()) report.note(fmt::format("`{}` is called several times here", path));
          report.help("name an instance that this phase calls once, or a value that is computed before");
          return false;
        }
        op.operands[0] = it->second;
        changed = true;
      }
      if (op.operands[0] == kNone) return false;
      waiting[op.operands[0]].push_back(id);
      return true;
    });
  for (size_t i = 0; i < f.regions.size(); ++i) {
    Region& r = f.regions[i];
    std::vector<OpId> ops;
    const auto release = [&](ValueId v) {
      if (const auto it = waiting.find(v); it != waiting.end())
        ops.insert(ops.end(), it->second.begin(), it->second.end());
    };
    for (const ValueId v : r.args) release(v);
    for (const OpId id : r.ops) {
      ops.push_back(id);
      for (const ValueId v : f.ops[id].results) release(v);
    }
    r.ops = std::move(ops);
    changed |= r.ops != before[i];
  }
  return changed;
}

bool needs_work(const Index& functions, const Function& f, bool inline_phases) {
  for (const Op& op : f.ops) {
    if (op.code == Opcode::Prefetch) return true;
    const Function* g = callee(functions, op);
    if (g != nullptr && (g->phase == Phase::None || inline_phases)) return true;
  }
  return false;
}

}  // namespace

bool inline_layers(PassContext& context) {
  std::set<std::string> consts;
  for (const ConstDecl& c : context.program.consts) consts.insert(c.function);
  Index functions;
  for (const Function& f : context.program.functions) functions.emplace(f.name, &f);
  bool changed = false;
  for (Function& f : context.program.functions) {
    const bool runs = f.phase != Phase::None || f.name == "main" || consts.contains(f.name);
    Shared shared{context, functions, f.phase != Phase::None, {}, {}, {}};
    if (!runs || !needs_work(functions, f, shared.inline_phases)) continue;
    Function out;
    Inliner inliner(f, out, shared, nullptr, kNone);
    inliner.copy_function();
    if (inliner.failed()) {
      context.diags.report(
          context.diags.sources().span(f.loc), diag::Id::TooMuchWork,
          fmt::format("`{}` has more than {} operators or {} nested calls once its layers are expanded",
                      f.name, kMaxOps, kMaxRegionDepth));
      return changed;
    }
    if (!place_prefetches(out, shared.triggers, context) && shared.inlined.empty()) continue;
    f = std::move(out);
    changed = true;
  }
  return changed;
}

}  // namespace skdsl::passes
