#include "tests/support/random_program.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <functional>

namespace skdsl::testing {

using namespace plan;

namespace {

class Generator {
 public:
  Generator(uint64_t seed, const RandomProgramOptions& options) : random_(seed), options_(options) {}

  Program run() {
    p_.files = {"", "random \"case\".sk"};
    t_ = p_.symbol("T");
    n_ = p_.symbol("N");
    contexts();
    p_.weights.push_back({"w8", Type::tensor(DType::F32, {8, 8}), {{"w8.weight"}}, false, loc()});
    p_.weights.push_back({"w4", Type::tensor(DType::Stored, {4, 8}), {{"a", "b\\\n"}, {"c", "d"}}, true, {}});
    p_.weights.push_back({"gamma", Type::tensor(DType::BF16, {8}), {}, false, {}});
    p_.states.push_back({"kv", Type::tensor(DType::F32, {4, 4, 8}), true, false, loc()});
    p_.states.push_back({"count", Type::tensor(DType::I32, {4, 4}), false, false, {}});
    p_.unused_sources.push_back("model.mtp.*");
    table();
    phase();
    return std::move(p_);
  }

 private:
  Loc loc() {
    if (random_.chance(30)) return {};
    return {1, static_cast<uint32_t>(1 + random_.below(90)), static_cast<uint32_t>(1 + random_.below(60)),
            static_cast<uint32_t>(random_.below(30))};
  }

  void contexts() {
    const auto parent = [&] {
      return p_.contexts.empty() || random_.chance(40)
                 ? kNone
                 : static_cast<ContextId>(random_.below(p_.contexts.size()));
    };
    for (size_t i = 0; i < options_.streams; ++i)
      p_.contexts.push_back({Context::Kind::Stream, kNone, fmt::format("s{}", i), {}, loc()});
    for (size_t i = 0; i < 4; ++i) {
      const ContextId up = parent();
      switch (random_.below(3)) {
        case 0:
          p_.contexts.push_back(
              {Context::Kind::SuperKernel, up, fmt::format("scope_{}", i), {{"stream-fusion", "1"}}, loc()});
          break;
        case 1:
          p_.contexts.push_back({Context::Kind::NoSuperKernel, up, "", {}, {}});
          break;
        case 2:
          p_.contexts.push_back({Context::Kind::Cores, up, "", {{"aic", "8"}, {"aiv", "16"}}, loc()});
          break;
      }
    }
  }

  ContextId context() {
    return random_.chance(60) || p_.contexts.empty()
               ? kNone
               : static_cast<ContextId>(random_.below(p_.contexts.size()));
  }

  // ---- functions
  void table() {
    f_ = &p_.functions.emplace_back();
    f_->name = "table";
    f_->body = f_->add_region();
    enter(f_->body);
    const ValueId v =
        emit(Opcode::Full, {}, {std::vector<Dim>{8, 8}, 0.5, DType::F32}, {tensor(DType::F32, {8, 8})})[0];
    f_->results = {type(v)};
    emit(Opcode::Return, {v}, {}, {});
    leave();
    p_.consts.push_back({"table", tensor(DType::F32, {8, 8}), "table", 0, loc()});
  }

  void phase() {
    Function f;
    f_ = &f;
    f.name = "M.decode";
    f.phase = Phase::Decode;
    f.loc = loc();
    f.body = f.add_region();
    parameter("x", tensor(DType::F32, {t(), 8}));
    parameter("ids", tensor(DType::I32, {t()}));
    parameter("slots", tensor(DType::I32, {t()}));
    parameter("the n", Type::host_int(Dim::symbol(n_)));
    enter(f.body);
    for (const ValueId v : f.regions[f.body].args) scope_.back().push_back(v);
    for (size_t i = 0; i < options_.ops; ++i) step();
    finish(Opcode::Return, 1 + random_.below(3));
    leave();
    p_.functions.push_back(std::move(f));
  }

  void parameter(std::string name, Type type) {
    const ValueId v = f_->add_value(std::move(type), random_.chance(50) ? name : "");
    f_->regions[f_->body].args.push_back(v);
    f_->param_names.push_back(std::move(name));
  }

