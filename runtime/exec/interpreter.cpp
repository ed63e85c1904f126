#include "runtime/exec/interpreter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pthread.h>

#include <cstdio>
#include <optional>
#include <unordered_set>

#include "runtime/base/assert.h"
#include "runtime/exec/function_table.h"
#include "runtime/exec/host_math.h"
#include "runtime/exec/host_ops.h"
#include "runtime/exec/recorder.h"
#include "runtime/exec/shape_check.h"

namespace skdsl::exec {

using plan::Kind;
using plan::kNone;
using Values = std::vector<RuntimeValue>;

namespace {
// Regions and calls use the C++ stack; this much of it stays for kernels and messages.
constexpr uintptr_t kStackReserve = 1u << 20;

bool stack_is_short() {
  // Asking takes a while for the main thread, and the answer never changes.
  thread_local const uintptr_t lowest = [] {
    pthread_attr_t attr;
    void* address = nullptr;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attr) == 0) {
      pthread_attr_getstack(&attr, &address, &size);
      pthread_attr_destroy(&attr);
    }
    return reinterpret_cast<uintptr_t>(address);
  }();
  return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) < lowest + kStackReserve;
}

// Deep enough for every program that the compiler makes (plan::kMaxRegionDepth), shallow enough to end soon.
constexpr int kMaxDepth = 1000;

template <class T>
tl::unexpected<Error> pass_on(const Expected<T>& e) {
  return tl::unexpected<Error>(e.error());
}

// One running function.
struct Frame {
  const plan::Function& function;
  const FunctionTable& table;
  Values values;                                // by ValueId; dead and unborn ones are empty tensors
  std::vector<std::optional<int64_t>> symbols;  // by SymbolId

  std::optional<int64_t> operator()(plan::SymbolId s) const {
    return s < symbols.size() ? symbols[s] : std::nullopt;
  }
  SymbolLookup lookup() const {
    return [this](plan::SymbolId s) { return (*this)(s); };
  }
  void bind(const plan::Dim& dim, int64_t size) {
    if (const auto s = dim.as_symbol()) symbols[*s] = size;
  }
};
}  // namespace

struct Interpreter::Impl {
  const plan::Program& program;
  Bindings& bindings;
  Workers& workers;
  InterpreterOptions options;
  TensorPool pool;
  HostServices host;
  Workspace workspace;
  std::unordered_map<const plan::Function*, std::unique_ptr<FunctionTable>> tables;
  std::vector<Tensor> constants;              // by index in the pool of the program; made when first used
  std::unordered_set<const void*> read_only;  // owners and bytes of weights, consts and literals
  size_t read_only_weights = 0;
  std::vector<sk_tensor> in, out;  // of the launch being prepared
  Recorder* recorder = nullptr;
  int depth = 0;
  uint64_t ops_run = 0;

  Impl(const plan::Program& p, Bindings& b, Workers& w, InterpreterOptions o)
      : program(p),
        bindings(b),
        workers(w),
        options(std::move(o)),
        pool(options.poison),
        host{pool, options.print, {}} {
    if (!host.print) host.print = [](std::string_view s) { std::fwrite(s.data(), 1, s.size(), stdout); };
  }

  std::string where(const plan::Op& op) const { return place(program, op.code, op.loc, op.path); }

  const FunctionTable& table_of(const plan::Function& f) {
    auto& slot = tables[&f];
    if (!slot) slot = std::make_unique<FunctionTable>(make_table(program, f));
    return *slot;
  }

  // ---- values and symbols

