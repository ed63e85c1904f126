#include "runtime/exec/graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>

#include "runtime/exec/host_math.h"
#include "runtime/exec/launch.h"
#include "runtime/exec/native_step.h"
#include "runtime/exec/shape_check.h"
#include "runtime/exec/step_run.h"

namespace skdsl::exec {

using plan::BufferId;
using plan::kNone;
using plan::Storage;

namespace {
// A task with everything looked up. Calls point into `in`, `out` and `attrs`, so a task must not move.
struct ReadyTask {
  const kernels::KernelEntry* kernel = nullptr;
  std::vector<sk_tensor> in, out;
  AbiAttrs attrs;
  sk_call call{};
  uint32_t blocks = 1;
  uint32_t task = 0;
};

AbiAttrs abi_attrs(const plan::Task& task) {
  AbiAttrs out;
  for (const plan::TaskAttr& a : task.attrs) switch (a.type) {
      case AttrType::Float:
        out.add_float(a.f);
        break;
      case AttrType::IntList:
        out.add_list(a.list);
        break;
      case AttrType::Int:
      case AttrType::Bool:
      case AttrType::DType:
      case AttrType::Choice:
        out.add_int(a.i);
        break;
      case AttrType::Str:
        out.add_int(0);
        break;
    }
  return out;
}
}  // namespace

struct Graph::Impl {
  const plan::Program& program;
  plan::Schedule schedule;
  Bindings& bindings;
  Workers& workers;
  GraphOptions options;
  TensorPool pool;
  Tensor arena;
  std::vector<Tensor> buffers;             // by BufferId; every one at its place for good
  std::map<uint32_t, Tensor> input_bytes;  // by argument; its buffer and all views of it
  std::deque<ReadyTask> tasks;
  std::vector<ReadyTask*> calls;     // kernels in the order of the steps
  std::vector<StepLaunch> launches;  // what run() does, in order
  std::vector<size_t> first_call;    // by launch
  std::unique_ptr<StepRun> step;
  GraphExecutor executor;
  Workspace workspace;
  uint64_t replays = 0;
  uint64_t steps_run = 0;
  uint64_t launches_run = 0;

  Impl(const plan::Program& p, plan::Schedule s, Bindings& b, Workers& w, GraphOptions o)
      : program(p),
        schedule(std::move(s)),
        bindings(b),
        workers(w),
        options(std::move(o)),
        pool(options.poison) {}

  tl::unexpected<Error> refuse(const std::string& what) const {
    return fail(fmt::format("graph of `{}`: {}", schedule.function, what));
  }
  std::string where(const plan::Task& t) const { return place(program, t.code, t.loc, t.path); }

  Expected<void> build() {
    if (const auto wrong = options.verify ? plan::verify(schedule, program) : std::vector<std::string>{};
        !wrong.empty()) {
      auto refused = refuse("the schedule is not valid: " + wrong.front());
      refused.value().notes.assign(wrong.begin() + 1, wrong.end());
      return refused;
    }
    if (auto ok = take_arena(); !ok) return ok;
    for (const plan::Buffer& b : schedule.buffers) {
      auto t = place_buffer(b);
      if (!t) return tl::unexpected(t.error());
      buffers.push_back(std::move(*t));
    }
    const auto add = [&](const plan::Step& step) -> Expected<void> {
      if (step.kind != plan::Step::Kind::Call || schedule.tasks[step.task].view) return {};
      if (auto ok = prepare(step.task); !ok) return ok;
      calls.push_back(&tasks.back());
      return {};
    };
    for (const plan::Step& step : schedule.steps) {
      const size_t first = calls.size();
      if (step.kind == plan::Step::Kind::SuperKernel) {
        for (const plan::Step& inside : schedule.superkernels[step.task].body)
          if (auto ok = add(inside); !ok) return ok;
      } else if (auto ok = add(step); !ok) {
        return ok;
      }
      if (calls.size() == first) continue;
      StepLaunch& l = launches.emplace_back();
      if (step.kind == plan::Step::Kind::SuperKernel) l.superkernel = &schedule.superkernels[step.task];
      for (size_t i = first; i < calls.size(); ++i)
        l.kernels.push_back(
            {&schedule.tasks[calls[i]->task], calls[i]->kernel, &calls[i]->call, calls[i]->blocks == 1});
      first_call.push_back(first);
    }
    auto run = StepRun::build(launches, workers, pool, options.interrupt);
    if (!run) return refuse(run.error().message);
    step = std::move(*run);
    if (options.native && !launches.empty()) compile();
    if (options.observe) find_taps();
    return one_by_one() ? attach_workspace() : Expected<void>{};
  }