  // Ends the body with some tensors, which become the results.
  void finish(Opcode end, size_t n) {
    std::vector<ValueId> out;
    for (size_t i = 0; i < n; ++i)
      if (const auto v = pick([](const Type& ty) { return ty.is_tensor() && ty.dtype != DType::Stored; }))
        out.push_back(*v);
    for (const ValueId v : out) f_->results.push_back(type(v));
    emit(end, out, {}, {});
  }

  // x [rows, 8] -> [rows, 8]; called once, by whoever asked for it
  void layer() {
    const auto x = pick([&](const Type& ty) { return ty == tensor(DType::F32, {t(), 8}); });
    if (!x || layers_ >= 4) return;
    const std::string name = fmt::format("layers.{}", layers_++);
    Function* caller = f_;
    auto scopes = std::move(scope_);
    auto regions = std::move(region_);
    scope_.clear();
    region_.clear();
    Function f;
    f_ = &f;
    f.name = name;
    f.body = f.add_region();
    // A layer may call its rows by a name of its own.
    const Dim rows = random_.chance(50) ? t() : Dim::symbol(p_.fresh_symbol("r"));
    const auto outer = std::exchange(rows_, std::optional(rows));
    parameter("x", tensor(DType::F32, {rows, 8}));
    enter(f.body);
    scope_.back().push_back(f.regions[f.body].args[0]);
    in_layer_ = true;
    for (size_t i = 0; i < 6; ++i) step();
    in_layer_ = false;
    const auto y = pick([&](const Type& ty) { return ty == tensor(DType::F32, {rows, 8}); });
    f.results = {type(*y)};
    emit(Opcode::Return, {*y}, {}, {});
    leave();
    rows_ = outer;
    f_ = caller;
    scope_ = std::move(scopes);
    region_ = std::move(regions);
    p_.functions.push_back(std::move(f));
    if (random_.chance(30)) emit(Opcode::Prefetch, {kNone}, {std::string("w8"), name, Dim(1 << 20)}, {});
    emit(Opcode::Call, {*x}, {name}, {tensor(DType::F32, {t(), 8})}, name);
    if (random_.chance(30)) emit(Opcode::Prefetch, {kNone}, {std::string("w4"), name, Attr{}}, {});
  }

  // ---- values
  Dim t() const { return rows_ ? *rows_ : Dim::symbol(t_); }
  static Type tensor(DType d, std::vector<Dim> dims) { return Type::tensor(d, std::move(dims)); }
  const Type& type(ValueId v) const { return f_->values[v].type; }

  void enter(RegionId r) {
    scope_.emplace_back();
    region_.push_back(r);
  }
  void leave() {
    scope_.pop_back();
    region_.pop_back();
  }

  std::optional<ValueId> pick(const std::function<bool(const Type&)>& fits) {
    std::vector<ValueId> all;
    for (const auto& s : scope_)
      for (const ValueId v : s)
        if (fits(type(v))) all.push_back(v);
    if (all.empty()) return {};
    // Recent values are likelier, so that chains grow.
    const size_t from = random_.chance(70) && all.size() > 4 ? all.size() - 4 : 0;
    return all[from + random_.below(all.size() - from)];
  }

  std::vector<ValueId> emit(Opcode code, std::vector<ValueId> operands, std::vector<Attr> attrs,
                            const std::vector<Type>& results, std::string path = {}) {
    Op op;
    op.code = code;
    op.operands = std::move(operands);
    op.attrs = std::move(attrs);
    for (size_t i = 0; i < op.attrs.size(); ++i)
      if (std::holds_alternative<std::monostate>(op.attrs[i]))
        op.attrs[i] = default_attr(attr_param(info(code), i));
    const bool end = code == Opcode::Return || code == Opcode::Yield;
    if (!end) {
      op.context = context();
      op.loc = loc();
      op.path = !path.empty() ? path : random_.chance(30) ? fmt::format("layers.{}", random_.below(3)) : "";
    }
    const OpId id = f_->add_op(region_.back(), std::move(op), results);
    for (const ValueId v : f_->ops[id].results) {
      if (random_.chance(20))
        f_->values[v].name = random_.chance(80) ? fmt::format("h{}", random_.below(9)) : "odd name";
      scope_.back().push_back(v);
    }
    return f_->ops[id].results;
  }

