#include "runtime/model/session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "runtime/exec/graph.h"
#include "runtime/exec/workers.h"

namespace skdsl::model {

using exec::RuntimeValue;
using Values = std::vector<RuntimeValue>;

namespace {

class Stopwatch {
 public:
  double ms() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Paths of weights and consts that a function reads, and the functions that it calls.
struct Reads {
  std::set<std::string> paths;
  std::set<const plan::Function*> callees;
};

Reads reads_of(const plan::Program& program, const plan::Function& f) {
  Reads out;
  for (const plan::Op& op : f.ops) {
    if (op.code == Opcode::Weight) out.paths.insert(std::get<std::string>(op.attrs[0]));
    if (op.code == Opcode::Call)
      if (const auto* callee = program.find(std::get<std::string>(op.attrs[0]))) out.callees.insert(callee);
  }
  return out;
}

void reach(const plan::Program& program, const plan::Function& f, std::set<const plan::Function*>& seen,
           std::set<std::string>& paths) {
  std::vector<const plan::Function*> open{&f};
  while (!open.empty()) {
    const plan::Function* g = open.back();
    open.pop_back();
    if (!seen.insert(g).second) continue;
    Reads r = reads_of(program, *g);
    paths.merge(r.paths);
    open.insert(open.end(), r.callees.begin(), r.callees.end());
  }
}

// What the phases and scripts read; the rest of the weights served consts only. A function that consts alone
// reach does not count.
std::set<std::string> paths_to_keep(const plan::Program& program) {
  std::set<const plan::Function*> of_consts, seen;
  std::set<std::string> ignored, keep;
  for (const plan::ConstDecl& c : program.consts)
    if (const auto* f = program.find(c.function)) reach(program, *f, of_consts, ignored);
  for (const plan::Function& f : program.functions)
    if (!of_consts.contains(&f)) reach(program, f, seen, keep);
  return keep;
}

std::vector<int64_t> constant_shape(const plan::Type& type) {
  std::vector<int64_t> out;
  for (const plan::Dim& d : type.dims) out.push_back(d.constant());
  return out;
}

}  // namespace

struct Session::Impl {
  const std::shared_ptr<const plan::Program> owner;
  const plan::Program& program;
  SessionOptions options;
  exec::Workers workers;
  exec::Bindings bindings;
  std::unordered_map<std::string, Tensor> state_storage;  // as allocated, whatever a state is bound to now
  std::unique_ptr<exec::Interpreter> interpreter;
  std::map<std::string, std::unique_ptr<exec::Graph>> graphs;  // by key text
  std::set<std::string> functions_with_graph;
  std::vector<std::pair<std::string, exec::GraphExecutor>> executors;
  std::unique_ptr<exec::Captures> captures;  // of npugraph_ex
  Counters counters;
  Timings timings;

  Impl(std::shared_ptr<const plan::Program> p, SessionOptions o)
      : owner(std::move(p)), program(*owner), options(std::move(o)), workers(options.threads) {
    workers.set_dry(options.dry);
  }

  Expected<void> load(const WeightFinder& weights) {
    const Stopwatch watch;
    if (const auto wrong = options.verify ? plan::verify(program) : std::vector<std::string>{};
        !wrong.empty())
      return fail("the program is not valid: " + wrong.front(), {wrong.begin() + 1, wrong.end()});
    for (const plan::WeightDecl& w : program.weights) {
      const Tensor* t = weights ? weights(w.path) : nullptr;
      if (!t) return fail(fmt::format("weight `{}` is not loaded", w.path));
      if (auto ok = check(*t, w.path, w.type); !ok) return ok;
      bindings.weights[w.path] = *t;
    }
    exec::InterpreterOptions io;
    io.poison = options.poison;
    io.interrupt = options.interrupt;
    io.print = options.print;
    io.observe = options.observe;
    io.decode_hook = [this](const plan::Function& f, Values args, const exec::CallSite& site) {
      return decode(f, std::move(args), site);
    };
    interpreter = std::make_unique<exec::Interpreter>(program, bindings, workers, std::move(io));
    if (options.mode == "npugraph_ex")
      captures = std::make_unique<exec::Captures>(program, bindings, workers, *interpreter, options.recording,
                                                  options.capture, graph_options());
    if (auto ok = evaluate_consts(); !ok) return ok;
    drop_sources();
    if (auto ok = allocate_states(); !ok) return ok;
    timings.load_ms = watch.ms();
    return {};
  }