  /// Takes a value under its declared type: kinds, dtypes, ranks and known sizes must agree; symbols are
  /// bound. With `first_only` a symbol that is bound keeps its size and must agree: parameters of one call
  /// share symbols.
  std::optional<std::string> set(Frame& f, plan::ValueId id, RuntimeValue value, bool first_only = false) {
    const plan::Type& type = f.function.values[id].type;
    const auto clash = [&] {
      return fmt::format("{} where {} is declared", describe(value), program.text(type));
    };
    if (kind_of(value) != type.kind) return clash();
    const auto agree = [&](const plan::Dim& dim, int64_t size) {
      if (dim.as_symbol() && !(first_only && f(*dim.as_symbol()))) {
        f.bind(dim, size);
        return true;
      }
      const auto v = dim.evaluate(f.lookup());
      return !v || *v == size;  // a polynomial over symbols that are not known yet says nothing
    };
    if (const auto* n = std::get_if<int64_t>(&value)) {
      if (!agree(type.dims[0], *n)) return clash();
    } else if (const auto* t = std::get_if<Tensor>(&value)) {
      const sk_dtype want = plan::abi_dtype(type.dtype);
      if (t->view.rank != type.rank() || (want != SK_NONE && t->dtype() != want)) return clash();
      for (uint32_t i = 0; i < t->view.rank; ++i)
        if (!agree(type.dims[i], t->view.dim[i])) {
          std::string text = clash();
          if (const auto v = type.dims[i].evaluate(f.lookup()); v && !type.dims[i].is_constant())
            text += fmt::format(", {} being {} here", program.text(type.dims[i]), *v);
          return text;
        }
    }
    f.values[id] = std::move(value);
    return {};
  }

  /// The sizes of a tensor type under the frame's symbols.
  Expected<std::vector<int64_t>> sizes(const Frame& f, const plan::Type& type) {
    std::vector<int64_t> out;
    for (const plan::Dim& d : type.dims) {
      const auto v = d.evaluate(f.lookup());
      if (!v) return fail(fmt::format("the size `{}` is not known here", program.text(d)));
      out.push_back(*v);
    }
    return out;
  }

  // ---- regions and functions

  /// Runs a body or, with the op that owns it, a nested region; gives what it returns or yields.
  Expected<Values> run_region(Frame& f, plan::RegionId id, Values args, const plan::Op* owner) {
    if (depth >= kMaxDepth || stack_is_short())
      return fail(
          fmt::format("`{}`: calls and blocks are nested too deeply ({} levels)", f.function.name, depth));
    ++depth;
    auto results = run_ops(f, id, std::move(args), owner);
    --depth;
    return results;
  }

  Expected<Values> run_ops(Frame& f, plan::RegionId id, Values args, const plan::Op* owner) {
    const plan::Region& region = f.function.regions[id];
    for (size_t i = 0; i < region.args.size(); ++i)
      if (const auto wrong = set(f, region.args[i], std::move(args[i]), owner == nullptr))
        return owner ? fail(where(*owner) + ": " + *wrong)
                     : fail(fmt::format("`{}`: argument {} is {}", f.function.name, parameter(f.function, i),
                                        *wrong));
    for (const plan::ValueId v : f.table.unused_args[id]) f.values[v] = {};
    for (const plan::OpId o : region.ops) {
      const plan::Op& op = f.function.ops[o];
      if (options.interrupt && options.interrupt->load(std::memory_order_relaxed)) return fail("interrupted");
      ++ops_run;
      if (op.code == Opcode::Yield || op.code == Opcode::Return) {
        Values results;
        for (const plan::ValueId v : op.operands) results.push_back(f.values[v]);
        for (const plan::ValueId v : f.table.ops[o].release) f.values[v] = {};
        return results;
      }
      if (auto done = run_op(f, o); !done) return pass_on(done);
      for (const plan::ValueId v : f.table.ops[o].release) f.values[v] = {};
    }
    SK_ASSERT(false, "verified regions end in yield or return");
    return Values{};
  }

  static std::string parameter(const plan::Function& f, size_t i) {
    return i < f.param_names.size() ? fmt::format("`{}`", f.param_names[i]) : fmt::format("{}", i);
  }

  Expected<Values> run_function(const plan::Function& function, Values args) {
    const size_t want = function.regions[function.body].args.size();
    if (args.size() != want)
      return fail(fmt::format("`{}` takes {} arguments, {} were given", function.name, want, args.size()));
    Frame frame{function, table_of(function), Values(function.values.size()), {}};
    frame.symbols.resize(program.symbols.size());
    return run_region(frame, function.body, std::move(args), nullptr);
  }

  // ---- operators

  Expected<void> run_op(Frame& f, plan::OpId id) {
    const plan::Op& op = f.function.ops[id];
    const OpInfo& row = info(op.code);
    if (const auto structural = structural_op(op.code)) return finish(f, op, (this->*structural)(f, id));
    if (const HostOp run = find_host_op(op.code)) return finish(f, op, run_host(f, id, run));
    if (row.category == "schedule") {  // carries intent; no numbers change
      if (op.code == Opcode::Tap && options.observe)
        if (auto ok = tap(f, op); !ok) return ok;
      return recorder ? note(f, id) : Expected<void>{};
    }
    if (row.has(kView)) return finish(f, op, view(f, id));
    if (!f.table.ops[id].kernel) return fail(fmt::format("{}: this operator has no kernel", where(op)));
    return finish(f, op, run_kernel(f, id));
  }