  ValueId literal(DType dtype, std::vector<int64_t> shape, float value) {
    ConstantData d{dtype, shape, {}};
    int64_t n = 1;
    for (const int64_t s : shape) n *= s;
    for (int64_t i = 0; i < n; ++i) {
      const auto put = [&](auto x) {
        const auto at = d.bytes.size();
        d.bytes.resize(at + sizeof x);
        std::memcpy(d.bytes.data() + at, &x, sizeof x);
      };
      if (dtype == DType::F32)
        put(value);
      else if (dtype == DType::BF16)
        put(from_f32<bf16>(value));
      else if (dtype == DType::I32)
        put(static_cast<int32_t>(value));
      else
        put(static_cast<uint8_t>(value != 0));
    }
    p_.constants.push_back(std::move(d));
    return emit(Opcode::Constant, {}, {Dim(static_cast<int64_t>(p_.constants.size() - 1))},
                {tensor(dtype, std::vector<Dim>(shape.begin(), shape.end()))})[0];
  }

  static bool is_float_tensor(const Type& ty) {
    return ty.is_tensor() && (ty.dtype == DType::F32 || ty.dtype == DType::BF16);
  }
  static bool is_plain(const Type& ty) { return ty.is_tensor() && ty.dtype != DType::Stored; }
  static bool is_bool(const Type& ty) { return ty.is_tensor() && ty.dtype == DType::Bool; }

  // ---- one more op of a random kind; nothing happens when no operand fits
  void step() {
    using Make = void (Generator::*)();
    static constexpr Make kAnywhere[] = {
        &Generator::binary,    &Generator::binary,  &Generator::binary_literal, &Generator::unary,
        &Generator::unary,     &Generator::compare, &Generator::where,          &Generator::cast,
        &Generator::reshape,   &Generator::reshape, &Generator::transpose,      &Generator::slice,
        &Generator::split,     &Generator::concat,  &Generator::reduce,         &Generator::linear,
        &Generator::norm,      &Generator::select,  &Generator::read_state,     &Generator::write_state,
        &Generator::note,      &Generator::host,    &Generator::host_compare,   &Generator::host_branch,
        &Generator::to_tensor, &Generator::full,    &Generator::literals,       &Generator::logical};
    static constexpr Make kPhase[] = {&Generator::layer, &Generator::layer, &Generator::events};
    static constexpr Make kEager[] = {&Generator::item, &Generator::nonzero, &Generator::print,
                                      &Generator::tensor_branch, &Generator::loop};
    if (!in_layer_ && random_.chance(10)) return (this->*kPhase[random_.below(std::size(kPhase))])();
    if (options_.eager_only && random_.chance(12)) return (this->*kEager[random_.below(std::size(kEager))])();
    (this->*kAnywhere[random_.below(std::size(kAnywhere))])();
  }

