// fold_constants — simplifies
//
// Replaces a pure operator whose operands are all known by its value, and an `if` whose condition is known by
// the branch that is taken. A host integer is known when its size expression is a constant.
//
//   before   %2 = constant {data = 0} : f32[]      // 2.0        after   %3 = constant {data = 1} : f32[]
//   // 4.0
//            %3 = mul %2, %2 : f32[]
//
// A run-time size that turns out to be known (`u7 = floordiv(8, 2)`) is known in all types that mention it.
// Results above kMaxFoldedBytes stay: they cost more to store than to compute.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "compiler/passes/copier.h"
#include "compiler/passes/evaluate.h"
#include "compiler/passes/pass.h"

namespace skdsl::passes {

using namespace plan;

namespace {

constexpr int64_t kMaxFoldedBytes = 1024;

using Host = std::variant<std::monostate, int64_t, double, bool>;

std::optional<double> real(const Host& h) {
  if (const auto* x = std::get_if<double>(&h)) return *x;
  if (const auto* n = std::get_if<int64_t>(&h)) return static_cast<double>(*n);
  if (const auto* b = std::get_if<bool>(&h)) return *b ? 1.0 : 0.0;
  return {};
}
std::optional<int64_t> integer(const Host& h) {
  if (const auto* n = std::get_if<int64_t>(&h)) return *n;
  if (const auto* b = std::get_if<bool>(&h)) return *b ? 1 : 0;
  return {};
}
bool known(const Host& h) { return h.index() != 0; }

template <class T>
std::optional<bool> compare(std::string_view fn, T a, T b) {
  if (fn == "eq") return a == b;
  if (fn == "ne") return a != b;
  if (fn == "lt") return a < b;
  if (fn == "le") return a <= b;
  if (fn == "gt") return a > b;
  if (fn == "ge") return a >= b;
  return {};
}

// Overflow and division by zero are left to the run, which says where they happened.
Host integers(std::string_view fn, int64_t a, int64_t b) {
  int64_t z = 0;
  if (fn == "add") return __builtin_add_overflow(a, b, &z) ? Host{} : Host(z);
  if (fn == "sub") return __builtin_sub_overflow(a, b, &z) ? Host{} : Host(z);
  if (fn == "mul") return __builtin_mul_overflow(a, b, &z) ? Host{} : Host(z);
  if (fn == "min") return a < b ? a : b;
  if (fn == "max") return a > b ? a : b;
  if (b == 0 || b == -1) return {};
  if (fn == "floordiv") return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
  if (fn == "mod") return a % b + ((a % b != 0 && (a < 0) != (b < 0)) ? b : 0);
  if (fn == "div" && a % b == 0) return a / b;
  return {};
}

// + - * / of doubles are defined by IEEE; pow and the rest are the runtime's.
Host reals(std::string_view fn, double a, double b) {
  if (fn == "add") return a + b;
  if (fn == "sub") return a - b;
  if (fn == "mul") return a * b;
  if (fn == "div" && b != 0) return a / b;
  return {};
}

Host host_function(std::string_view fn, const std::vector<Host>& xs, Kind result) {
  if (xs.size() == 1) {
    const auto x = real(xs[0]);
    if (!x) return {};
    if (fn == "not" && result == Kind::HostBool) return *x == 0;
    if (fn == "to_float" && result == Kind::HostFloat) return *x;
    const auto n = integer(xs[0]);
    if (fn == "to_int" && result == Kind::HostInt) {
      if (n) return *n;
      return std::fabs(*x) < 9e15 ? Host(static_cast<int64_t>(*x)) : Host{};
    }
    if (fn == "neg" && result == Kind::HostInt && n && *n != std::numeric_limits<int64_t>::min()) return -*n;
    if (fn == "neg" && result == Kind::HostFloat && std::holds_alternative<double>(xs[0])) return -*x;
    return {};
  }
  if (fn == "select" && xs.size() == 3 && known(xs[0])) {
    const Host& pick = *real(xs[0]) != 0 ? xs[1] : xs[2];
    if (result == Kind::HostInt && std::holds_alternative<int64_t>(pick)) return pick;
    if (result == Kind::HostFloat && std::holds_alternative<double>(pick)) return pick;
    if (result == Kind::HostBool && std::holds_alternative<bool>(pick)) return pick;
    return {};
  }
  if (result == Kind::HostBool && (fn == "and" || fn == "or")) {
    bool every = true, any = false, all_known = true;
    for (const Host& h : xs) {
      all_known &= known(h);
      every &= !known(h) || *real(h) != 0;
      any |= known(h) && *real(h) != 0;
    }
    if (fn == "and" && !every) return false;
    if (fn == "or" && any) return true;
    return all_known ? Host(fn == "and") : Host{};
  }
  if (xs.size() != 2) return {};
  const auto a = integer(xs[0]), b = integer(xs[1]);
  const auto x = real(xs[0]), y = real(xs[1]);
  if (!x || !y) return {};
  if (result == Kind::HostBool) {
    const auto c = a && b ? compare(fn, *a, *b) : compare(fn, *x, *y);
    return c ? Host(*c) : Host{};
  }
  if (result == Kind::HostInt && a && b) return integers(fn, *a, *b);
  if (result == Kind::HostFloat && !(a && b && fn != "div")) return reals(fn, *x, *y);
  return {};
}

class Folder : public Copier {
 public:
  Folder(const Function& from, Function& to, PassContext& context) : Copier(from, to), context_(context) {}
  bool changed = false;