  /// Stores results under their types; errors get the op's place unless they carry a deeper one.
  Expected<void> finish(Frame& f, const plan::Op& op, Expected<Values> results) {
    if (!results) return pass_on(results);
    for (size_t i = 0; i < op.results.size(); ++i)
      if (const auto wrong = set(f, op.results[i], std::move((*results)[i])))
        return fail(where(op) + ": the result is " + *wrong);
    return {};
  }

  Expected<Values> run_host(Frame& f, plan::OpId id, HostOp run) {
    const plan::Op& op = f.function.ops[id];
    Values operands;
    for (const plan::ValueId v : op.operands) operands.push_back(v == kNone ? RuntimeValue{} : f.values[v]);
    std::vector<plan::Type> types;
    for (const plan::ValueId v : op.results) types.push_back(f.function.values[v].type);
    std::optional<AbiAttrs> evaluated;
    const AbiAttrs* attrs = attributes(f, id, evaluated);
    if (!attrs) return fail(where(op) + ": an attribute depends on a size that is not known here");
    auto results = run(host, HostCall{op, operands, *attrs, types});
    if (!results) return fail_at(where(op), results.error());
    if (recorder && op.code == Opcode::ToTensor)
      if (const auto* t = std::get_if<Tensor>(&results->front()))
        recorder->list(f.function, op.operands[0], *t);
    return results;
  }

  const AbiAttrs* attributes(const Frame& f, plan::OpId id, std::optional<AbiAttrs>& storage) {
    const OpTable& row = f.table.ops[id];
    if (row.static_attrs) return &row.attrs;
    storage = evaluate_attrs(f.function.ops[id], f.lookup());
    return storage ? &*storage : nullptr;
  }

  /// An operand as kernels take it; host lists become i32 vectors.
  Expected<Tensor> operand(const Frame& f, const plan::Op& op, size_t i) {
    if (op.operands[i] == kNone) return Tensor{};
    const RuntimeValue& v = f.values[op.operands[i]];
    if (const auto* t = std::get_if<Tensor>(&v)) return *t;
    const auto* list = std::get_if<std::vector<int64_t>>(&v);
    const auto name = operand_param(info(op.code), i).name;
    if (!list) return fail(fmt::format("{}: `{}` is {}; it must be a tensor", where(op), name, describe(v)));
    auto t = pool.empty(SK_I32, {{static_cast<int64_t>(list->size())}});
    if (!t) return fail_at(where(op), t.error());
    for (size_t k = 0; k < list->size(); ++k) {
      if ((*list)[k] != static_cast<int32_t>((*list)[k]))
        return fail(fmt::format("{}: `{}` holds {}, which does not fit i32", where(op), name, (*list)[k]));
      t->data<int32_t>()[k] = static_cast<int32_t>((*list)[k]);
    }
    if (recorder) recorder->list(f.function, op.operands[i], *t);
    return t;
  }

  Expected<void> note(Frame& f, plan::OpId id) {
    const plan::Op& op = f.function.ops[id];
    std::vector<Tensor> operands;
    for (size_t i = 0; i < op.operands.size(); ++i) {
      auto t = operand(f, op, i);
      if (!t) return pass_on(t);
      operands.push_back(std::move(*t));
    }
    std::optional<AbiAttrs> evaluated;
    const AbiAttrs* attrs = attributes(f, id, evaluated);
    if (!attrs) return fail(where(op) + ": an attribute depends on a size that is not known here");
    recorder->note(op, operands, *attrs);
    return {};
  }

  /// The result's dtype: declared, or for stored weights the one of the first operand (layout ops keep it).
  static sk_dtype result_dtype(const plan::Type& type, const std::vector<Tensor>& operands) {
    if (type.dtype == plan::DType::Stored && !operands.empty()) return operands[0].dtype();
    return plan::abi_dtype(type.dtype);
  }

