// verify — what a program must hold before anybody walks it
//
// Ids are checked first, for everything a function owns; only then are regions followed. So a program made of
// garbage gives messages and never a crash.
#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

#include "runtime/plan/plan.h"
#include "runtime/plan/text.h"

namespace skdsl::plan {

namespace {

// The first messages tell the story; the rest follow from them.
constexpr size_t kMaxMessages = 100;

bool takes(Types types, const Type& t) {
  const auto one_of = [&](std::initializer_list<DType> list) {
    for (const DType d : list)
      if (t.dtype == d) return t.is_tensor();
    return false;
  };
  switch (types) {
    case Types::Float:
      return one_of({DType::F32, DType::BF16, DType::F16, DType::Stored});
    case Types::Index:
      return one_of({DType::I32, DType::I64}) || t.kind == Kind::HostList;
    case Types::Int:
      return one_of({DType::I8, DType::I32, DType::I64});
    case Types::Int8:
      return one_of({DType::I8});
    case Types::Int32:
      return one_of({DType::I32});
    case Types::Bool:
      return one_of({DType::Bool});
    case Types::Any:
      return t.is_tensor();
    case Types::Event:
      return false;
    case Types::HostAny:
      return true;
  }
  return false;
}

constexpr std::string_view describe(Types types) {
  switch (types) {
    case Types::Float:
      return "a float tensor";
    case Types::Index:
      return "an i32 or i64 tensor or a host list";
    case Types::Int:
      return "an integer tensor";
    case Types::Int8:
      return "an i8 tensor";
    case Types::Int32:
      return "an i32 tensor";
    case Types::Bool:
      return "a bool tensor";
    case Types::Any:
      return "a tensor";
    case Types::Event:
      return "an event";
    case Types::HostAny:
      return "any value";
  }
  return "?";
}

bool is_choice(std::string_view choices, std::string_view text) {
  for (;;) {
    const size_t bar = choices.find('|');
    if (choices.substr(0, bar) == text) return true;
    if (bar == std::string_view::npos) return false;
    choices.remove_prefix(bar + 1);
  }
}

bool attr_fits(const Param& param, const Attr& a) {
  if (std::holds_alternative<std::monostate>(a)) return param.default_text == "none";
  switch (param.attr) {
    case AttrType::Int:
      return std::holds_alternative<Dim>(a);
    case AttrType::Float:
      return std::holds_alternative<double>(a);
    case AttrType::Bool:
      return std::holds_alternative<bool>(a);
    case AttrType::Str:
      return std::holds_alternative<std::string>(a);
    case AttrType::DType:
      return std::holds_alternative<DType>(a) && std::get<DType>(a) != DType::None;
    case AttrType::IntList:
      return std::holds_alternative<std::vector<Dim>>(a);
    case AttrType::Choice: {
      const auto* s = std::get_if<std::string>(&a);
      return s != nullptr && is_choice(param.choices, *s);
    }
  }
  return false;
}

// May a value of type `actual` stand where `declared` was promised? A bare symbol takes whatever size comes.
bool fits(const Type& declared, const Type& actual) {
  if (declared.kind != actual.kind || declared.dtype != actual.dtype || declared.rank() != actual.rank())
    return false;
  for (size_t i = 0; i < declared.rank(); ++i)
    if (!(declared.dims[i] == actual.dims[i]) && !declared.dims[i].as_symbol()) return false;
  return true;
}

// Across a call the two sides may name sizes differently; only known sizes can contradict.
bool fits_call(const Type& declared, const Type& actual) {
  if (declared.kind != actual.kind || declared.dtype != actual.dtype || declared.rank() != actual.rank())
    return false;
  for (size_t i = 0; i < declared.rank(); ++i)
    if (declared.dims[i].is_constant() && actual.dims[i].is_constant() &&
        !(declared.dims[i] == actual.dims[i]))
      return false;
  return true;
}

class Verifier {
 public:
  explicit Verifier(const Program& program) : p_(program) {}