  /// Launches are looked at one after the other, and not executed as a step.
  bool one_by_one() const { return workers.dry() || options.observe; }

  /// Machine code for the step; without it the walk over the plan stays, and the reason stands in `executor`.
  void compile() {
    if (one_by_one()) {
      executor.why_not = workers.dry() ? "a dry run executes no kernel" : "kernels are watched one by one";
      return;
    }
    const NativeStep source =
        native_step(program, schedule, launches, options.native_options, workers.count() == 1);
    auto code = options.native->compile(source);
    if (!code) {
      executor.why_not = code.error().message;
      return;
    }
    executor.native = true;
    executor.info = (*code)->info();
    step->use(source, std::move(*code));
  }

  Expected<void> take_arena() {
    const auto need = static_cast<int64_t>(schedule.arena_bytes);
    if (options.pool && *options.pool && options.pool->bytes() >= need) {
      arena = *options.pool;
      return {};
    }
    auto bytes = pool.empty(SK_I8, {{need}});
    if (!bytes) return refuse(bytes.error().message);
    arena = std::move(*bytes);
    if (options.pool) *options.pool = arena;
    return {};
  }

  Expected<Tensor> place_buffer(const plan::Buffer& b) {
    switch (b.storage) {
      case Storage::Input: {
        Tensor& bytes = input_bytes[b.index];
        if (bytes) return same_bytes(bytes, b, "input");
        if (b.index < options.inputs.size() && options.inputs[b.index]) {
          bytes = options.inputs[b.index];
          return same_bytes(bytes, b, "input");
        }
        auto t = pool.empty(plan::abi_dtype(b.dtype), b.shape);
        if (t) bytes = *t;
        return t;
      }
      case Storage::Arena: {
        Tensor t =
            Tensor::borrow(plan::abi_dtype(b.dtype), b.shape, arena.data<char>() + b.offset, arena.keep);
        if (b.offset % 64 != 0 || b.offset + static_cast<uint64_t>(t.bytes()) > schedule.arena_bytes)
          return refuse(fmt::format("buffer `{}` leaves the arena or is not 64-byte aligned", b.name));
        return t;
      }
      case Storage::Weight: {
        const Tensor* t = bindings.weight(b.path);
        if (!t) return refuse(fmt::format("weight `{}` is not loaded", b.path));
        return same_bytes(*t, b, "weight");
      }
      case Storage::State: {
        const Tensor* t = bindings.state(b.path);
        if (!t) return refuse(fmt::format("state `{}` does not exist", b.path));
        for (const plan::StateDecl& s : program.states)
          if (s.path == b.path && s.rebound && !options.guarded)
            return refuse(fmt::format(
                "state `{}` is assigned as a whole; a static graph needs it to stay in place", b.path));
        return same_bytes(*t, b, "state");
      }
      case Storage::Constant:
        break;
    }
    const plan::ConstantData* data = plan::constant(program, schedule, b.index);
    if (!data) return refuse(fmt::format("constant {} does not exist", b.index));
    auto t = pool.empty(plan::abi_dtype(data->dtype), data->shape);
    if (!t) return t;
    if (static_cast<size_t>(t->bytes()) != data->bytes.size())
      return refuse(fmt::format("constant {} has {} bytes for {}", b.index, data->bytes.size(),
                                skdsl::describe(t->view)));
    std::memcpy(t->view.data, data->bytes.data(), data->bytes.size());
    return same_bytes(*t, b, "constant");
  }