  Expected<Values> run_kernel(Frame& f, plan::OpId id) {
    const plan::Op& op = f.function.ops[id];
    const OpInfo& row = info(op.code);
    const OpTable& table = f.table.ops[id];
    std::vector<Tensor> operands;
    for (size_t i = 0; i < op.operands.size(); ++i) {
      auto t = operand(f, op, i);
      if (!t) return pass_on(t);
      operands.push_back(std::move(*t));
    }
    std::optional<AbiAttrs> evaluated;
    const AbiAttrs* attrs = attributes(f, id, evaluated);
    if (!attrs) return fail(where(op) + ": an attribute depends on a size that is not known here");

    if (row.has(kInPlace) && !writable(operands[0]))
      return fail(fmt::format("{}: `{}` is a weight or a literal; only states may be written", where(op),
                              operand_param(row, 0).name));
    Values results;
    in.clear(), out.clear();
    for (const Tensor& t : operands) in.push_back(t.view);
    for (const plan::ValueId v : op.results) {
      if (row.has(kInPlace)) {
        results.push_back(operands[0]);
      } else {
        const plan::Type& type = f.function.values[v].type;
        const auto shape = sizes(f, type);
        if (!shape) return fail_at(where(op), shape.error());
        auto t = pool.empty(result_dtype(type, operands), *shape);
        if (!t) return fail_at(where(op), t.error());
        results.push_back(std::move(*t));
      }
      out.push_back(std::get<Tensor>(results.back()).view);
    }
    sk_call call{};
    call.in = in.data(), call.n_in = static_cast<uint32_t>(in.size());
    call.out = out.data(), call.n_out = static_cast<uint32_t>(out.size());
    call.attr = attrs->attrs.data(), call.n_attr = static_cast<uint32_t>(attrs->attrs.size());
    if (const auto wrong = shape_error(op.code, call)) return fail(where(op) + ": " + *wrong);
    if (auto ok = workspace.attach(*table.kernel, call, workers, pool); !ok)
      return fail_at(where(op), ok.error());
    auto done = launch(*table.kernel, call, blocks_for(call, workers), workers, [&] { return where(op); });
    if (!done) return pass_on(done);
    if (options.observe) options.observe({op.code, op.loc, op.path, in, out, {}});
    if (recorder) {
      std::vector<Tensor> made;
      if (!row.has(kInPlace))
        for (const RuntimeValue& v : results) made.push_back(std::get<Tensor>(v));
      recorder->task(op, operands, made, *attrs);
    }
    return results;
  }

  Expected<void> tap(Frame& f, const plan::Op& op) {
    const auto t = operand(f, op, 0);
    if (!t) return pass_on(t);
    const sk_tensor in[] = {t->view};
    options.observe({op.code, op.loc, op.path, in, {}, std::get<std::string>(op.attrs[0])});
    return {};
  }

  Expected<Values> view(Frame& f, plan::OpId id) {
    const plan::Op& op = f.function.ops[id];
    const auto t = operand(f, op, 0);
    if (!t) return pass_on(t);
    const auto shape = sizes(f, f.function.values[op.results[0]].type);
    if (!shape) return fail_at(where(op), shape.error());
    int64_t elements = 1;
    bool ok = shape->size() <= SK_MAX_RANK;
    for (const int64_t d : *shape) ok = ok && d >= 0 && !__builtin_mul_overflow(elements, d, &elements);
    if (!ok || elements != t->elements())
      return fail(fmt::format("{}: {} cannot become [{}]: the number of elements differs", where(op),
                              skdsl::describe(t->view), fmt::join(*shape, ", ")));
    Tensor result = t->reshaped(*shape);
    if (recorder) {
      std::optional<AbiAttrs> evaluated;
      const AbiAttrs* attrs = attributes(f, id, evaluated);
      if (!attrs) return fail(where(op) + ": an attribute depends on a size that is not known here");
      recorder->view(op, *t, result, *attrs);
    }
    return Values{std::move(result)};
  }

  bool writable(const Tensor& t) {
    if (read_only_weights != bindings.weights.size()) {
      for (const auto& [path, w] : bindings.weights) protect(w);
      read_only_weights = bindings.weights.size();
    }
    return !read_only.contains(t.view.data) && !(t.keep && read_only.contains(t.keep.get()));
  }

  void protect(const Tensor& t) {
    read_only.insert(t.view.data);
    if (t.keep) read_only.insert(t.keep.get());
  }

  // ---- structure

  using Structural = Expected<Values> (Impl::*)(Frame&, plan::OpId);
  struct StructuralRow {
    Opcode code;
    Structural run;
  };

