#include "runtime/exec/function_table.h"

#include <algorithm>

namespace skdsl::exec {

namespace {

using plan::kNone;
using plan::RegionId;
using plan::ValueId;

// A value dies in the region that defines it, after the last op there that reads it directly or in a nested
// region.
class Lifetimes {
 public:
  Lifetimes(const plan::Function& function, FunctionTable& table)
      : function_(function),
        table_(table),
        home_(function.values.size(), kNone),
        last_(function.values.size(), kNone) {}

  void scan(RegionId id) { uses_of(id); }

 private:
  // Gives the values that the region reads from outside.
  std::vector<ValueId> uses_of(RegionId id) {
    const plan::Region& region = function_.regions[id];
    for (const ValueId v : region.args) home_[v] = id;
    std::vector<ValueId> outside;
    for (uint32_t i = 0; i < region.ops.size(); ++i) {
      const plan::Op& op = function_.ops[region.ops[i]];
      std::vector<ValueId> reads = op.operands;
      for (const RegionId nested : op.regions) {
        const auto more = uses_of(nested);
        reads.insert(reads.end(), more.begin(), more.end());
      }
      for (const ValueId v : reads) {
        if (v == kNone) continue;
        if (home_[v] == id)
          last_[v] = i;
        else
          outside.push_back(v);
      }
      for (const ValueId v : op.results) {
        home_[v] = id;
        last_[v] = i;
      }
    }
    for (const ValueId v : region.args) {
      if (last_[v] == kNone)
        table_.unused_args[id].push_back(v);
      else
        table_.ops[region.ops[last_[v]]].release.push_back(v);
    }
    for (const plan::OpId o : region.ops)
      for (const ValueId v : function_.ops[o].results) table_.ops[region.ops[last_[v]]].release.push_back(v);
    std::sort(outside.begin(), outside.end());
    outside.erase(std::unique(outside.begin(), outside.end()), outside.end());
    return outside;
  }

  const plan::Function& function_;
  FunctionTable& table_;
  std::vector<RegionId> home_;
  std::vector<uint32_t> last_;  // position in the home region
};

// Converts one attribute; false when a symbol in it is unknown.
bool add_attr(const Param& param, const plan::Attr& attr, const SymbolLookup& lookup, AbiAttrs& out) {
  if (const auto* dim = std::get_if<plan::Dim>(&attr)) {
    const auto v = dim->evaluate(lookup);
    if (!v) return false;
    if (param.attr == AttrType::Float)
      out.add_float(static_cast<double>(*v));
    else
      out.add_int(*v);
    return true;
  }
  if (const auto* list = std::get_if<std::vector<plan::Dim>>(&attr)) {
    std::vector<int64_t> values;
    for (const plan::Dim& d : *list) {
      const auto v = d.evaluate(lookup);
      if (!v) return false;
      values.push_back(*v);
    }
    out.add_list(std::move(values));
    return true;
  }
  if (const auto* x = std::get_if<double>(&attr)) {
    out.add_float(*x);
  } else if (const auto* b = std::get_if<bool>(&attr)) {
    out.add_int(*b);
  } else if (const auto* t = std::get_if<plan::DType>(&attr)) {
    out.add_int(plan::abi_dtype(*t));
  } else if (const auto* s = std::get_if<std::string>(&attr)) {
    // Strings never reach a kernel; their place is kept so that positions stay those of the table.
    out.add_int(param.attr == AttrType::Choice ? choice_index(param, *s) : 0);
  } else {
    out.add_int(0);  // absent: the result's type says what the rule decided
  }
  return true;
}

}  // namespace

std::optional<AbiAttrs> evaluate_attrs(const plan::Op& op, const SymbolLookup& lookup) {
  AbiAttrs out;
  const OpInfo& row = info(op.code);
  out.attrs.reserve(op.attrs.size());
  out.lists.reserve(op.attrs.size());
  for (size_t i = 0; i < op.attrs.size(); ++i)
    if (!add_attr(attr_param(row, i), op.attrs[i], lookup, out)) return {};
  return out;
}

FunctionTable make_table(const plan::Program& program, const plan::Function& function) {
  FunctionTable table;
  table.ops.resize(function.ops.size());
  table.unused_args.resize(function.regions.size());
  Lifetimes(function, table).scan(function.body);
  for (size_t i = 0; i < function.ops.size(); ++i) {
    const plan::Op& op = function.ops[i];
    OpTable& row = table.ops[i];
    row.kernel = kernels::find_kernel(op.code);
    if (auto attrs = evaluate_attrs(op, [](plan::SymbolId) { return std::nullopt; })) {
      row.attrs = std::move(*attrs);
      row.static_attrs = true;
    }
    if (op.code == Opcode::Call) row.callee = program.find(std::get<std::string>(op.attrs[0]));
  }
  return table;
}

}  // namespace skdsl::exec