  /// The tensor under the buffer's shape (a view has another one).
  Expected<Tensor> same_bytes(const Tensor& t, const plan::Buffer& b, std::string_view what) const {
    int64_t elements = 1;
    for (const int64_t d : b.shape) elements *= d;
    const sk_dtype want = plan::abi_dtype(b.dtype);
    if (elements != t.elements() || (want != SK_NONE && want != t.dtype()))
      return refuse(fmt::format("{} `{}` is {}, the schedule expects {}[{}]", what, b.path,
                                skdsl::describe(t.view), plan::name(b.dtype), fmt::join(b.shape, ", ")));
    return t.reshaped(b.shape);
  }

  Expected<void> prepare(uint32_t number) {
    const plan::Task& task = schedule.tasks[number];
    ReadyTask& r = tasks.emplace_back();
    r.task = number;
    r.kernel = kernels::find_kernel(task.code);
    if (!r.kernel)
      return fail(fmt::format("{}: a static graph cannot hold this operator: it has no kernel", where(task)));
    for (const BufferId b : task.in) r.in.push_back(b == kNone ? sk_tensor{} : buffers[b].view);
    for (const BufferId b : task.out) r.out.push_back(buffers[b].view);
    if (info(task.code).has(kInPlace)) {
      const Storage s = schedule.buffers[task.in[0]].storage;
      if (s == Storage::Weight || s == Storage::Constant)
        return fail(fmt::format("{}: writes a weight or a literal; only states may be written", where(task)));
    }
    r.attrs = abi_attrs(task);
    r.call.in = r.in.data(), r.call.n_in = static_cast<uint32_t>(r.in.size());
    r.call.out = r.out.data(), r.call.n_out = static_cast<uint32_t>(r.out.size());
    r.call.attr = r.attrs.attrs.data(), r.call.n_attr = static_cast<uint32_t>(r.attrs.attrs.size());
    if (const auto wrong = shape_error(task.code, r.call)) return fail(where(task) + ": " + *wrong);
    r.blocks = options.spread ? workers.count() : blocks_for(r.call, workers);
    return {};
  }

  ReadyTask& kernel_of(size_t launch, size_t k = 0) { return *calls[first_call[launch] + k]; }
  std::string where(const ReadyTask& r) const { return where(schedule.tasks[r.task]); }

  // One workspace serves all plain calls, since they run one after the other; super kernels have their own.
  // The first pass grows it to the largest need.
  Expected<void> attach_workspace() {
    for (int pass = 0; pass < 2; ++pass)
      for (size_t l = 0; l < launches.size(); ++l)
        if (!launches[l].superkernel)
          if (auto ok = workspace.attach(*kernel_of(l).kernel, kernel_of(l).call, workers, pool); !ok)
            return ok;
    return {};
  }

  Expected<void> take_inputs(const std::vector<RuntimeValue>& inputs) {
    if (inputs.size() != schedule.inputs.size())
      return refuse(fmt::format("takes {} inputs, {} were given", schedule.inputs.size(), inputs.size()));
    for (size_t i = 0; i < inputs.size(); ++i) {
      const BufferId b = schedule.inputs[i];
      if (b == kNone) {
        if (options.guarded) continue;
        if (const auto wrong = host_input(i, inputs[i])) return refuse(*wrong);
        continue;
      }
      if (const auto* list = std::get_if<std::vector<int64_t>>(&inputs[i])) {
        if (auto ok = take_list(i, *list, buffers[b]); !ok) return ok;
        continue;
      }
      const auto* t = std::get_if<Tensor>(&inputs[i]);
      if (!t || skdsl::describe(t->view) != skdsl::describe(buffers[b].view) || !t->contiguous())
        return refuse(fmt::format("input {} is {}; the graph was made for {}", i, describe(inputs[i]),
                                  skdsl::describe(buffers[b].view)));
      if (t->bytes() > 0 && t->view.data != buffers[b].view.data)
        std::memcpy(buffers[b].view.data, t->view.data, static_cast<size_t>(t->bytes()));
    }
    return {};
  }