  std::vector<std::string> run() {
    tables();
    for (const Function& f : p_.functions) {
      f_ = &f;
      where_ = fmt::format("function `{}`", f.name);
      const size_t before = messages_.size();
      ids();
      if (messages_.size() == before) body();
    }
    calls();
    return std::move(messages_);
  }

 private:
  template <class... Args>
  void say(fmt::format_string<Args...> format, Args&&... args) {
    if (messages_.size() < kMaxMessages)
      messages_.push_back((where_.empty() ? "" : where_ + ": ") +
                          fmt::format(format, std::forward<Args>(args)...));
  }

  // ---- what stands beside the functions
  void tables() {
    if (!p_.files.empty() && !p_.files[0].empty())
      say("file 0 is `{}`, it must be empty (nowhere)", p_.files[0]);
    std::unordered_set<std::string_view> seen;
    for (const std::string& s : p_.symbols)
      if (s.empty() || !seen.insert(s).second) say("symbol `{}` is empty or stands twice", s);
    for (size_t i = 0; i < p_.contexts.size(); ++i) {
      const Context& c = p_.contexts[i];
      if (c.kind > Context::Kind::Cores) say("context {} has no known kind", i);
      if (c.parent != kNone && c.parent >= i)
        say("context {} has parent {}, a parent stands before its child", i, c.parent);
      place(c.loc, "context");
    }
    for (size_t i = 0; i < p_.constants.size(); ++i) {
      const ConstantData& c = p_.constants[i];
      if (c.dtype > DType::Bool || c.dtype == DType::None || byte_size(c) != c.bytes.size())
        say("constant {} has {} bytes, its dtype and shape need another number", i, c.bytes.size());
      else if (c.shape.size() > SK_MAX_RANK)
        say("constant {} has rank {}, at most {} is possible", i, c.shape.size(),
            static_cast<int>(SK_MAX_RANK));
    }
    for (const Function& f : p_.functions)
      if (f.name.empty() || !functions_.emplace(f.name, &f).second)
        say("function `{}` is empty or stands twice", f.name);
    for (const WeightDecl& w : p_.weights) declared(weights_, w.path, w.type, "weight", w.loc);
    for (const ConstDecl& c : p_.consts) {
      declared(weights_, c.path, c.type, "const", c.loc);
      const auto it = functions_.find(c.function);
      if (it == functions_.end())
        say("const `{}` is computed by `{}`, which is not a function of the program", c.path, c.function);
      else if (c.result >= it->second->results.size() || !fits(it->second->results[c.result], c.type))
        say("const `{}` is result {} of `{}`, which has no such result of type {}", c.path, c.result,
            c.function, type(c.type));
    }
    for (const StateDecl& s : p_.states) {
      declared(states_, s.path, s.type, "state", s.loc);
      if (s.rebound) rebound_.insert(s.path);
    }
  }

  static std::optional<uint64_t> byte_size(const ConstantData& c) {
    return text::byte_size(c.dtype, c.shape);
  }

  using Declared = std::unordered_map<std::string_view, const Type*>;
  void declared(Declared& into, const std::string& path, const Type& t, std::string_view what,
                const Loc& loc) {
    if (path.empty() || !into.emplace(path, &t).second)
      say("{} `{}` has an empty path or one that stands twice", what, path);
    if (!type_ok(t) || !t.is_tensor()) {
      say("{} `{}` is not a tensor", what, path);
    } else {
      for (const Dim& d : t.dims)
        if (!d.is_constant()) say("{} `{}` has type {}, its sizes must be constants", what, path, type(t));
    }
    place(loc, what);
  }

  void place(const Loc& loc, std::string_view what) {
    if (loc.file != 0 && loc.file >= p_.files.size())
      say("{} stands in file {} of {}", what, loc.file, p_.files.size());
  }

  std::string type(const Type& t) const { return text::of(p_, t); }

  bool dim_ok(const Dim& d) const {
    if (d.is_constant()) return true;
    bool known = true;
    d.each_symbol([&](SymbolId s) { known &= s < p_.symbols.size(); });
    return known;
  }

