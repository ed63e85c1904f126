#include "compiler/passes/copier.h"

namespace skdsl::passes {

using namespace plan;

Dim Copier::dim(const Dim& d) const {
  if (d.is_constant() || symbols_.empty()) return d;
  return d.substitute([&](SymbolId s) -> std::optional<Dim> {
    const auto it = symbols_.find(s);
    if (it == symbols_.end()) return {};
    return it->second;
  });
}

Type Copier::type(const Type& t) const {
  Type out = t;
  if (!symbols_.empty())
    for (Dim& d : out.dims) d = dim(d);
  return out;
}

Attr Copier::attr(const Attr& a) const {
  if (const auto* d = std::get_if<Dim>(&a)) return dim(*d);
  if (const auto* list = std::get_if<std::vector<Dim>>(&a)) {
    std::vector<Dim> out;
    out.reserve(list->size());
    for (const Dim& d : *list) out.push_back(dim(d));
    return out;
  }
  return a;
}

void Copier::see(ValueId v) {
  for (const Dim& d : from_.values[v].type.dims) d.each_symbol([&](SymbolId s) { seen_.insert(s); });
}

void Copier::become(ValueId v, ValueId now) {
  map_[v] = now;
  const Type& was = from_.values[v].type;
  const Type& is = to_.values[now].type;
  for (size_t i = 0; i < was.rank() && i < is.rank(); ++i)
    if (const auto s = was.dims[i].as_symbol();
        s && !seen_.contains(*s) && !symbols_.contains(*s) && !(is.dims[i] == was.dims[i]))
      symbols_.emplace(*s, is.dims[i]);
  see(v);
  if (to_.values[now].name.empty()) to_.values[now].name = from_.values[v].name;
}

void Copier::copy_args(const std::vector<ValueId>& args, RegionId into) {
  for (const ValueId v : args) {
    map_[v] = to_.add_value(type(from_.values[v].type), from_.values[v].name);
    to_.regions[into].args.push_back(map_[v]);
    see(v);
  }
}

OpId Copier::copy_op(const Op& op, RegionId into, int depth) {
  Op copy;
  copy.code = op.code;
  copy.operands.reserve(op.operands.size());
  copy.attrs.reserve(op.attrs.size());
  copy.results.reserve(op.results.size());
  for (const ValueId v : op.operands) copy.operands.push_back(mapped(v));
  for (const Attr& a : op.attrs) copy.attrs.push_back(attr(a));
  copy.context = context(op.context);
  copy.loc = op.loc;
  copy.path = op.path;
  for (const RegionId r : op.regions) {
    const RegionId mine = to_.add_region();
    copy.regions.push_back(mine);
    copy_args(from_.regions[r].args, mine);
    copy_ops(r, mine, depth + 1);
  }
  // The types are taken last: a nested region may have settled a symbol.
  for (const ValueId v : op.results) {
    map_[v] = to_.add_value(type(from_.values[v].type), from_.values[v].name);
    copy.results.push_back(map_[v]);
    see(v);
  }
  to_.ops.push_back(std::move(copy));
  const auto id = static_cast<OpId>(to_.ops.size() - 1);
  to_.regions[into].ops.push_back(id);
  return id;
}

const Op& Copier::copy_ops_before_end(RegionId region, RegionId into, int depth) {
  const auto& ops = from_.regions[region].ops;
  if (depth > kMaxRegionDepth) too_deep_ = true;
  for (size_t i = 0; i + 1 < ops.size() && !too_deep_; ++i)
    if (!replace(from_.ops[ops[i]], into, depth)) copy_op(from_.ops[ops[i]], into, depth);
  return from_.ops[ops.back()];
}

void Copier::copy_ops(RegionId region, RegionId into, int depth) {
  const Op& end = copy_ops_before_end(region, into, depth);
  if (!too_deep_) copy_op(end, into, depth);
}

void Copier::copy_function() {
  to_.name = from_.name;
  to_.phase = from_.phase;
  to_.param_names = from_.param_names;
  to_.fixed = from_.fixed;
  to_.loc = from_.loc;
  to_.values.reserve(from_.values.size());
  to_.ops.reserve(from_.ops.size());
  to_.body = to_.add_region();
  to_.regions[to_.body].ops.reserve(from_.regions[from_.body].ops.size());
  copy_args(from_.regions[from_.body].args, to_.body);
  copy_ops(from_.body, to_.body, 0);
  for (const Type& t : from_.results) to_.results.push_back(type(t));
}

}  // namespace skdsl::passes