  /// The values of a host list are refreshed like a tensor's.
  Expected<void> take_list(size_t i, const std::vector<int64_t>& list, const Tensor& into) const {
    if (into.dtype() != SK_I32 || into.view.rank != 1 ||
        into.view.dim[0] != static_cast<int64_t>(list.size()))
      return refuse(fmt::format("input {} is a list of {}; the graph was made for {}", i, list.size(),
                                skdsl::describe(into.view)));
    for (size_t k = 0; k < list.size(); ++k) {
      if (list[k] != static_cast<int32_t>(list[k]))
        return refuse(fmt::format("input {} holds {}, which does not fit i32", i, list[k]));
      into.data<int32_t>()[k] = static_cast<int32_t>(list[k]);
    }
    return {};
  }

  /// A host scalar was compiled in as the value of its symbol.
  std::optional<std::string> host_input(size_t i, const RuntimeValue& value) const {
    const plan::Function* f = program.find(schedule.function);
    const plan::Dim* dim = nullptr;
    if (f && i < f->regions[f->body].args.size()) {
      const plan::Type& type = f->values[f->regions[f->body].args[i]].type;
      if (type.kind == plan::Kind::HostInt) dim = &type.dims[0];
    }
    const auto n = as_integer(value);
    if (!dim || !n)
      return fmt::format("input {} is {}; a static graph has no place for it", i, describe(value));
    const auto bound = dim->evaluate([&](plan::SymbolId s) -> std::optional<int64_t> {
      for (const auto& [name, size] : schedule.bindings)
        if (name == program.symbols[s]) return size;
      return {};
    });
    if (bound == n) return {};
    return fmt::format("input {} is {}; the graph was made for {}", i, *n,
                       bound ? std::to_string(*bound) : "an unknown value");
  }

  // A `dump` sees its value once the kernel before it on its stream has ended, and those that give the value.
  struct Tap {
    uint32_t task = 0;
    std::vector<uint32_t> after;  // tasks
    size_t missing = 0;
  };
  std::vector<Tap> taps;

  void find_taps() {
    std::vector<uint32_t> last(schedule.streams.size(), plan::kNone), writer(buffers.size(), plan::kNone);
    const auto see = [&](const plan::Step& s) {
      if (s.kind != plan::Step::Kind::Call && s.kind != plan::Step::Kind::Note) return;
      const plan::Task& t = schedule.tasks[s.task];
      if (t.code == Opcode::Tap) {
        Tap& tap = taps.emplace_back();
        tap.task = s.task;
        for (const uint32_t k : {last[t.stream], t.in[0] == kNone ? plan::kNone : writer[t.in[0]]})
          if (k != plan::kNone) tap.after.push_back(k);
      } else if (s.kind == plan::Step::Kind::Call) {
        for (const BufferId b : t.out) writer[b] = t.view ? writer[t.in[0]] : s.task;
        if (!t.view) last[t.stream] = s.task;
      }
    };
    for (const plan::Step& s : schedule.steps) {
      if (s.kind != plan::Step::Kind::SuperKernel)
        see(s);
      else
        for (const plan::Step& inside : schedule.superkernels[s.task].body) see(inside);
    }
  }

  void show(const Tap& tap) {
    const plan::Task& t = schedule.tasks[tap.task];
    const sk_tensor in[] = {buffers[t.in[0]].view};
    options.observe({t.code, t.loc, t.path, in, {}, t.attrs[0].text});
  }

  void observe(const ReadyTask& r) {
    const plan::Task& t = schedule.tasks[r.task];
    options.observe({t.code, t.loc, t.path, r.in, r.out, {}});
    for (Tap& tap : taps) {
      const auto before = tap.missing;
      tap.missing -= static_cast<size_t>(std::count(tap.after.begin(), tap.after.end(), r.task));
      if (before > 0 && tap.missing == 0) show(tap);
    }
  }

  Expected<void> run_step() {
    if (interrupted()) return fail("interrupted");
    const StepRun::End end = step->run();
    for (size_t l = 0; l < end.launches_run; ++l) steps_run += launches[l].kernels.size();
    launches_run += executor.native ? 1 : end.launches_run;
    if (end.interrupted) return fail("interrupted");
    if (!end.fault) return {};
    ReadyTask& r = kernel_of(end.launch, end.kernel);
    // A task that ran on several blocks runs again on one, as any launch does: the first faulty row is named.
    if (!launches[end.launch].superkernel && r.blocks > 1) {
      if (auto ok = attach_workspace(); !ok) return ok;
      if (auto ok = launch(*r.kernel, r.call, 1, workers, [&] { return where(r); }); !ok) return ok;
    }
    return fail(fault_message(*end.fault, where(r)));
  }