  bool type_ok(const Type& t) const {
    for (const Dim& d : t.dims)
      if (!dim_ok(d)) return false;
    switch (t.kind) {
      case Kind::Tensor:
        for (const Dim& d : t.dims)
          if (d.is_constant() && d.constant() < 0) return false;
        return t.dtype > DType::None && t.dtype <= DType::Stored && t.rank() <= SK_MAX_RANK;
      case Kind::HostInt:
        return t.rank() == 1 && t.dtype == DType::I64;
      case Kind::HostFloat:
      case Kind::HostBool:
      case Kind::HostList:
        return t.rank() == 0 && t.dtype == DType::None;
    }
    return false;
  }

  // ---- ids in range, each thing owned once
  void ids() {
    const Function& f = *f_;
    if (f.phase > Phase::DraftDecode) say("unknown phase {}", static_cast<int>(f.phase));
    place(f.loc, "it");
    for (const Type& t : f.results)
      if (!type_ok(t)) say("a result has the malformed type {}", type(t));
    for (size_t i = 0; i < f.values.size(); ++i)
      if (!type_ok(f.values[i].type)) say("value {} has the malformed type {}", i, type(f.values[i].type));
    if (f.body >= f.regions.size()) return say("body region {} of {}", f.body, f.regions.size());
    std::vector<uint8_t> op_owned(f.ops.size(), 0);
    for (size_t r = 0; r < f.regions.size(); ++r) {
      for (const ValueId v : f.regions[r].args)
        if (v >= f.values.size()) say("region {} has argument {} of {} values", r, v, f.values.size());
      for (const OpId op : f.regions[r].ops) {
        if (op >= f.ops.size())
          say("region {} has op {} of {}", r, op, f.ops.size());
        else if (op_owned[op]++ == 1)
          say("op {} stands in regions twice", op);
      }
    }
    std::vector<uint8_t> region_owned(f.regions.size(), 0);
    region_owned[f.body] = 1;
    for (size_t i = 0; i < f.ops.size(); ++i) {
      const Op& op = f.ops[i];
      if (op.code >= Opcode::kCount) say("op {} has unknown code {}", i, static_cast<int>(op.code));
      for (const ValueId v : op.operands)
        if (v != kNone && v >= f.values.size()) say("op {} reads value {} of {}", i, v, f.values.size());
      for (const ValueId v : op.results)
        if (v >= f.values.size()) say("op {} defines value {} of {}", i, v, f.values.size());
      for (const RegionId r : op.regions) {
        if (r >= f.regions.size())
          say("op {} has region {} of {}", i, r, f.regions.size());
        else if (op_owned[i] && region_owned[r]++ == 1)
          say("region {} belongs to several ops", r);
      }
      if (op.context != kNone && op.context >= p_.contexts.size())
        say("op {} has context {} of {}", i, op.context, p_.contexts.size());
      place(op.loc, "an op");
      for (const Attr& a : op.attrs) {
        if (const auto* d = std::get_if<Dim>(&a); d != nullptr && !dim_ok(*d))
          say("op {} has an unknown symbol in an attribute", i);
        if (const auto* list = std::get_if<std::vector<Dim>>(&a))
          for (const Dim& d : *list)
            if (!dim_ok(d)) say("op {} has an unknown symbol in an attribute", i);
      }
    }
  }

  // ---- the body, in order
  void body() {
    const Function& f = *f_;
    const auto& args = f.regions[f.body].args;
    if (args.size() != f.param_names.size())
      say("{} parameter names for {} arguments", f.param_names.size(), args.size());
    defined_.assign(f.values.size(), 0);
    visible_.assign(f.values.size(), 0);
    definer_.assign(f.values.size(), kNone);
    region(f.body, Opcode::Return, 0);
  }