 private:
  bool replace(const Op& op, RegionId into, int depth) override {
    switch (op.code) {
      case Opcode::If:
        return branch(op, into, depth);
      case Opcode::Constant:
        copy_op(op, into, depth);
        constants_[mapped(op.results[0])] = static_cast<size_t>(std::get<Dim>(op.attrs[0]).constant());
        return true;
      case Opcode::HostFloat:
        if (const auto* x = std::get_if<double>(&op.attrs[0])) return copy_known(op, into, depth, *x);
        return false;
      case Opcode::HostFn:
        return host_fn(op, into, depth);
      case Opcode::ToTensor:
        return to_tensor(op, into);
      case Opcode::Item:
        return item(op, into, depth);
      case Opcode::Check:
        return check(op);
      default:
        break;
    }
    return info(op.code).has(kPure) && !info(op.code).has(kStructural | kHostRead | kHostFn) &&
           tensors(op, into);
  }

  // ---- what is known of values of the new function
  Host host(ValueId v) const {
    const Type& t = to_.values[v].type;
    if (t.kind == Kind::HostInt && t.dims[0].is_constant()) return t.dims[0].constant();
    const auto it = known_.find(v);
    return it == known_.end() ? Host{} : it->second;
  }

  const ConstantData* data(ValueId v) const {
    const auto it = constants_.find(v);
    return it == constants_.end() ? nullptr : &context_.program.constants[it->second];
  }

  Host condition(ValueId v) const {
    if (const ConstantData* d = data(v); d != nullptr && d->dtype == DType::Bool && d->bytes.size() == 1)
      return d->bytes[0] != 0;
    return host(v);
  }

  // ---- putting something in an op's place
  bool branch(const Op& op, RegionId into, int depth) {
    const Host c = condition(mapped(op.operands[0]));
    if (!known(c)) return false;
    const Op& end = copy_ops_before_end(op.regions[*real(c) != 0 ? 0 : 1], into, depth + 1);
    for (size_t i = 0; i < op.results.size(); ++i) become(op.results[i], mapped(end.operands[i]));
    changed = true;
    return true;
  }

  bool copy_known(const Op& op, RegionId into, int depth, Host value) {
    copy_op(op, into, depth);
    known_[mapped(op.results[0])] = std::move(value);
    return true;
  }

  bool host_fn(const Op& op, RegionId into, int depth) {
    std::vector<Host> xs;
    for (const ValueId v : op.operands) xs.push_back(host(mapped(v)));
    const Type t = type(from_.values[op.results[0]].type);
    // The sizes' algebra may have settled it already.
    if (t.kind == Kind::HostInt && t.dims[0].is_constant()) return host_int(op, into, t.dims[0].constant());
    const auto& fn = std::get<std::string>(op.attrs[0]);
    const Host value = decided_by_difference(op, fn).value_or(host_function(fn, xs, t.kind));
    if (const auto n = integer(value); n && t.kind == Kind::HostInt) return host_int(op, into, *n);
    return known(value) && copy_known(op, into, depth, value);
  }

