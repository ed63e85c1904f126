// flatten — the body of a specialised function as tasks over buffers
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "compiler/passes/in_place.h"
#include "compiler/schedule/build.h"

namespace skdsl::schedule {

using namespace plan;

namespace {

// A tensor beyond this is no tensor of a decode step; the limit keeps sums of sizes far from overflow.
constexpr int64_t kMaxTensorBytes = int64_t{1} << 46;

class Flattener {
 public:
  explicit Flattener(Build& b)
      : b_(b),
        f_(b.function),
        in_place_(passes::find_in_place(b.function)),
        buffers_(b.function.values.size(), kNone),
        failed_(b.function.values.size(), false) {}

  bool run() {
    b_.out.streams = {"main"};
    const auto& args = f_.regions[f_.body].args;
    for (size_t i = 0; i < args.size(); ++i) argument(i, args[i]);
    for (const OpId id : f_.regions[f_.body].ops) op(id);
    return good_;
  }

 private:
  diag::Engine::Builder report(const Loc& loc, diag::Id id, const std::string& text) {
    good_ = false;
    return b_.diags.report(b_.span(loc), id, text);
  }

  void argument(size_t i, ValueId v) {
    const Type& t = f_.values[v].type;
    const std::string what = fmt::format("argument `{}` of `{}`", f_.param_names[i], f_.name);
    BufferId buffer = kNone;
    if (t.is_tensor()) {
      const auto shape = static_shape(t, f_.loc, f_.param_names[i]);
      if (!shape) return fail_results({v});
      Buffer b{Storage::Input, t.dtype, *shape};
      b.index = static_cast<uint32_t>(i);
      b.name = f_.param_names[i];
      buffer = add(std::move(b), v);
    } else if (t.kind == Kind::HostList && !is_read(v)) {
      // The step has its lengths as lists too; who reads none of them asks nothing of them.
    } else if (t.kind != Kind::HostInt || !t.dims[0].is_constant()) {
      good_ = false;
      b_.diags.report(b_.span(f_.loc), diag::Id::NotStatic, what, "the step that is run")
          .help("pass a tensor, or an integer that names a size");
    }
    b_.out.inputs.push_back(buffer);
  }

  bool is_read(ValueId v) const {
    for (const Op& op : f_.ops)
      if (std::find(op.operands.begin(), op.operands.end(), v) != op.operands.end()) return true;
    return false;
  }

  std::optional<std::vector<int64_t>> static_shape(const Type& t, const Loc& loc, const std::string& what) {
    std::vector<int64_t> shape;
    int64_t bytes = std::max<int64_t>(1, dtype_bytes(abi_dtype(t.dtype)));
    for (const Dim& d : t.dims) {
      if (!d.is_constant()) {
        good_ = false;
        b_.diags.report(b_.span(loc), diag::Id::DynamicShapeInGraph, what, kMode)
            .note(fmt::format("its type is {}", b_.program.text(t)))
            .help("bind every symbol of the phase's parameters, and compute sizes from them alone");
        return {};
      }
      const int64_t n = d.constant();
      if (n < 0 || (n > 0 && __builtin_mul_overflow(bytes, n, &bytes)) || bytes > kMaxTensorBytes) {
        report(loc, diag::Id::TooMuchWork,
               fmt::format("`{}` has the impossible type {}", what, b_.program.text(t)));
        return {};
      }
      shape.push_back(n);
    }
    return shape;
  }

  BufferId add(Buffer buffer, ValueId v) {
    const auto id = static_cast<BufferId>(b_.out.buffers.size());
    if (buffer.name.empty() && v != kNone) buffer.name = f_.values[v].name;
    b_.out.buffers.push_back(std::move(buffer));
    b_.root.push_back(id);
    if (v != kNone) buffers_[v] = id;
    return id;
  }

  std::string describe(const Op& op) const { return std::string(info(op.code).name); }

  void op(OpId id) {
    const Op& op = f_.ops[id];
    const OpInfo& row = info(op.code);
    switch (op.code) {
      case Opcode::Constant:
        return constant(op);
      case Opcode::Weight:
        return declared(op, Storage::Weight);
      case Opcode::State:
        return declared(op, Storage::State);
      case Opcode::Return:
        return outputs(op);
      case Opcode::RecordEvent:
      case Opcode::WaitEvent:
        return event(op);
      case Opcode::Check:
        return failed_check(op);
      case Opcode::Call:
        good_ = false;
        fail_results(op.results);
        b_.diags.report(
            b_.span(op.loc), diag::Id::InternalVerify, "inlining",
            fmt::format("a call of `{}` is left in `{}`", std::get<std::string>(op.attrs[0]), f_.name));
        return;
      case Opcode::If:
        return not_static(op, "the condition of this `if`");
      case Opcode::While:
        return not_static(op, "the number of rounds of this loop");
      default:
        break;
    }
    if (row.category == "schedule")
      return task(op, id, op.code == Opcode::Prefetch ? Step::Kind::Prefetch : Step::Kind::Note);
    if (row.has(kHostFn)) return;  // whoever needs the value says that it is not known
    if (row.has_kernel()) return task(op, id, Step::Kind::Call);
    fail_results(op.results);
    report(op.loc, diag::Id::BadValue, fmt::format("`{}` cannot stand in a static graph", row.name))
        .help("run this phase with --mode eager");
  }