  // Graphs of npugraph_ex are machine code when their kernels are compiled for their shapes.
  exec::GraphOptions graph_options() {
    exec::GraphOptions out{.poison = options.poison,
                           .verify = false,
                           .interrupt = options.interrupt,
                           .observe = options.observe};
    if (options.mode == "npugraph_ex" && !options.capture.static_kernel_compile) return out;
    out.native = options.native;
    out.native_options = options.native_options;
    out.built = [this](const plan::Schedule& s, const exec::GraphExecutor& executor) {
      std::string name = s.function;
      for (const auto& [symbol, size] : s.bindings) name += fmt::format(" {}={}", symbol, size);
      executors.emplace_back(std::move(name), executor);
    };
    return out;
  }

  Expected<void> check(const Tensor& t, const std::string& path, const plan::Type& type) const {
    const sk_dtype want = plan::abi_dtype(type.dtype);
    if (t.shape() == constant_shape(type) && (want == SK_NONE || want == t.dtype())) return {};
    return fail(fmt::format("`{}` is {}, declared {}", path, describe(t.view), program.text(type)));
  }

  // ---- consts

  Expected<void> evaluate_consts() {
    std::map<std::string, const plan::ConstDecl*> by_path;
    for (const plan::ConstDecl& c : program.consts) by_path[c.path] = &c;
    std::set<std::string> done, open;  // names of functions
    for (const plan::ConstDecl& c : program.consts)
      if (auto ok = evaluate(c, by_path, done, open); !ok) return ok;
    return {};
  }

  // A const may read others, in any order of declaration.
  Expected<void> evaluate(const plan::ConstDecl& c,
                          const std::map<std::string, const plan::ConstDecl*>& by_path,
                          std::set<std::string>& done, std::set<std::string>& open) {
    if (done.contains(c.function)) return {};
    if (!open.insert(c.function).second) return fail(fmt::format("const `{}` is defined by itself", c.path));
    const plan::Function* f = program.find(c.function);
    if (!f) return fail(fmt::format("const `{}`: no function `{}`", c.path, c.function));
    std::set<const plan::Function*> seen;
    std::set<std::string> paths;
    reach(program, *f, seen, paths);
    for (const std::string& path : paths)
      if (const auto it = by_path.find(path); it != by_path.end())
        if (auto ok = evaluate(*it->second, by_path, done, open); !ok) return ok;
    auto values = interpreter->run(*f, {});
    if (!values) return tl::unexpected(values.error());
    for (const plan::ConstDecl& other : program.consts) {
      if (other.function != c.function) continue;
      const auto* t = other.result < values->size() ? std::get_if<Tensor>(&(*values)[other.result]) : nullptr;
      if (!t)
        return fail(fmt::format("const `{}`: `{}` gives no tensor number {}", other.path, other.function,
                                other.result));
      if (auto ok = check(*t, other.path, other.type); !ok) return ok;
      bindings.weights[other.path] = *t;
    }
    done.insert(c.function);
    open.erase(c.function);
    return {};
  }

  void drop_sources() {
    const std::set<std::string> keep = paths_to_keep(program);
    std::erase_if(bindings.weights, [&](const auto& entry) { return !keep.contains(entry.first); });
  }

  // ---- states