  void binary() {
    const auto x = pick([](const Type& ty) { return is_plain(ty) && ty.dtype != DType::Bool; });
    if (!x) return;
    const auto y = pick([&](const Type& ty) { return ty == type(*x); });
    constexpr Opcode kOps[] = {Opcode::Add, Opcode::Sub,     Opcode::Mul,
                               Opcode::Div, Opcode::Maximum, Opcode::Minimum};
    emit(kOps[random_.below(6)], {*x, *y}, {}, {type(*x)});
  }
  void binary_literal() {
    const auto x = pick([](const Type& ty) { return is_plain(ty) && ty.dtype != DType::Bool; });
    if (!x) return;
    const ValueId one = literal(type(*x).dtype, {}, random_.chance(50) ? 1.0f : 3.0f);
    emit(random_.chance(70) ? Opcode::Mul : Opcode::Add, {*x, one}, {}, {type(*x)});
  }
  void unary() {
    const auto x = pick(is_float_tensor);
    if (!x) return;
    constexpr Opcode kOps[] = {Opcode::Neg,  Opcode::Abs,  Opcode::Exp,    Opcode::Sigmoid,
                               Opcode::Silu, Opcode::Relu, Opcode::Softmax};
    const Opcode op = kOps[random_.below(type(*x).rank() > 0 ? 7 : 6)];
    emit(op, {*x}, {}, {type(*x)});
  }
  void compare() {
    const auto x = pick(is_float_tensor);
    if (!x) return;
    const auto y = pick([&](const Type& ty) { return ty == type(*x); });
    emit(random_.chance(50) ? Opcode::Lt : Opcode::Ne, {*x, *y}, {}, {tensor(DType::Bool, type(*x).dims)});
  }
  void logical() {
    const auto x = pick(is_bool);
    if (!x) return;
    const auto y = pick([&](const Type& ty) { return ty == type(*x); });
    if (random_.chance(30))
      emit(Opcode::LogicalNot, {*x}, {}, {type(*x)});
    else
      emit(random_.chance(50) ? Opcode::LogicalAnd : Opcode::LogicalOr, {*x, *y}, {}, {type(*x)});
  }
  void where() {
    const auto c = pick(is_bool);
    if (!c) return;
    const auto x = pick([&](const Type& ty) { return is_plain(ty) && ty.dims == type(*c).dims; });
    if (!x) return;
    const auto y = pick([&](const Type& ty) { return ty == type(*x); });
    emit(Opcode::Where, {*c, *x, *y}, {}, {type(*x)});
  }
  void cast() {
    const auto x = pick(is_plain);
    if (!x) return;
    constexpr DType kTypes[] = {DType::F32, DType::BF16, DType::I32};
    const DType d = kTypes[random_.below(3)];
    emit(Opcode::Cast, {*x}, {d}, {tensor(d, type(*x).dims)});
  }
  void reshape() {
    const auto x = pick(is_plain);
    if (!x) return;
    std::vector<Dim> dims = type(*x).dims;
    switch (random_.below(3)) {
      case 0:
        break;  // the same shape
      case 1: {
        Dim n(1);
        for (const Dim& d : dims) n = n * d;
        dims = {n};
        break;
      }
      case 2:
        if (!dims.empty() && dims.back().is_constant() && dims.back().constant() % 2 == 0 &&
            dims.size() < 5) {
          const int64_t half = dims.back().constant() / 2;
          dims.back() = Dim(2);
          dims.push_back(Dim(half));
        } else {
          dims.insert(dims.begin(), Dim(1));
        }
        break;
    }
    if (dims.size() <= SK_MAX_RANK) emit(Opcode::Reshape, {*x}, {dims}, {tensor(type(*x).dtype, dims)});
  }
  void transpose() {
    const auto x = pick([](const Type& ty) { return is_plain(ty) && ty.rank() > 0; });
    if (!x) return;
    const size_t a = random_.below(type(*x).rank()), b = random_.below(type(*x).rank());
    std::vector<Dim> dims = type(*x).dims;
    std::swap(dims[a], dims[b]);
    const auto rank = static_cast<int64_t>(dims.size());
    emit(Opcode::Transpose, {*x},
         {Dim(static_cast<int64_t>(a)), Dim(static_cast<int64_t>(b) - (random_.chance(30) ? rank : 0))},
         {tensor(type(*x).dtype, dims)});
  }
  std::optional<std::pair<ValueId, int64_t>> constant_axis() {
    const auto x =
        pick([](const Type& ty) { return is_plain(ty) && ty.rank() > 0 && ty.dims.back().is_constant(); });
    if (!x) return {};
    return std::pair{*x, static_cast<int64_t>(type(*x).rank()) - 1};
  }
  void slice() {
    const auto found = constant_axis();
    if (!found) return;
    const auto [x, axis] = *found;
    const int64_t size = type(x).dims.back().constant();
    const int64_t begin =
        random_.chance(50) ? 0 : static_cast<int64_t>(random_.below(static_cast<size_t>(size) + 1));
    const int64_t end =
        random_.chance(50)
            ? size
            : begin + static_cast<int64_t>(random_.below(static_cast<size_t>(size - begin) + 1));
    std::vector<Dim> dims = type(x).dims;
    dims.back() = Dim(end - begin);
    emit(Opcode::Slice, {x}, {Dim(axis), Dim(begin), Dim(end)}, {tensor(type(x).dtype, dims)});
  }
  void split() {
    const auto found = constant_axis();
    if (!found || type(found->first).dims.back().constant() < 2) return;
    const auto [x, axis] = *found;
    const int64_t size = type(x).dims.back().constant();
    const int64_t first = 1 + static_cast<int64_t>(random_.below(static_cast<size_t>(size) - 1));
    std::vector<Type> out(2, type(x));
    out[0].dims.back() = Dim(first);
    out[1].dims.back() = Dim(size - first);
    emit(Opcode::Split, {x}, {std::vector<Dim>{first, size - first}, Dim(axis)}, out);
  }
  void concat() {
    const auto x = pick([](const Type& ty) { return is_plain(ty) && ty.rank() > 0; });
    if (!x) return;
    std::vector<ValueId> xs{*x};
    if (random_.chance(70)) xs.push_back(*pick([&](const Type& ty) { return ty == type(*x); }));
    std::vector<Dim> dims = type(*x).dims;
    dims[0] = dims[0] * Dim(static_cast<int64_t>(xs.size()));
    emit(Opcode::Concat, xs, {random_.chance(50) ? Attr(Dim(0)) : Attr{}}, {tensor(type(*x).dtype, dims)});
  }
  void reduce() {
    const auto x = pick([](const Type& ty) { return is_float_tensor(ty) && ty.rank() > 0; });
    if (!x) return;
    std::vector<Dim> dims = type(*x).dims;
    dims.pop_back();
    emit(Opcode::ReduceMax, {*x}, {Dim(-1), Attr{}}, {tensor(type(*x).dtype, dims)});
  }
  void linear() {
    const auto x =
        pick([](const Type& ty) { return is_float_tensor(ty) && ty.rank() == 2 && ty.dims[1] == Dim(8); });
    if (!x) return;
    const bool wide = random_.chance(50);
    const ValueId w = emit(Opcode::Weight, {}, {std::string(wide ? "w8" : "w4")},
                           {wide ? tensor(DType::F32, {8, 8}) : tensor(DType::Stored, {4, 8})})[0];
    emit(Opcode::Linear, {*x, w, kNone}, {random_.chance(50) ? Attr(type(*x).dtype) : Attr{}},
         {tensor(type(*x).dtype, {type(*x).dims[0], wide ? 8 : 4})});
  }
  void norm() {
    const auto x =
        pick([](const Type& ty) { return is_float_tensor(ty) && ty.rank() > 0 && ty.dims.back() == Dim(8); });
    if (!x) return;
    const ValueId w = emit(Opcode::Weight, {}, {std::string("gamma")}, {tensor(DType::BF16, {8})})[0];
    emit(Opcode::RmsNorm, {*x, w}, {random_.chance(50) ? Attr(1e-5) : Attr{}}, {type(*x)});
  }
  void select() {
    const auto ids = pick([&](const Type& ty) { return ty == tensor(DType::I32, {Dim::symbol(t_)}); });
    if (!ids || in_layer_ || *ids != f_->regions[f_->body].args[1]) return;
    const ValueId w = emit(Opcode::Weight, {}, {std::string("table")}, {tensor(DType::F32, {8, 8})})[0];
    emit(Opcode::IndexSelect, {w, *ids}, {Dim(0)}, {tensor(DType::F32, {Dim::symbol(t_), 8})});
  }
  void read_state() { emit(Opcode::State, {}, {std::string("kv")}, {tensor(DType::F32, {4, 4, 8})}); }
  void write_state() {
    if (in_layer_) return;
    const auto rows = pick([&](const Type& ty) { return ty == tensor(DType::F32, {Dim::symbol(t_), 8}); });
    if (!rows) return;
    const ValueId s = emit(Opcode::State, {}, {std::string("kv")}, {tensor(DType::F32, {4, 4, 8})})[0];
    emit(Opcode::ScatterUpdate, {s, f_->regions[f_->body].args[2], *rows}, {}, {});
  }
  void note() {
    const auto x = pick([](const Type& ty) { return ty.is_tensor(); });
    if (!x) return;
    switch (random_.below(5)) {
      case 0:
        emit(Opcode::Tap, {*x}, {std::string("tap \"h\"")}, {});
        break;
      case 1:
        emit(Opcode::MarkStatic, {*x}, {}, {});
        break;
      case 2:
        emit(Opcode::WaitTensor, {*x, *pick([](const Type& ty) { return ty.is_tensor(); })}, {}, {});
        break;
      case 3:
        emit(Opcode::RecordStream, {*x}, {std::string("s0")}, {});
        break;
      case 4:
        emit(Opcode::Prefetch, {*x}, {std::string("w8"), std::string(), Dim(4096)}, {});
        break;
    }
  }
  void events() {
    if (!options_.explicit_events || region_.size() != 1) return;
    if (recorded_.empty() || random_.chance(50)) {
      recorded_.push_back(fmt::format("e{}", recorded_.size()));
      emit(Opcode::RecordEvent, {}, {recorded_.back()}, {});
    } else {
      emit(Opcode::WaitEvent, {}, {recorded_[random_.below(recorded_.size())]}, {});
    }
  }
  void full() {
    const Dim rows = random_.chance(50) ? t() : Dim(4);
    emit(Opcode::Full, {}, {std::vector<Dim>{rows, 8}, 0.1, DType::F32}, {tensor(DType::F32, {rows, 8})});
    if (random_.chance(30)) emit(Opcode::Arange, {}, {Dim(0), rows}, {tensor(DType::I32, {rows})});
  }
  void literals() {
    const ValueId a = literal(DType::F32, {2, 2}, static_cast<float>(random_.below(100)) * 0.37f - 3.0f);
    const ValueId b = literal(DType::F32, {2, 2}, -0.0f);
    emit(Opcode::Sub, {a, b}, {}, {type(a)});
    if (random_.chance(30)) literal(DType::BF16, {70}, 1.5f);
    if (random_.chance(30)) literal(DType::Bool, {}, 1.0f);
  }
  void host() {
    const auto a = pick([](const Type& ty) { return ty.kind == Kind::HostInt; });
    const Dim value =
        random_.chance(40) ? t() * Dim(2) - Dim(1) : Dim(static_cast<int64_t>(random_.below(5)));
    const ValueId b = emit(Opcode::HostInt, {}, {value}, {Type::host_int(value)})[0];
    if (!a) return;
    if (random_.chance(50))
      emit(Opcode::HostFn, {*a, b}, {std::string("add")},
           {Type::host_int(type(*a).dims[0] + type(b).dims[0])});
    else
      emit(Opcode::HostFn, {*a, b}, {std::string("max")},
           {Type::host_int(Dim::symbol(p_.fresh_symbol("u")))});
    if (random_.chance(30)) emit(Opcode::Check, {}, {t(), t(), std::string("rows")}, {});
  }
  void host_compare() {
    const auto a = pick([](const Type& ty) { return ty.kind == Kind::HostInt; });
    if (!a) return;
    const ValueId b = emit(Opcode::HostInt, {}, {Dim(2)}, {Type::host_int(2)})[0];
    emit(Opcode::HostFn, {*a, b}, {std::string(random_.chance(50) ? "lt" : "ge")},
         {Type::host(Kind::HostBool)});
  }
  void to_tensor() {
    const auto a = pick([](const Type& ty) { return ty.kind == Kind::HostInt; });
    if (a) emit(Opcode::ToTensor, {*a}, {}, {tensor(DType::I32, {})});
  }
  void host_branch() {
    const auto c = pick([](const Type& ty) { return ty.kind == Kind::HostBool; });
    if (c) branch(*c);
  }