  void not_static(const Op& op, const std::string& what) {
    good_ = false;
    fail_results(op.results);
    b_.diags.report(b_.span(op.loc), diag::Id::NotStatic, what, "values of the run")
        .help("use configuration and sizes only, or run this phase with --mode eager");
  }

  void failed_check(const Op& op) {
    const auto& actual = std::get<Dim>(op.attrs[0]);
    const auto& expected = std::get<Dim>(op.attrs[1]);
    const auto& message = std::get<std::string>(op.attrs[2]);
    report(op.loc, diag::Id::BadValue,
           fmt::format("{}: {} and {}", message, b_.program.text(actual), b_.program.text(expected)));
  }

  void constant(const Op& op) {
    auto index = static_cast<size_t>(std::get<Dim>(op.attrs[0]).constant());
    const size_t shared = b_.original.constants.size();
    if (index >= shared) {
      const auto [it, missing] = own_constants_.emplace(index, shared + b_.out.constants.size());
      if (missing) b_.out.constants.push_back(b_.program.constants[index]);
      index = it->second;
    }
    const ConstantData& d = b_.program.constants[static_cast<size_t>(std::get<Dim>(op.attrs[0]).constant())];
    const auto [it, missing] = constant_buffers_.emplace(index, kNone);
    if (missing) {
      Buffer b{Storage::Constant, d.dtype, d.shape};
      b.index = static_cast<uint32_t>(index);
      it->second = add(std::move(b), op.results[0]);
    }
    buffers_[op.results[0]] = it->second;
  }

  void declared(const Op& op, Storage storage) {
    const auto& path = std::get<std::string>(op.attrs[0]);
    const auto [it, missing] = declared_buffers_.emplace(std::pair{storage, path}, kNone);
    if (missing) {
      const Type& t = f_.values[op.results[0]].type;
      const auto shape = static_shape(t, op.loc, path);
      if (!shape) return fail_results(op.results);
      Buffer b{storage, t.dtype, *shape};
      b.path = path;
      it->second = add(std::move(b), op.results[0]);
    }
    buffers_[op.results[0]] = it->second;
  }

  uint32_t stream_of(ContextId context) {
    for (ContextId c = context; c != kNone; c = b_.program.contexts[c].parent) {
      if (b_.program.contexts[c].kind != Context::Kind::Stream) continue;
      auto& all = b_.out.streams;
      const auto it = std::find(all.begin(), all.end(), b_.program.contexts[c].name);
      if (it != all.end()) return static_cast<uint32_t>(it - all.begin());
      all.push_back(b_.program.contexts[c].name);
      return static_cast<uint32_t>(all.size() - 1);
    }
    return 0;
  }

  void event(const Op& op) {
    const auto& name = std::get<std::string>(op.attrs[0]);
    auto& all = b_.out.events;
    const auto it = std::find(all.begin(), all.end(), name);
    const auto index = static_cast<uint32_t>(it - all.begin());
    if (it == all.end()) all.push_back(name);
    b_.items.push_back({op.code == Opcode::RecordEvent ? Step::Kind::Record : Step::Kind::Wait, index,
                        stream_of(op.context), op.loc});
  }

  std::optional<BufferId> operand(const Op& op, ValueId v) {
    if (v == kNone) return kNone;
    if (buffers_[v] != kNone) return buffers_[v];
    if (failed_[v]) return {};
    const Type& t = f_.values[v].type;
    const std::string what = t.kind == Kind::HostList ? "a host list" : "a host number";
    good_ = false;
    b_.diags
        .report(b_.span(op.loc), diag::Id::NotStatic,
                fmt::format("{} that `{}` reads", what, info(op.code).name), "values of the run")
        .help(t.kind == Kind::HostList ? "pass the lengths as an i32 tensor" : "compute it on the device");
    return {};
  }