  Expected<void> allocate_states() {
    for (const plan::StateDecl& s : program.states) {
      auto t = interpreter->pool().empty(plan::abi_dtype(s.type.dtype), constant_shape(s.type));
      if (!t) {
        Error e = t.error();
        e.message = fmt::format("state `{}`: {}", s.path, e.message);
        e.notes.push_back("help: caches shrink with --kv-blocks, --max-seq-len or fewer prompts");
        return tl::unexpected(std::move(e));
      }
      state_storage[s.path] = std::move(*t);
    }
    reset_states();
    return {};
  }

  void reset_states() {
    for (const plan::StateDecl& s : program.states) {
      const Tensor& t = state_storage[s.path];
      const auto bytes = static_cast<size_t>(t.bytes());
      std::memset(t.view.data, 0, bytes);
      if (s.uninitialized && options.poison && t.view.rank > 0 && t.view.dim[0] > 0) {
        // Reading what nobody wrote gives NaN; the null block alone may be read.
        const size_t block = bytes / static_cast<size_t>(t.view.dim[0]);
        std::memset(t.data<char>() + block, 0xff, bytes - block);
      }
      bindings.states[s.path] = t;
    }
  }

  // ---- decode

  Expected<Values> decode(const plan::Function& f, Values args, const exec::CallSite& site = {}) {
    if (captures) return captured(f, std::move(args), site);
    if (options.mode == "eager") {
      ++counters.interpreted_decode_steps;
      return interpreter->run(f, std::move(args));
    }
    const auto key = key_of(f, args);
    if (!key) return tl::unexpected(key.error());
    auto graph = graph_for(f, *key);
    if (!graph) return tl::unexpected(graph.error());
    auto results = (*graph)->run(args);
    if (results) ++counters.replays;
    return results;
  }

  Expected<Values> captured(const plan::Function& f, Values args, const exec::CallSite& site) {
    auto results = captures->call(f, std::move(args), site);
    const exec::CaptureCounters& c = captures->counters();
    counters = {c.captures, c.recompiles, c.recaptures, c.replays, c.interpreted};
    timings.compile_ms = captures->compile_ms();
    if (results && options.on_decode) options.on_decode(c.replays + c.interpreted, captures->last());
    return results;
  }

  /// The sizes of the arguments, by the symbols of the parameters' types.
  Expected<plan::GraphKey> key_of(const plan::Function& f, const Values& args) const {
    const auto& params = f.regions[f.body].args;
    if (params.size() != args.size())
      return fail(fmt::format("`{}` takes {} arguments, {} were given", f.name, params.size(), args.size()));
    std::map<std::string, int64_t> sizes;
    for (size_t i = 0; i < params.size(); ++i) {
      const plan::Type& type = f.values[params[i]].type;
      const auto clash = [&] {
        return fail(fmt::format("`{}`: argument `{}` is {} where {} is declared", f.name, f.param_names[i],
                                exec::describe(args[i]), program.text(type)));
      };
      if (exec::kind_of(args[i]) != type.kind) return clash();
      std::vector<int64_t> actual;
      if (const auto* t = std::get_if<Tensor>(&args[i])) actual = t->shape();
      if (const auto* n = std::get_if<int64_t>(&args[i])) actual = {*n};
      if (actual.size() != type.dims.size()) return clash();
      for (size_t d = 0; d < actual.size(); ++d) {
        const auto symbol = type.dims[d].as_symbol();
        if (symbol && sizes.emplace(program.symbols[*symbol], actual[d]).first->second != actual[d])
          return clash();
        if (type.dims[d].is_constant() && type.dims[d].constant() != actual[d]) return clash();
      }
    }
    return plan::GraphKey{f.name, {sizes.begin(), sizes.end()}};
  }