  void branch(ValueId condition) {
    if (region_.size() > 3) return;
    const auto x = pick([&](const Type& ty) { return ty == tensor(DType::F32, {t(), 8}); });
    if (!x) return;
    const Type result = type(*x);
    Op op;
    op.code = Opcode::If;
    op.operands = {condition};
    op.loc = loc();
    op.context = context();
    const bool in_layer = std::exchange(in_layer_, true);  // no calls, events or writes inside
    for (int k = 0; k < 2; ++k) {
      const RegionId r = f_->add_region();
      op.regions.push_back(r);
      enter(r);
      for (size_t i = 0; i < 3; ++i) step();
      const ValueId y = *pick([&](const Type& ty) { return ty == result; });
      emit(Opcode::Yield, {y}, {}, {});
      leave();
    }
    in_layer_ = in_layer;
    const OpId id = f_->add_op(region_.back(), std::move(op), {result});
    scope_.back().push_back(f_->ops[id].results[0]);
  }

  // ---- eager only
  void item() {
    const auto x = pick([](const Type& ty) {
      return ty == tensor(DType::I32, {}) || ty == tensor(DType::F32, {}) || ty == tensor(DType::Bool, {});
    });
    if (!x) return;
    const DType d = type(*x).dtype;
    emit(Opcode::Item, {*x}, {},
         {d == DType::I32 ? Type::host_int(Dim::symbol(p_.fresh_symbol("u")))
                          : Type::host(d == DType::F32 ? Kind::HostFloat : Kind::HostBool)});
  }
  void nonzero() {
    const auto x = pick([](const Type& ty) { return is_bool(ty) && ty.rank() > 0; });
    if (!x) return;
    const auto rank = static_cast<int64_t>(type(*x).rank());
    emit(Opcode::Nonzero, {*x}, {}, {tensor(DType::I32, {Dim::symbol(p_.fresh_symbol("u")), Dim(rank)})});
  }
  void print() {
    const auto x = pick([](const Type&) { return true; });
    if (x) emit(Opcode::Print, {*x}, {std::string("x = {}")}, {});
  }
  void tensor_branch() {
    const auto c = pick([](const Type& ty) { return ty == tensor(DType::Bool, {}); });
    if (c) branch(*c);
  }
  void loop() {
    if (region_.size() > 3) return;
    const auto x = pick(is_float_tensor);
    if (!x) return;
    const ValueId zero = emit(Opcode::HostInt, {}, {Dim(0)}, {Type::host_int(0)})[0];
    const Type carried = type(*x);
    const auto counter = [&] { return Type::host_int(Dim::symbol(p_.fresh_symbol("i"))); };
    Op op;
    op.code = Opcode::While;
    op.operands = {zero, *x};
    op.loc = loc();
    for (int k = 0; k < 2; ++k) {
      const RegionId r = f_->add_region();
      op.regions.push_back(r);
      const ValueId i = f_->add_value(counter()), v = f_->add_value(carried, "carried");
      f_->regions[r].args = {i, v};
      enter(r);
      scope_.back() = {i, v};
      const ValueId three =
          emit(Opcode::HostInt, {}, {Dim(k == 0 ? 3 : 1)}, {Type::host_int(k == 0 ? 3 : 1)})[0];
      if (k == 0) {
        const ValueId go_on =
            emit(Opcode::HostFn, {i, three}, {std::string("lt")}, {Type::host(Kind::HostBool)})[0];
        emit(Opcode::Yield, {go_on}, {}, {});
      } else {
        const ValueId next = emit(Opcode::HostFn, {i, three}, {std::string("add")},
                                  {Type::host_int(type(i).dims[0] + Dim(1))})[0];
        const ValueId y = emit(Opcode::Relu, {v}, {}, {carried})[0];
        emit(Opcode::Yield, {next, y}, {}, {});
      }
      leave();
    }
    const OpId id = f_->add_op(region_.back(), std::move(op), {counter(), carried});
    for (const ValueId v : f_->ops[id].results) scope_.back().push_back(v);
  }

  Random random_;
  RandomProgramOptions options_;
  Program p_;
  Function* f_ = nullptr;
  SymbolId t_ = 0, n_ = 0;
  std::optional<Dim> rows_;
  std::vector<std::vector<ValueId>> scope_;
  std::vector<RegionId> region_;
  std::vector<std::string> recorded_;
  size_t layers_ = 0;
  bool in_layer_ = false;
};

}  // namespace

Program random_program(uint64_t seed, const RandomProgramOptions& options) {
  return Generator(seed, options).run();
}

size_t repeats(size_t usual, size_t full) {
  const char* soak = std::getenv("SKDSL_SOAK");
  return soak != nullptr && std::string_view(soak) == "1" ? full : usual;
}

}  // namespace skdsl::testing