  void task(const Op& op, OpId id, Step::Kind kind) {
    Task t;
    t.code = op.code;
    t.core = info(op.code).core;
    t.context = op.context;
    t.stream = stream_of(op.context);
    t.loc = op.loc;
    t.path = op.path;
    bool good = true;
    for (const ValueId v : op.operands) {
      const auto b = operand(op, v);
      good &= b.has_value();
      t.in.push_back(b.value_or(kNone));
    }
    const OpInfo& row = info(op.code);
    if (good && row.has(kInPlace) && b_.out.buffers[t.in[0]].storage != Storage::State) {
      report(op.loc, diag::Id::Misplaced, fmt::format("`{}` writes a value that is not a state", row.name))
          .help("declare a `state` and write into it");
      good = false;
    }
    const DType first = op.results.empty() ? DType::None : f_.values[op.results[0]].type.dtype;
    for (size_t i = 0; i < op.attrs.size(); ++i) {
      auto a = evaluate_attr(attr_param(row, i), op.attrs[i], first);
      if (!a) {
        good = false;
        report_dynamic(op);
        break;
      }
      t.attrs.push_back(std::move(*a));
    }
    t.view = good && row.has(kView);
    int64_t elements = 0;
    for (const ValueId v : op.results) {
      const auto out = good ? result(op, v, t) : std::nullopt;
      if (!out) {
        fail_results(op.results);
        return;
      }
      t.out.push_back(*out);
      if (t.out.size() == 1) {
        elements = 1;
        for (const int64_t d : b_.out.buffers[*out].shape) elements *= d;
      }
    }
    if (!good) return;
    t.block_dim = kind == Step::Kind::Call && !t.view ? block_dim(b_.program, t, elements) : 1;
    push(std::move(t), kind, id < in_place_.reuses_operand.size() && in_place_.reuses_operand[id] != 0);
  }

  void report_dynamic(const Op& op) {
    good_ = false;
    b_.diags.report(b_.span(op.loc), diag::Id::DynamicShapeInGraph, describe(op), kMode)
        .help("bind every symbol of the phase's parameters, and compute sizes from them alone");
  }

  // Their trouble was reported; whoever reads them says nothing more.
  void fail_results(const std::vector<ValueId>& values) {
    for (const ValueId v : values) failed_[v] = true;
  }

  std::optional<BufferId> result(const Op& op, ValueId v, const Task& t) {
    const Type& type = f_.values[v].type;
    const auto shape = static_shape(type, op.loc, describe(op));
    if (!shape) return {};
    if (t.view) {
      Buffer b = b_.out.buffers[t.in[0]];
      b.shape = *shape;
      b.name.clear();
      const BufferId id = add(std::move(b), v);
      b_.root[id] = b_.root[t.in[0]];
      return id;
    }
    if (type.dtype == DType::Stored) {
      good_ = false;
      b_.diags
          .report(b_.span(op.loc), diag::Id::NotStatic,
                  fmt::format("the dtype of what `{}` gives", info(op.code).name), "the checkpoint")
          .help("compute it once, as a `const`, or give the weight a dtype");
      return {};
    }
    return add({Storage::Arena, type.dtype, *shape}, v);
  }

  void push(Task t, Step::Kind kind, bool may_reuse) {
    b_.items.push_back({kind, static_cast<uint32_t>(b_.out.tasks.size()), t.stream, t.loc});
    b_.out.tasks.push_back(std::move(t));
    b_.may_reuse.push_back(may_reuse);
  }

  void outputs(const Op& op) {
    for (const ValueId v : op.operands) {
      const auto b = operand(op, v);
      if (!b) continue;
      // Results belong to the caller; what is an input, state, weight or literal is handed out as a copy.
      if (b_.out.buffers[*b].storage == Storage::Arena) {
        b_.out.outputs.push_back(*b);
        continue;
      }
      const Buffer source = b_.out.buffers[*b];
      if (source.dtype == DType::Stored) {
        good_ = false;
        b_.diags
            .report(b_.span(op.loc), diag::Id::NotStatic, "the dtype of a returned weight", "the checkpoint")
            .help("give the weight a dtype");
        continue;
      }
      Task t;
      t.code = Opcode::Reshape;
      t.core = info(t.code).core;
      t.loc = op.loc;
      t.in = {*b};
      t.out = {add({Storage::Arena, source.dtype, source.shape}, kNone)};
      TaskAttr shape;
      shape.type = AttrType::IntList;
      shape.list = source.shape;
      t.attrs = {shape};
      int64_t elements = 1;
      for (const int64_t d : source.shape) elements *= d;
      t.block_dim = block_dim(b_.program, t, elements);
      b_.out.outputs.push_back(t.out[0]);
      push(std::move(t), Step::Kind::Call, false);
    }
  }

  Build& b_;
  const Function& f_;
  passes::InPlace in_place_;
  std::vector<BufferId> buffers_;  // by value
  std::vector<bool> failed_;       // by value
  std::map<size_t, size_t> own_constants_;
  std::map<size_t, BufferId> constant_buffers_;
  std::map<std::pair<Storage, std::string>, BufferId> declared_buffers_;
  bool good_ = true;
};

}  // namespace

bool flatten(Build& b) { return Flattener(b).run(); }

}  // namespace skdsl::schedule