  static Structural structural_op(Opcode code) {
    static constexpr StructuralRow kRows[] = {
        {Opcode::Constant, &Impl::constant}, {Opcode::Weight, &Impl::weight},
        {Opcode::State, &Impl::state},       {Opcode::StateAssign, &Impl::state_assign},
        {Opcode::Call, &Impl::call},         {Opcode::If, &Impl::branch},
        {Opcode::While, &Impl::loop},
    };
    for (const StructuralRow& row : kRows)
      if (row.code == code) return row.run;
    return nullptr;
  }

  Expected<Values> constant(Frame& f, plan::OpId id) {
    const plan::Op& op = f.function.ops[id];
    const auto index = static_cast<size_t>(std::get<plan::Dim>(op.attrs[0]).constant());
    if (constants.size() < program.constants.size()) constants.resize(program.constants.size());
    Tensor& t = constants[index];
    if (!t) {
      const plan::ConstantData& data = program.constants[index];
      auto made = pool.empty(plan::abi_dtype(data.dtype), data.shape);
      if (!made) return fail_at(where(op), made.error());
      if (static_cast<size_t>(made->bytes()) != data.bytes.size())
        return fail(fmt::format("{}: {} bytes of data for {}", where(op), data.bytes.size(),
                                skdsl::describe(made->view)));
      std::copy(data.bytes.begin(), data.bytes.end(), made->data<uint8_t>());
      t = std::move(*made);
      protect(t);
    }
    if (recorder) recorder->constant(static_cast<uint32_t>(index), t);
    return Values{t};
  }

  Expected<Values> weight(Frame& f, plan::OpId id) {
    const plan::Op& op = f.function.ops[id];
    const auto& path = std::get<std::string>(op.attrs[0]);
    const Tensor* t = bindings.weight(path);
    if (!t) return fail(fmt::format("{}: weight `{}` is not loaded", where(op), path));
    if (recorder)
      recorder->declared(plan::Storage::Weight, path, f.function.values[op.results[0]].type.dtype, *t);
    return Values{*t};
  }

  Expected<Values> state(Frame& f, plan::OpId id) {
    const plan::Op& op = f.function.ops[id];
    const auto& path = std::get<std::string>(op.attrs[0]);
    const Tensor* t = bindings.state(path);
    if (!t) return fail(fmt::format("{}: state `{}` does not exist", where(op), path));
    if (recorder)
      recorder->declared(plan::Storage::State, path, f.function.values[op.results[0]].type.dtype, *t);
    return Values{*t};
  }

  // The state takes a copy: values do not change after they were computed, and a state is written in place.
  Expected<Values> state_assign(Frame& f, plan::OpId id) {
    const plan::Op& op = f.function.ops[id];
    const auto& path = std::get<std::string>(op.attrs[0]);
    Tensor* t = bindings.state(path);
    if (!t) return fail(fmt::format("{}: state `{}` does not exist", where(op), path));
    const auto value = operand(f, op, 0);
    if (!value) return pass_on(value);
    auto copy = copy_of(*value, pool);
    if (!copy) return fail_at(where(op), copy.error());
    *t = std::move(*copy);
    return Values{};
  }

  Expected<Values> call(Frame& f, plan::OpId id) {
    const plan::Op& op = f.function.ops[id];
    const plan::Function* callee = f.table.ops[id].callee;
    if (!callee)
      return fail(fmt::format("{}: no function `{}`", where(op), std::get<std::string>(op.attrs[0])));
    Values args;
    for (const plan::ValueId v : op.operands) args.push_back(f.values[v]);
    const bool from_script = f.function.phase == plan::Phase::None;
    auto results =
        callee->phase == plan::Phase::Decode && from_script && options.decode_hook
            ? options.decode_hook(*callee, std::move(args),
                                  {op.context, [&](const Tensor& t) { return later_use(f, id, t); }})
            : run_function(*callee, std::move(args));
    if (!results) {
      Error error = results.error();
      if (op.loc.line != 0 && error.notes.size() < 8)
        error.notes.push_back(fmt::format("called from {}", place(program, op.code, op.loc, op.path)));
      return tl::unexpected(std::move(error));
    }
    if (results->size() != op.results.size())
      return fail(fmt::format("{}: `{}` gave {} results, {} are declared", where(op), callee->name,
                              results->size(), op.results.size()));
    return results;
  }

