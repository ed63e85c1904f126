// equal — programs that differ at most in the numbering of values, ops and regions
//
// Both bodies are walked side by side; values correspond when they are defined at the same place.
#include <algorithm>
#include <bit>

#include "runtime/plan/plan.h"

namespace skdsl::plan {

namespace {

bool same(const Function& a, const Function& b);
bool same(const Buffer& a, const Buffer& b);
bool same(const TaskAttr& a, const TaskAttr& b);
bool same(const Task& a, const Task& b);
bool same(const Schedule& a, const Schedule& b);

bool same(const WeightDecl& a, const WeightDecl& b) {
  return a.path == b.path && a.type == b.type && a.sources == b.sources && a.stacked == b.stacked &&
         a.loc == b.loc;
}
bool same(const ConstDecl& a, const ConstDecl& b) {
  return a.path == b.path && a.type == b.type && a.function == b.function && a.result == b.result &&
         a.loc == b.loc;
}
bool same(const StateDecl& a, const StateDecl& b) {
  return a.path == b.path && a.type == b.type && a.uninitialized == b.uninitialized &&
         a.rebound == b.rebound && a.loc == b.loc;
}

template <class List>
bool same_all(const List& a, const List& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!same(a[i], b[i])) return false;
  return true;
}

// NaN equals itself here: texts are compared, not numbers.
bool same(const Attr& a, const Attr& b) {
  const auto* x = std::get_if<double>(&a);
  const auto* y = std::get_if<double>(&b);
  if (x != nullptr && y != nullptr) return std::bit_cast<uint64_t>(*x) == std::bit_cast<uint64_t>(*y);
  return a == b;
}

class Pair {
 public:
  Pair(const Function& a, const Function& b) : a_(a), b_(b), map_(a.values.size(), kNone) {}

  bool run() {
    return a_.name == b_.name && a_.phase == b_.phase && a_.param_names == b_.param_names &&
           a_.results == b_.results && a_.loc == b_.loc && regions(a_.body, b_.body, 0);
  }

 private:
  bool regions(RegionId x, RegionId y, int depth) {
    if (depth > kMaxRegionDepth || x >= a_.regions.size() || y >= b_.regions.size()) return false;
    const Region& r = a_.regions[x];
    const Region& s = b_.regions[y];
    if (r.ops.size() != s.ops.size() || !define(r.args, s.args)) return false;
    for (size_t i = 0; i < r.ops.size(); ++i)
      if (r.ops[i] >= a_.ops.size() || s.ops[i] >= b_.ops.size() ||
          !ops(a_.ops[r.ops[i]], b_.ops[s.ops[i]], depth))
        return false;
    return true;
  }

  bool ops(const Op& x, const Op& y, int depth) {
    if (x.code != y.code || x.operands.size() != y.operands.size() || x.attrs.size() != y.attrs.size() ||
        x.regions.size() != y.regions.size() || x.context != y.context || !(x.loc == y.loc) ||
        x.path != y.path)
      return false;
    for (size_t i = 0; i < x.operands.size(); ++i) {
      const ValueId v = x.operands[i];
      if ((v == kNone ? kNone : v < map_.size() ? map_[v] : kNone) != y.operands[i]) return false;
      if (v != kNone && y.operands[i] == kNone) return false;
    }
    for (size_t i = 0; i < x.attrs.size(); ++i)
      if (!same(x.attrs[i], y.attrs[i])) return false;
    for (size_t i = 0; i < x.regions.size(); ++i)
      if (!regions(x.regions[i], y.regions[i], depth + 1)) return false;
    return define(x.results, y.results);
  }

  bool define(const std::vector<ValueId>& x, const std::vector<ValueId>& y) {
    if (x.size() != y.size()) return false;
    for (size_t i = 0; i < x.size(); ++i) {
      if (x[i] >= a_.values.size() || y[i] >= b_.values.size()) return false;
      const Value& v = a_.values[x[i]];
      const Value& w = b_.values[y[i]];
      if (!(v.type == w.type) || v.name != w.name) return false;
      map_[x[i]] = y[i];
    }
    return true;
  }

  const Function& a_;
  const Function& b_;
  std::vector<ValueId> map_;
};

bool same(const Function& a, const Function& b) { return Pair(a, b).run(); }

// No files at all and only "nowhere" mean the same.
bool same_files(const Program& a, const Program& b) {
  const auto at = [](const Program& p, size_t i) { return i < p.files.size() ? p.files[i] : std::string(); };
  const size_t n = std::max<size_t>(1, std::max(a.files.size(), b.files.size()));
  if (std::max<size_t>(1, a.files.size()) != std::max<size_t>(1, b.files.size())) return false;
  for (size_t i = 0; i < n; ++i)
    if (at(a, i) != at(b, i)) return false;
  return true;
}

bool same(const Buffer& a, const Buffer& b) {
  return a.storage == b.storage && a.dtype == b.dtype && a.shape == b.shape && a.offset == b.offset &&
         a.index == b.index && a.path == b.path && a.name == b.name;
}

bool same(const TaskAttr& a, const TaskAttr& b) {
  return a.type == b.type && a.i == b.i && std::bit_cast<uint64_t>(a.f) == std::bit_cast<uint64_t>(b.f) &&
         a.list == b.list && a.text == b.text;
}

bool same(const Task& a, const Task& b) {
  return a.code == b.code && a.in == b.in && a.out == b.out && same_all(a.attrs, b.attrs) &&
         a.context == b.context && a.core == b.core && a.block_dim == b.block_dim && a.stream == b.stream &&
         a.view == b.view && a.loc == b.loc && a.path == b.path;
}

bool same(const Schedule& a, const Schedule& b) { return equal(a, b); }

}  // namespace

bool equal(const Program& a, const Program& b) {
  return same_files(a, b) && a.symbols == b.symbols && a.contexts == b.contexts &&
         a.constants == b.constants && same_all(a.weights, b.weights) && same_all(a.consts, b.consts) &&
         same_all(a.states, b.states) && a.unused_sources == b.unused_sources &&
         same_all(a.functions, b.functions);
}

bool equal(const Schedule& a, const Schedule& b) {
  return a.function == b.function && a.bindings == b.bindings && a.streams == b.streams &&
         a.events == b.events && same_all(a.buffers, b.buffers) && a.constants == b.constants &&
         a.inputs == b.inputs && a.outputs == b.outputs && same_all(a.tasks, b.tasks) && a.steps == b.steps &&
         a.superkernels == b.superkernels && a.cuts == b.cuts && a.arena_bytes == b.arena_bytes;
}

bool equal(const Plan& a, const Plan& b) {
  return equal(a.program, b.program) && same_all(a.schedules, b.schedules);
}

}  // namespace skdsl::plan