  // T < T + 1 holds whatever T is.
  std::optional<Host> decided_by_difference(const Op& op, std::string_view fn) const {
    if (op.operands.size() != 2) return {};
    const Type& a = new_type(op.operands[0]);
    const Type& b = new_type(op.operands[1]);
    if (a.kind != Kind::HostInt || b.kind != Kind::HostInt) return {};
    const Dim difference = a.dims[0] - b.dims[0];
    if (!difference.is_constant()) return {};
    const auto c = compare(fn, difference.constant(), int64_t{0});
    return c ? std::optional<Host>(*c) : std::nullopt;
  }

  /// Whether some tensor has this host integer in its shape.
  bool is_size(ValueId v) const {
    const Type& t = from_.values[v].type;
    const auto symbol = t.kind == Kind::HostInt ? t.dims[0].as_symbol() : std::nullopt;
    if (!symbol) return false;
    for (const Value& other : from_.values)
      if (other.type.is_tensor())
        for (const Dim& d : other.type.dims)
          if (mentions(d, *symbol)) return true;
    return false;
  }

  static bool mentions(const Dim& d, SymbolId symbol) {
    bool found = false;
    d.each_symbol([&](SymbolId s) { found |= s == symbol; });
    return found;
  }

  bool host_int(const Op& op, RegionId into, int64_t value) {
    // A negative one may stand where a size is expected: the run says so, with its place.
    if (value < 0 && is_size(op.results[0])) return false;
    Op made;
    made.code = Opcode::HostInt;
    made.attrs = {Dim(value)};
    put(op, std::move(made), into, Type::host_int(value));
    return true;
  }

  void put(const Op& op, Op made, RegionId into, Type t) {
    made.context = context(op.context);
    made.loc = op.loc;
    made.path = op.path;
    const OpId id = to_.add_op(into, std::move(made), {std::move(t)});
    become(op.results[0], to_.ops[id].results[0]);
    changed = true;
  }

  // The check holds, so nothing is left to do at run time. One that fails stays and speaks when it is
  // reached.
  bool check(const Op& op) {
    const Dim actual = dim(std::get<Dim>(op.attrs[0])), expected = dim(std::get<Dim>(op.attrs[1]));
    changed |= actual == expected;
    return actual == expected;
  }

  bool to_tensor(const Op& op, RegionId into) {
    const Host h = host(mapped(op.operands[0]));
    if (!known(h)) return false;
    ConstantData d;
    d.dtype = from_.values[op.results[0]].type.dtype;
    const auto put_bytes = [&](auto x) {
      d.bytes.resize(sizeof x);
      std::memcpy(d.bytes.data(), &x, sizeof x);
    };
    const auto n = integer(h);
    if (d.dtype == DType::F32)
      put_bytes(static_cast<float>(*real(h)));
    else if (d.dtype == DType::I32 && n && *n == static_cast<int32_t>(*n))
      put_bytes(static_cast<int32_t>(*n));
    else if (d.dtype == DType::I64 && n)
      put_bytes(*n);
    else if (d.dtype == DType::Bool && std::holds_alternative<bool>(h))
      put_bytes(static_cast<uint8_t>(std::get<bool>(h)));
    else
      return false;
    constant(op, 0, std::move(d), into);
    return true;
  }

  // The item of a literal needs no device.
  bool item(const Op& op, RegionId into, int depth) {
    const ConstantData* d = data(mapped(op.operands[0]));
    if (d == nullptr) return false;
    const Kind kind = from_.values[op.results[0]].type.kind;
    const auto at = [&]<class T>(T) {
      T x{};
      std::memcpy(&x, d->bytes.data(), sizeof x);
      return x;
    };
    if (d->bytes.size() != static_cast<size_t>(dtype_bytes(abi_dtype(d->dtype)))) return false;
    if (kind == Kind::HostInt && d->dtype == DType::I32) return host_int(op, into, at(int32_t{}));
    if (kind == Kind::HostInt && d->dtype == DType::I64) return host_int(op, into, at(int64_t{}));
    if (kind == Kind::HostBool && d->dtype == DType::Bool)
      return copy_known(op, into, depth, at(uint8_t{}) != 0);
    if (kind == Kind::HostFloat && d->dtype == DType::F32) {
      Op made;
      made.code = Opcode::HostFloat;
      made.attrs = {static_cast<double>(at(float{}))};
      const double x = std::get<double>(made.attrs[0]);
      put(op, std::move(made), into, Type::host(Kind::HostFloat));
      known_[mapped(op.results[0])] = x;
      return true;
    }
    return false;
  }