  /// Where the function reads a value that stands in these bytes, after the op; in a loop maybe in the next
  /// round.
  static std::optional<Loc> later_use(const Frame& f, plan::OpId after, const Tensor& bytes) {
    const plan::Function& g = f.function;
    std::vector<plan::OpId> owner(g.ops.size(), kNone);  // of the region that the op stands in
    for (const plan::Op& op : g.ops)
      for (const plan::RegionId r : op.regions)
        for (const plan::OpId inside : g.regions[r].ops)
          owner[inside] = static_cast<plan::OpId>(&op - g.ops.data());
    // Those around the op have read their operands; the outermost loop may come round.
    std::unordered_set<plan::OpId> around;
    plan::OpId loop = kNone;
    for (plan::OpId o = owner[after]; o != kNone; o = owner[o]) {
      around.insert(o);
      if (g.ops[o].code == Opcode::While) loop = o;
    }
    const auto in_loop = [&](plan::OpId id) {
      for (plan::OpId o = id; o != kNone; o = owner[o])
        if (o == loop) return true;
      return false;
    };
    std::optional<Loc> in_next_round;
    for (plan::OpId id = 0; id < g.ops.size(); ++id) {
      if (id == after || around.contains(id)) continue;
      for (const plan::ValueId v : g.ops[id].operands) {
        const auto* t = v == kNone ? nullptr : std::get_if<Tensor>(&f.values[v]);
        if (!t || !*t || t->keep != bytes.keep) continue;
        if (id > after) return g.ops[id].loc;
        if (!in_next_round && loop != kNone && in_loop(id)) in_next_round = g.ops[id].loc;
      }
    }
    return in_next_round;
  }

  /// A condition: a host scalar, or a tensor of one element read on the host.
  Expected<bool> condition(const plan::Op& op, const RuntimeValue& v) {
    const auto* t = std::get_if<Tensor>(&v);
    if (t ? t->dtype() == SK_NONE || t->elements() != 1 : !as_real(v))
      return fail(fmt::format("{}: the condition is {}; it must be one truth value", where(op), describe(v)));
    return t ? truth(element(*t, 0)) : truth(v);
  }

  Expected<Values> branch(Frame& f, plan::OpId id) {
    const plan::Op& op = f.function.ops[id];
    const auto cond = condition(op, f.values[op.operands[0]]);
    if (!cond) return pass_on(cond);
    return run_region(f, op.regions[*cond ? 0 : 1], {}, &op);
  }

  Expected<Values> loop(Frame& f, plan::OpId id) {
    const plan::Op& op = f.function.ops[id];
    Values carried;
    for (const plan::ValueId v : op.operands) carried.push_back(f.values[v]);
    while (true) {
      auto test = run_region(f, op.regions[0], carried, &op);
      if (!test) return test;
      SK_ASSERT(test->size() == 1, "a verified condition region yields one value");
      const auto go_on = condition(op, test->front());
      if (!go_on) return pass_on(go_on);
      if (!*go_on) return carried;
      auto next = run_region(f, op.regions[1], std::move(carried), &op);
      if (!next) return next;
      carried = std::move(*next);
    }
  }
};

Interpreter::Interpreter(const plan::Program& program, Bindings& bindings, Workers& workers,
                         InterpreterOptions options)
    : impl_(std::make_unique<Impl>(program, bindings, workers, std::move(options))) {}
Interpreter::~Interpreter() = default;

Expected<Values> Interpreter::run(const plan::Function& function, Values args) {
  for (size_t i = 0; i < args.size(); ++i)
    if (const auto* t = std::get_if<Tensor>(&args[i]); t && *t && !t->contiguous())
      return fail(
          fmt::format("`{}`: argument {} is not contiguous", function.name, Impl::parameter(function, i)));
  return impl_->run_function(function, std::move(args));
}

Expected<Values> Interpreter::record(const plan::Function& function, Values args, Recorder& recorder) {
  impl_->recorder = &recorder;
  auto results = run(function, std::move(args));
  impl_->recorder = nullptr;
  return results;
}

bool Interpreter::may_write(const Tensor& t) { return impl_->writable(t); }

TensorPool& Interpreter::pool() { return impl_->pool; }
uint64_t Interpreter::ops_run() const { return impl_->ops_run; }

}  // namespace skdsl::exec