  bool interrupted() const { return options.interrupt && options.interrupt->load(std::memory_order_relaxed); }

  Expected<void> run_one_by_one() {
    for (Tap& tap : taps)
      if ((tap.missing = tap.after.size()) == 0) show(tap);
    for (size_t l = 0; l < launches.size(); ++l) {
      if (interrupted()) return fail("interrupted");
      if (auto ok = launches[l].superkernel ? run_superkernel(l) : run_task(l); !ok) return ok;
      steps_run += launches[l].kernels.size();
      ++launches_run;
    }
    return {};
  }

  Expected<void> run_superkernel(size_t l) {
    if (workers.dry()) {
      for (const StepKernel& k : launches[l].kernels) zero_results(*k.call);
      return {};
    }
    const StepRun::End end = step->run_superkernel(l, [&](size_t k) { observe(kernel_of(l, k)); });
    if (end.fault) return fail(fault_message(*end.fault, where(kernel_of(l, end.kernel))));
    return {};
  }

  Expected<void> run_task(size_t l) {
    ReadyTask& r = kernel_of(l);
    auto done = launch(*r.kernel, r.call, r.blocks, workers, [&] { return where(r); });
    if (done && options.observe) observe(r);
    return done;
  }

  Expected<std::vector<RuntimeValue>> run(const std::vector<RuntimeValue>& inputs) {
    if (options.poison && schedule.arena_bytes > 0)
      std::memset(arena.view.data, 0xff, static_cast<size_t>(schedule.arena_bytes));
    if (auto ok = take_inputs(inputs); !ok) return tl::unexpected(ok.error());
    if (auto ok = one_by_one() ? run_one_by_one() : run_step(); !ok) return tl::unexpected(ok.error());
    std::vector<RuntimeValue> outputs;
    for (size_t i = 0; i < schedule.outputs.size(); ++i) {
      const BufferId b = schedule.outputs[i];
      auto t = i < options.outputs.size() ? Expected<Tensor>(options.outputs[i])
                                          : pool.empty(buffers[b].dtype(), buffers[b].shape());
      if (!t) return tl::unexpected(t.error());
      if (t->bytes() > 0) std::memcpy(t->view.data, buffers[b].view.data, static_cast<size_t>(t->bytes()));
      outputs.push_back(std::move(*t));
    }
    ++replays;
    return outputs;
  }
};

Graph::Graph() = default;
Graph::~Graph() = default;

Expected<std::unique_ptr<Graph>> Graph::build(const plan::Program& program, plan::Schedule schedule,
                                              Bindings& bindings, Workers& workers, GraphOptions options) {
  std::unique_ptr<Graph> graph(new Graph);
  graph->impl_ = std::make_unique<Impl>(program, std::move(schedule), bindings, workers, std::move(options));
  if (auto ok = graph->impl_->build(); !ok) return tl::unexpected(ok.error());
  const Impl& made = *graph->impl_;
  if (made.options.built) made.options.built(made.schedule, made.executor);
  return graph;
}

Expected<std::vector<RuntimeValue>> Graph::run(const std::vector<RuntimeValue>& inputs) {
  return impl_->run(inputs);
}
const plan::Schedule& Graph::schedule() const { return impl_->schedule; }
const Tensor& Graph::arena() const { return impl_->arena; }
uint64_t Graph::replays() const { return impl_->replays; }
uint64_t Graph::steps_run() const { return impl_->steps_run; }
uint64_t Graph::launches_run() const { return impl_->launches_run; }
size_t Graph::launches_per_run() const { return impl_->executor.native ? 1 : impl_->launches.size(); }
const GraphExecutor& Graph::executor() const { return impl_->executor; }

}  // namespace skdsl::exec