  // Gives the terminator, or null when there is none.
  const Op* region(RegionId id, Opcode end, int depth) {
    if (depth > kMaxRegionDepth) {
      say("regions are nested deeper than {}", kMaxRegionDepth);
      return nullptr;
    }
    const Region& r = f_->regions[id];
    std::vector<ValueId> mine;
    for (const ValueId v : r.args) define(v, kNone, mine);
    const Op* last = nullptr;
    for (size_t i = 0; i < r.ops.size(); ++i) {
      const Op& op = f_->ops[r.ops[i]];
      const bool ends = op.code == Opcode::Return || op.code == Opcode::Yield;
      if (ends && i + 1 < r.ops.size()) say("{} stands before the end of its region", what(op));
      if (ends && op.code != end) say("{} ends a region that `{}` must end", what(op), info(end).name);
      operands(op);
      nested(op, depth);
      for (const ValueId v : op.results) define(v, r.ops[i], mine);
      if (ends && i + 1 == r.ops.size() && op.code == end) last = &op;
    }
    if (last == nullptr) say("a region does not end in `{}`", info(end).name);
    if (last != nullptr && end == Opcode::Return) returns(*last);
    for (const ValueId v : mine) visible_[v] = 0;
    return last;
  }

  void define(ValueId v, OpId by, std::vector<ValueId>& mine) {
    if (defined_[v]++) say("value {} is defined twice", v);
    definer_[v] = by;
    visible_[v] = 1;
    mine.push_back(v);
  }

  std::string what(const Op& op) const {
    return op.loc.line ? fmt::format("`{}` at {}:{}", info(op.code).name, op.loc.line, op.loc.column)
                       : fmt::format("`{}`", info(op.code).name);
  }

  const Type& type_of(ValueId v) const { return f_->values[v].type; }

  void operands(const Op& op) {
    const OpInfo& row = info(op.code);
    const size_t n = row.n_operands();
    const bool variadic = n > 0 && operand_param(row, n - 1).variadic;
    if (variadic ? op.operands.size() < n - 1 : op.operands.size() != n)
      return say("{} has {} operands, it takes {}{}", what(op), op.operands.size(), variadic ? n - 1 : n,
                 variadic ? " or more" : "");
    for (size_t i = 0; i < op.operands.size(); ++i) {
      const Param& param = operand_param(row, i);
      const ValueId v = op.operands[i];
      if (v == kNone) {
        if (!param.optional) say("{} lacks its operand `{}`", what(op), param.name);
      } else if (!visible_[v]) {
        say("{} reads value {}, which is not defined before it or not visible there", what(op), v);
      } else if (!takes(param.types, type_of(v))) {
        say("operand `{}` of {} is {}, {} is needed", param.name, what(op), type(type_of(v)),
            describe(param.types));
      }
    }
    if (op.attrs.size() != row.n_attrs())
      return say("{} has {} attributes, it takes {}", what(op), op.attrs.size(), row.n_attrs());
    for (size_t i = 0; i < op.attrs.size(); ++i)
      if (!attr_fits(attr_param(row, i), op.attrs[i]))
        say("attribute `{}` of {} is missing or of the wrong kind", attr_param(row, i).name, what(op));
    const bool any_results = row.results.size() == 1 && row.results[0].ends_with("…");
    if (!any_results && op.results.size() != row.results.size())
      return say("{} has {} results, it gives {}", what(op), op.results.size(), row.results.size());
    const size_t n_regions = op.code == Opcode::If || op.code == Opcode::While ? 2 : 0;
    if (op.regions.size() != n_regions)
      return say("{} has {} regions, it takes {}", what(op), op.regions.size(), n_regions);
    if (well_formed(op)) declarations(op);
  }

  // Operands visible, attributes and results as the table says: the rules below may look at all of them.
  bool well_formed(const Op& op) const {
    const OpInfo& row = info(op.code);
    for (size_t i = 0; i < op.operands.size(); ++i)
      if (op.operands[i] != kNone && !visible_[op.operands[i]]) return false;
    for (size_t i = 0; i < op.attrs.size(); ++i)
      if (!attr_fits(attr_param(row, i), op.attrs[i])) return false;
    return true;
  }