  Expected<exec::Graph*> graph_for(const plan::Function& f, const plan::GraphKey& key) {
    std::string text = key.function;
    for (const auto& [name, size] : key.bindings) text += fmt::format(" {}={}", name, size);
    if (const auto it = graphs.find(text); it != graphs.end()) return it->second.get();
    const Stopwatch watch;
    auto schedule = options.compile(program, key);
    if (!schedule) return tl::unexpected(schedule.error());
    auto graph = exec::Graph::build(program, std::move(*schedule), bindings, workers, graph_options());
    if (!graph) return tl::unexpected(graph.error());
    timings.compile_ms += watch.ms();
    ++counters.captures;
    if (!functions_with_graph.insert(f.name).second) ++counters.recompiles;
    return (graphs[text] = std::move(*graph)).get();
  }
};

Session::Session() = default;
Session::~Session() = default;

Expected<std::unique_ptr<Session>> Session::create(plan::Program program, const WeightFinder& weights,
                                                   SessionOptions options) {
  return create(std::make_shared<const plan::Program>(std::move(program)), weights, std::move(options));
}

Expected<std::unique_ptr<Session>> Session::create(std::shared_ptr<const plan::Program> program,
                                                   const WeightFinder& weights, SessionOptions options) {
  if (options.mode != "eager" && options.mode != "npugraph_ex" && options.mode != "ge_graph")
    return tl::unexpected(Error{
        ErrorKind::Usage,
        fmt::format("mode `{}` is not known here; there are eager, npugraph_ex and ge_graph", options.mode),
        {}});
  if (options.mode == "npugraph_ex" && !options.recording)
    return tl::unexpected(Error{ErrorKind::Internal, "npugraph_ex was asked for without a compiler", {}});
  if (options.mode == "ge_graph" && !options.compile)
    return tl::unexpected(Error{ErrorKind::Internal, "ge_graph was asked for without a compiler", {}});
  std::unique_ptr<Session> session(new Session);
  session->impl_ = std::make_unique<Impl>(std::move(program), std::move(options));
  if (auto ok = session->impl_->load(weights); !ok) return tl::unexpected(ok.error());
  return session;
}

const plan::Program& Session::program() const { return impl_->program; }
const std::string& Session::mode() const { return impl_->options.mode; }
uint32_t Session::threads() const { return impl_->workers.count(); }

const plan::Function* Session::phase(plan::Phase phase) const {
  const std::string ending = plan::is_decode(phase) ? ".decode" : ".prefill";
  for (const plan::Function& f : impl_->program.functions)
    if (f.phase == phase && f.name.ends_with(ending) && f.name.find('.') == f.name.size() - ending.size())
      return &f;
  return nullptr;
}

Expected<Values> Session::call(const plan::Function& function, Values args) {
  if (plan::is_decode(function.phase)) return impl_->decode(function, std::move(args));
  return impl_->interpreter->run(function, std::move(args));
}

Expected<Values> Session::call(std::string_view name, Values args) {
  const plan::Function* f = impl_->program.find(name);
  if (!f) return fail(fmt::format("the program has no function `{}`", name));
  return call(*f, std::move(args));
}

void Session::reset_states() { impl_->reset_states(); }

bool Session::interrupted() const {
  const auto* flag = impl_->options.interrupt;
  return flag && flag->load(std::memory_order_relaxed);
}

const Counters& Session::counters() const { return impl_->counters; }
const exec::Captures* Session::captures() const { return impl_->captures.get(); }
const std::vector<std::pair<std::string, exec::GraphExecutor>>& Session::executors() const {
  return impl_->executors;
}
const Timings& Session::timings() const { return impl_->timings; }
exec::Bindings& Session::bindings() { return impl_->bindings; }

uint64_t Session::resident_bytes() const {
  std::unordered_set<const void*> seen;
  uint64_t bytes = 0;
  const auto count = [&](const Tensor& t) {
    if (seen.insert(t.view.data).second) bytes += static_cast<uint64_t>(t.bytes());
  };
  for (const auto& [path, t] : impl_->bindings.weights) count(t);
  for (const auto& [path, t] : impl_->state_storage) count(t);
  return bytes;
}

}  // namespace skdsl::model
