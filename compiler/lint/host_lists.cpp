#include "compiler/lint/host_lists.h"

#include <algorithm>
#include <map>

namespace skdsl::lint {

using namespace plan;

namespace {

/// Where a host value comes from.
struct Origin {
  std::string list;
  int64_t element = -1;
  bool computed = false;
  friend auto operator<=>(const Origin&, const Origin&) = default;
};
using Origins = std::vector<Origin>;

class Finder {
 public:
  explicit Finder(const Context& c) : c_(c), f_(*c.function), of_value_(f_.values.size()) {}

  std::vector<ListUse> run() {
    const auto& args = f_.regions[f_.body].args;
    for (size_t i = 0; i < args.size(); ++i)
      if (f_.values[args[i]].type.kind == Kind::HostList)
        of_value_[args[i]] = {{f_.param_names[i], -1, false}};
    for (const OpId id : c_.order->ops()) look(id);
    return std::move(out_);
  }

 private:
  void look(OpId id) {
    const Op& op = f_.ops[id];
    Origins seen;
    const auto add = [&](Origins& to, const Origins& from) {
      for (const Origin& o : from)
        if (std::find(to.begin(), to.end(), o) == to.end()) to.push_back(o);
    };
    for (size_t i = 0; i < op.operands.size(); ++i) {
      const ValueId v = op.operands[i];
      if (v == kNone || of_value_[v].empty()) continue;
      // The whole list as the length operand of an attention is what a replay patches.
      const bool length = op.code == Opcode::FusedInferAttentionScore &&
                          std::all_of(of_value_[v].begin(), of_value_[v].end(),
                                      [](const Origin& o) { return o.element < 0 && !o.computed; });
      if (length)
        use(id, of_value_[v], true);
      else
        add(seen, of_value_[v]);
    }
    for (const Attr& a : op.attrs) {
      if (const Dim* d = std::get_if<Dim>(&a)) add(seen, of_dim(*d));
      if (const auto* list = std::get_if<std::vector<Dim>>(&a))
        for (const Dim& d : *list) add(seen, of_dim(d));
    }
    if (seen.empty()) return;
    const OpInfo& row = info(op.code);
    if (op.code == Opcode::HostElement) {
      const auto& index = std::get<Dim>(op.attrs[0]);
      const bool length = std::get<bool>(op.attrs[1]);
      for (Origin& o : seen) o.element = index.is_constant() && !length ? index.constant() : -1;
      // The number of elements is the number of requests, which a graph is made for anyway.
      if (length) return;
      give(op, seen);
    } else if (row.has(kHostFn)) {
      // Operators take a list as a tensor of its elements.
      const bool whole = op.code == Opcode::ToTensor && f_.values[op.operands[0]].type.kind == Kind::HostList;
      if (whole) {
        of_value_[op.results[0]] = seen;  // its size is the number of elements, not one of them
        return;
      }
      for (Origin& o : seen) o.computed = true;
      give(op, seen);
    } else {
      use(id, seen, false);
    }
  }

  Origins of_dim(const Dim& d) const {
    Origins out;
    if (d.is_constant()) return out;
    const bool plain = d.as_symbol().has_value();
    for (const SymbolId s : d.symbols())
      if (const auto it = of_symbol_.find(s); it != of_symbol_.end())
        for (Origin o : it->second) {
          o.computed |= !plain;
          if (std::find(out.begin(), out.end(), o) == out.end()) out.push_back(o);
        }
    return out;
  }

  void give(const Op& op, const Origins& origins) {
    for (const ValueId v : op.results) {
      of_value_[v] = origins;
      for (const Dim& d : f_.values[v].type.dims)
        if (const auto s = d.as_symbol()) of_symbol_.emplace(*s, origins);
    }
  }

  void use(OpId id, const Origins& origins, bool updatable) {
    for (const Origin& o : origins)
      out_.push_back({o.list, o.element, id, updatable && !o.computed, o.computed});
  }

  const Context& c_;
  const Function& f_;
  std::vector<Origins> of_value_;
  std::map<SymbolId, Origins> of_symbol_;
  std::vector<ListUse> out_;
};

}  // namespace

std::vector<ListUse> list_uses(const Context& context) { return Finder(context).run(); }

}  // namespace skdsl::lint