  // Ops that name something of the program.
  void declarations(const Op& op) {
    switch (op.code) {
      case Opcode::Constant: {
        const Dim& index = std::get<Dim>(op.attrs[0]);
        const auto at = static_cast<uint64_t>(index.constant());
        if (!index.is_constant() || at >= p_.constants.size())
          return say("{} names no constant of the program", what(op));
        const ConstantData& c = p_.constants[at];
        const Type& t = type_of(op.results[0]);
        if (!t.is_tensor() || t.dtype != c.dtype ||
            t.dims != std::vector<Dim>(c.shape.begin(), c.shape.end()))
          say("{} gives {}, constant {} is {}", what(op), type(t), at, text::of(c).substr(2));
        return;
      }
      case Opcode::Weight:
        return named(op, weights_, "weight or const", type_of(op.results[0]));
      case Opcode::State:
        return named(op, states_, "state", type_of(op.results[0]));
      case Opcode::StateAssign:
        if (!states_.contains(std::get<std::string>(op.attrs[0])))
          say("{} names `{}`, which is not a state", what(op), std::get<std::string>(op.attrs[0]));
        return;
      case Opcode::ScatterUpdate: {
        const OpId by = definer_[op.operands[0]];
        if (by != kNone && f_->ops[by].code != Opcode::State)
          say("{} writes a value that is not a state", what(op));
        return;
      }
      case Opcode::Call: {
        const auto it = functions_.find(std::get<std::string>(op.attrs[0]));
        if (it == functions_.end())
          return say("{} names `{}`, which is not a function", what(op), std::get<std::string>(op.attrs[0]));
        const Function& callee = *it->second;
        if (callee.body >= callee.regions.size()) return;
        const auto& params = callee.regions[callee.body].args;
        bool same = params.size() == op.operands.size() && callee.results.size() == op.results.size();
        for (size_t i = 0; same && i < params.size(); ++i)
          same = params[i] < callee.values.size() &&
                 fits_call(callee.values[params[i]].type, type_of(op.operands[i]));
        for (size_t i = 0; same && i < op.results.size(); ++i)
          same = fits_call(callee.results[i], type_of(op.results[i]));
        if (!same) say("{} does not match the parameters or results of `{}`", what(op), callee.name);
        return;
      }
      default:
        return;
    }
  }

  void named(const Op& op, const Declared& table, std::string_view kind, const Type& t) {
    const auto& path = std::get<std::string>(op.attrs[0]);
    const auto it = table.find(path);
    if (it == table.end())
      say("{} names `{}`, which is not a {}", what(op), path, kind);
    else if (!(*it->second == t) &&
             !(op.code == Opcode::State && rebound_.contains(path) && same_but_sizes(*it->second, t)))
      say("{} gives {}, `{}` is declared {}", what(op), type(t), path, type(*it->second));
  }

  // A state that is assigned as a whole may have other sizes when it is read again.
  static bool same_but_sizes(const Type& a, const Type& b) {
    return a.kind == b.kind && a.dtype == b.dtype && a.rank() == b.rank();
  }

  bool is_condition(ValueId v) const {
    const Type& t = type_of(v);
    return t.kind == Kind::HostBool || (t.is_tensor() && t.dtype == DType::Bool && t.rank() == 0);
  }