  bool tensors(const Op& op, RegionId into) {
    std::vector<const ConstantData*> in;
    for (const ValueId v : op.operands) {
      const ConstantData* d = v == kNone ? nullptr : data(mapped(v));
      if (d == nullptr) return false;
      in.push_back(d);
    }
    std::vector<Type> types;
    for (const ValueId v : op.results) {
      types.push_back(type(from_.values[v].type));
      int64_t bytes = std::max<int64_t>(1, dtype_bytes(abi_dtype(types.back().dtype)));
      if (!types.back().is_tensor()) return false;
      for (const Dim& d : types.back().dims)
        if (!d.is_constant() || d.constant() < 0 ||
            __builtin_mul_overflow(bytes, std::max<int64_t>(1, d.constant()), &bytes) ||
            bytes > kMaxFoldedBytes)
          return false;
    }
    Op settled = op;
    for (Attr& a : settled.attrs) a = attr(a);
    auto out = evaluate(settled, in, types);
    if (!out) return false;
    for (size_t i = 0; i < out->size(); ++i) constant(op, i, std::move((*out)[i]), into);
    return true;
  }

  void constant(const Op& op, size_t result, ConstantData d, RegionId into) {
    Op made;
    made.code = Opcode::Constant;
    made.context = context(op.context);
    made.loc = op.loc;
    made.path = op.path;
    std::vector<Dim> dims(d.shape.begin(), d.shape.end());
    const DType dtype = d.dtype;
    made.attrs = {Dim(pool(std::move(d)))};
    const OpId id = to_.add_op(into, std::move(made), {Type::tensor(dtype, std::move(dims))});
    const ValueId v = to_.ops[id].results[0];
    constants_[v] = static_cast<size_t>(std::get<Dim>(to_.ops[id].attrs[0]).constant());
    become(op.results[result], v);
    changed = true;
  }

  // Equal small literals share an entry.
  int64_t pool(ConstantData d) {
    auto& all = context_.program.constants;
    if (!pool_read_) {
      for (size_t i = 0; i < all.size(); ++i)
        if (all[i].bytes.size() <= kMaxFoldedBytes) pool_.emplace(key(all[i]), i);
      pool_read_ = true;
    }
    const auto [it, missing] = pool_.emplace(key(d), all.size());
    if (missing) all.push_back(std::move(d));
    return static_cast<int64_t>(it->second);
  }

  using Key = std::tuple<DType, std::vector<int64_t>, std::vector<uint8_t>>;
  static Key key(const ConstantData& d) { return {d.dtype, d.shape, d.bytes}; }

  PassContext& context_;
  std::unordered_map<ValueId, Host> known_;
  std::unordered_map<ValueId, size_t> constants_;
  std::map<Key, size_t> pool_;
  bool pool_read_ = false;
};

// Something may be known here; most functions are left as they are without being copied.
bool may_fold(const Function& f) {
  std::vector<uint8_t> literal(f.values.size(), 0);
  for (const Op& op : f.ops) {
    switch (op.code) {
      case Opcode::If:
      case Opcode::HostFn:
      case Opcode::ToTensor:
      case Opcode::Item:
        return true;
      case Opcode::Check:
        if (std::get<Dim>(op.attrs[0]) == std::get<Dim>(op.attrs[1])) return true;
        break;
      case Opcode::Constant:
        literal[op.results[0]] = 1;
        break;
      default:
        break;
    }
  }
  return std::any_of(f.ops.begin(), f.ops.end(), [&](const Op& op) {
    return op.code != Opcode::Constant && info(op.code).has(kPure) &&
           !info(op.code).has(kStructural | kHostRead | kHostFn) &&
           std::all_of(op.operands.begin(), op.operands.end(),
                       [&](ValueId v) { return v != kNone && literal[v]; });
  });
}

}  // namespace

bool fold_constants(PassContext& context) {
  bool changed = false;
  for (Function& f : context.program.functions) {
    if (!may_fold(f)) continue;
    Function out;
    Folder folder(f, out, context);
    folder.copy_function();
    if (!folder.changed) continue;
    f = std::move(out);
    changed = true;
  }
  return changed;
}

}  // namespace skdsl::passes