  void nested(const Op& op, int depth) {
    if (op.code == Opcode::If && op.operands.size() == 1 && op.operands[0] != kNone &&
        !is_condition(op.operands[0]))
      say("{} has a condition of type {}, bool or bool[] is needed", what(op), type(type_of(op.operands[0])));
    for (size_t k = 0; k < op.regions.size(); ++k) {
      const auto& args = f_->regions[op.regions[k]].args;
      const Op* end = region(op.regions[k], Opcode::Yield, depth + 1);
      if (op.code == Opcode::If && !args.empty()) say("region {} of {} has arguments", k, what(op));
      if (op.code == Opcode::While) {
        if (op.operands.size() != args.size() || op.operands.size() != op.results.size()) {
          say("{} carries {} values, region {} takes {}, {} come out", what(op), op.operands.size(), k,
              args.size(), op.results.size());
        } else {
          for (size_t i = 0; i < args.size(); ++i)
            if (op.operands[i] != kNone && !fits(type_of(args[i]), type_of(op.operands[i])))
              say("argument {} of region {} of {} is {}, the value that comes in is {}", i, k, what(op),
                  type(type_of(args[i])), type(type_of(op.operands[i])));
            else if (op.operands[i] != kNone && !fits(type_of(op.results[i]), type_of(op.operands[i])))
              say("result {} of {} is {}, without a round it would be {}", i, what(op),
                  type(type_of(op.results[i])), type(type_of(op.operands[i])));
        }
      }
      if (end == nullptr) continue;
      if (op.code == Opcode::While && k == 0) {
        if (end->operands.size() != 1 || end->operands[0] == kNone || !is_condition(end->operands[0]))
          say("the condition region of {} must yield one bool", what(op));
        continue;
      }
      std::vector<ValueId> targets = op.results;
      yields(op, *end, targets, "result");
      if (op.code == Opcode::While && args.size() == end->operands.size())
        yields(op, *end, args, "carried value");
    }
  }

  void yields(const Op& op, const Op& end, const std::vector<ValueId>& targets, std::string_view which) {
    if (end.operands.size() != targets.size())
      return say("{} gives {} values, a region yields {}", what(op), targets.size(), end.operands.size());
    for (size_t i = 0; i < targets.size(); ++i)
      if (end.operands[i] != kNone && !fits(type_of(targets[i]), type_of(end.operands[i])))
        say("{} {} of {} is {}, a region yields {}", which, i, what(op), type(type_of(targets[i])),
            type(type_of(end.operands[i])));
  }

  void returns(const Op& op) {
    if (op.operands.size() != f_->results.size())
      return say("{} values are returned, {} are declared", op.operands.size(), f_->results.size());
    for (size_t i = 0; i < op.operands.size(); ++i)
      if (op.operands[i] != kNone && !fits(f_->results[i], type_of(op.operands[i])))
        say("result {} is {}, declared {}", i, type(type_of(op.operands[i])), type(f_->results[i]));
  }

  // ---- no function calls itself, over however many others
  void calls() {
    where_.clear();
    enum : uint8_t { kNew, kOpen, kDone };
    std::unordered_map<const Function*, uint8_t> state;
    std::unordered_map<const Function*, std::vector<const Function*>> callees;
    for (const Function& f : p_.functions)
      for (const Op& op : f.ops)
        if (op.code == Opcode::Call && !op.attrs.empty() && std::holds_alternative<std::string>(op.attrs[0]))
          if (const auto it = functions_.find(std::get<std::string>(op.attrs[0])); it != functions_.end())
            callees[&f].push_back(it->second);
    for (const Function& root : p_.functions) {
      if (state[&root] != kNew) continue;
      std::vector<std::pair<const Function*, size_t>> stack{{&root, 0}};
      state[&root] = kOpen;
      while (!stack.empty()) {
        auto& [f, next] = stack.back();
        const auto& list = callees[f];
        if (next == list.size()) {
          state[f] = kDone;
          stack.pop_back();
          continue;
        }
        const Function* callee = list[next++];
        if (state[callee] == kOpen) return say("function `{}` calls itself", callee->name);
        if (state[callee] == kNew) {
          state[callee] = kOpen;
          stack.emplace_back(callee, 0);
        }
      }
    }
  }

  const Program& p_;
  const Function* f_ = nullptr;
  std::string where_;
  std::vector<std::string> messages_;
  std::unordered_map<std::string_view, const Function*> functions_;
  Declared weights_, states_;
  std::unordered_set<std::string_view> rebound_;  // states
  std::vector<uint8_t> defined_, visible_;
  std::vector<OpId> definer_;
};

}  // namespace

std::vector<std::string> verify(const Program& program) { return Verifier(program).run(); }

}  // namespace skdsl::plan
