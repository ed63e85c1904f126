#include "runtime/exec/captures.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cstring>
#include <map>
#include <set>

#include "runtime/exec/gears.h"
#include "runtime/exec/host_ops.h"
#include "runtime/exec/recorder.h"

namespace skdsl::exec {

using Values = std::vector<RuntimeValue>;
using Kind = CaptureEvent::Kind;
using Reason = CaptureReason;
using By = ServedCall::By;

std::string_view name(Kind kind) {
  constexpr std::string_view kNames[] = {"compile", "recompile", "recapture", "fallback", "misuse"};
  return kNames[static_cast<size_t>(kind)];
}

std::string describe(const ServedCall& s) {
  const std::string why = s.reason ? fmt::format(" ({})", row(*s.reason).word) : "";
  const std::string key = s.key.empty() ? "" : " " + s.key;
  const std::string gear = s.padding > 0 ? fmt::format(", {} rows added for the gear", s.padding) : "";
  switch (s.by) {
    case By::Interpreter:
      return "interpreter" + why;
    case By::Capture:
      return "captured" + key + why + gear;
    case By::Replay:
      break;
  }
  return "replay of" + (key.empty() ? std::string(" the graph") : key) + gear;
}

namespace {

// A recording that became a graph.
struct Capture {
  size_t compiled = 0;  // of the frame
  std::unique_ptr<Graph> graph;
  std::map<std::string, const void*> states;  // addresses by path
  std::string cores;
  std::vector<Tensor> outputs;                            // as given to the graph
  std::vector<Tensor> held_inputs;                        // by argument; clone_input off: whose memory it is
  std::vector<long> input_owners;                         // of each: how many of its owners are ours
  std::vector<std::optional<RuntimeValue>> host_results;  // by result: what is no tensor
  std::string shown;
};

// One path through a function under constant guards.
struct Compiled {
  std::string constants;
  std::vector<TraceEntry> trace;
  std::set<std::string> keys;
  ArenaPool pool = std::make_shared<Tensor>();
  bool eager = false;
};

// What is captured as one function: a phase, all variants of it that a script calls.
struct Frame {
  std::vector<Compiled> compiled;
  std::map<std::string, Capture> captures;  // by key
  std::vector<Guard> last;
  bool eager = false;
};

/// "M.decode#2" -> "M.decode": variants of a phase for other types are one function to its user.
std::string frame_name(const std::string& function) {
  const size_t hash = function.rfind('#');
  const size_t dot = function.rfind('.');
  return hash != std::string::npos && (dot == std::string::npos || hash > dot) ? function.substr(0, hash)
                                                                               : function;
}

std::string cores_text(const plan::Program& program, plan::ContextId context) {
  for (plan::ContextId c = context; c != plan::kNone; c = program.contexts[c].parent) {
    if (program.contexts[c].kind != plan::Context::Kind::Cores) continue;
    std::string out;
    for (const auto& [key, value] : program.contexts[c].options)
      out += fmt::format("{}{}={}", out.empty() ? "" : " ", key, value);
    return out;
  }
  return "none";
}

}  // namespace

struct Captures::Impl {
  const plan::Program& program;
  Bindings& bindings;
  Workers& workers;
  Interpreter& interpreter;
  plan::RecordingHook hook;
  CaptureOptions options;
  GraphOptions base;
  std::map<std::string, Frame> frames;
  std::map<const plan::Function*, std::vector<ListRole>> roles;
  std::map<const plan::Function*, Gears> gears;
  ArenaPool pool = std::make_shared<Tensor>();  // use_graph_pool
  CaptureCounters counters;
  std::vector<CaptureEvent> events;
  std::vector<CaptureFallback> fallbacks;
  ServedCall served;
  std::set<std::tuple<std::string, Reason, int64_t>> without;  // gear trouble that was told
  uint64_t step = 0;
  double compile_ms = 0;

  // ---- reports

  void event(Kind kind, Reason reason, const plan::Function& f, const Guard* now = nullptr,
             const Guard* before = nullptr, std::optional<Loc> loc = {}) {
    CaptureEvent e{kind, reason, step, frame_name(f.name), loc.value_or(f.loc), {}, {}, {}};
    if (now) e.guard = now->name, e.after = now->value;
    if (before) e.before = before->value;
    events.push_back(std::move(e));
  }

  Expected<Values> interpreted(const plan::Function& f, Values args, Reason reason) {
    ++counters.interpreted;
    fallbacks.push_back({step, reason});
    served.by = By::Interpreter;
    served.reason = reason;
    return interpreter.run(f, std::move(args));
  }

  // ---- a call

  const std::vector<ListRole>& roles_of(const plan::Function& f) {
    const auto [it, missing] = roles.try_emplace(&f);
    if (missing) it->second = list_roles(f);
    return it->second;
  }
  const Gears& gears_for(const plan::Function& f) {
    const auto [it, missing] = gears.try_emplace(&f);
    if (missing) it->second = gears_of(program, f);
    return it->second;
  }

  Expected<Values> call(const plan::Function& f, Values args, const CallSite& site) {
    ++step;
    served = {};
    served.function = frame_name(f.name);
    const size_t want = f.regions[f.body].args.size();
    if (args.size() != want)
      return fail(fmt::format("`{}` takes {} arguments, {} were given", f.name, want, args.size()));
    if (options.force_eager) return interpreted(f, std::move(args), Reason::ForceEager);
    const Gears& g = gears_for(f);
    if (g.sizes.empty()) return guarded(f, std::move(args), site);
    if (!g.wrong.empty())
      return fail(fmt::format("{}: `{}` cannot have gears: {}", place(program, Opcode::Gears, g.loc, ""),
                              f.name, g.wrong));
    const GearRows rows = rows_of(g, f, args);
    if (!rows.one_row_each) return without_gear(f, std::move(args), Reason::RowsOfRequests, rows.rows, g);
    const auto gear = fitting_gear(g, rows.rows);
    if (!gear) return without_gear(f, std::move(args), Reason::AboveLargestGear, rows.rows, g);
    if (*gear == rows.rows) return guarded(f, std::move(args), site);
    if (!options.gear_padding) return without_gear(f, std::move(args), Reason::NoExactSize, rows.rows, g);
    auto longer = padded(g, f, args, *gear, interpreter.pool());
    if (!longer) return tl::unexpected(longer.error());
    auto results = guarded(f, std::move(*longer), site);
    served.padding = *gear - rows.rows;
    if (!results) return results;
    return cut(g, f, std::move(*results), rows.rows);
  }

  Expected<Values> without_gear(const plan::Function& f, Values args, Reason reason, int64_t rows,
                                const Gears& g) {
    std::string sizes;
    for (const int64_t n : g.sizes) sizes += fmt::format("{}{}", sizes.empty() ? "" : ", ", n);
    const Guard now{reason, "rows", std::to_string(rows)}, gear{reason, "gears", "gears [" + sizes + "]"};
    if (without.emplace(frame_name(f.name), reason, rows).second)
      event(Kind::Fallback, reason, f, &now, &gear, g.loc);
    return interpreted(f, std::move(args), reason);
  }

  /// "B=2 T=2"; of a phase without symbols what the call gave: "x=[2, 4] n=3".
  std::string shown_key(const plan::Function& f, const Values& args) const {
    std::string out;
    const auto add = [&](const std::string& text) { out += (out.empty() ? "" : " ") + text; };
    for (const auto& [symbol, size] : bindings_of(program, f, args)) add(fmt::format("{}={}", symbol, size));
    if (!out.empty()) return out;
    for (size_t i = 0; i < args.size(); ++i)
      if (const auto* t = std::get_if<Tensor>(&args[i]); t && f.param_names[i].find('.') == std::string::npos)
        add(fmt::format("{}=[{}]", f.param_names[i], fmt::join(t->shape(), ", ")));
    for (const auto& [name, value] : f.fixed) add(fmt::format("{}={}", name, value));
    return out;
  }

  Expected<Values> guarded(const plan::Function& f, Values args, const CallSite& site) {
    Frame& frame = frames[frame_name(f.name)];
    const std::string shown = shown_key(f, args);
    served.key = shown;
    if (frame.eager) return interpreted(f, std::move(args), Reason::RecompileLimit);
    std::vector<Guard> guards = guards_of(f, args, roles_of(f), options.dynamic);
    const std::string key = key_text(guards), cores = cores_text(program, site.context);
    const auto it = frame.captures.find(key);
    Guard moved, was;
    std::optional<Reason> again;
    if (it != frame.captures.end()) {
      Capture& c = it->second;
      if (frame.compiled[c.compiled].eager) return interpreted(f, std::move(args), Reason::CaptureLimit);
      again = stale(c, cores, moved, was);
      if (!again) {
        frame.last = std::move(guards);
        return replay(f, c, args, site);
      }
    } else if (options.skip_guard_eval_unsafe && !frame.captures.empty()) {
      return unguarded(f, frame, guards);
    }
    return capture(f, frame, std::move(args), std::move(guards), key, cores, again, moved, was, shown);
  }

  /// With guards skipped, a call that does not fit would be replayed with the wrong sizes: it is refused
  /// instead.
  tl::unexpected<Error> unguarded(const plan::Function& f, const Frame& frame,
                                  const std::vector<Guard>& guards) const {
    const Guard* old = nullptr;
    const Guard* now = first_difference(guards, frame.last, &old, false);
    return fail(fmt::format("{}: skip_guard_eval_unsafe is on and {} is {}, captured was {}", place_of(f),
                            now ? now->name : "the call", now ? now->value : "another one",
                            old ? old->value : "none"),
                {"help: leave skip_guard_eval_unsafe off, or warm every size up with it off"});
  }
  std::string place_of(const plan::Function& f) const {
    if (f.loc.line == 0 || f.loc.file >= program.files.size()) return fmt::format("`{}`", f.name);
    return fmt::format("{}:{}:{}: `{}`", program.files[f.loc.file], f.loc.line, f.loc.column, f.name);
  }

  /// Why a capture whose guards hold cannot be replayed.
  std::optional<Reason> stale(const Capture& c, const std::string& cores, Guard& now, Guard& was) {
    if (options.force_recapture) return Reason::ForceRecapture;
    for (const auto& [path, address] : c.states) {
      const Tensor* t = bindings.state(path);
      if (t && t->view.data == address) continue;
      now = {Reason::StateAddress, path, "another address"};
      was = {Reason::StateAddress, path, "the captured one"};
      return Reason::StateAddress;
    }
    if (c.cores != cores) {
      now = {Reason::CoreLimit, "cores", cores};
      was = {Reason::CoreLimit, "cores", c.cores};
      return Reason::CoreLimit;
    }
    return {};
  }

  // ---- replay

  Expected<Values> replay(const plan::Function& f, Capture& c, const Values& args, const CallSite& site) {
    report_misuse(f, c, args, site);
    auto tensors = c.graph->run(args);
    if (!tensors) return tensors;
    ++counters.replays;
    served.by = By::Replay;
    return merged(c, std::move(*tensors));
  }

  static Values merged(const Capture& c, Values tensors) {
    Values out;
    size_t next = 0;
    for (const auto& host : c.host_results) out.push_back(host ? *host : std::move(tensors[next++]));
    return out;
  }

  static std::optional<Loc> later_use(const CallSite& site, const Tensor& t) {
    return site.later_use ? site.later_use(t) : std::nullopt;
  }

  // Whoever still holds memory of the graph will see it change.
  void report_misuse(const plan::Function& f, const Capture& c, const Values& args, const CallSite& site) {
    const auto argument = [&](const Tensor& t) {
      for (const RuntimeValue& v : args)
        if (const auto* a = std::get_if<Tensor>(&v); a && a->keep == t.keep) return true;
      return false;
    };
    for (size_t i = 0; i < c.outputs.size(); ++i) {
      const Tensor& t = c.outputs[i];
      long ours = 0;
      for (const Tensor& o : c.outputs) ours += o.keep == t.keep;
      // Once in the graph, once in the capture.
      if (t.keep.use_count() <= 2 * ours) continue;
      // As an argument it is read before it is written over; only a later reader is harmed.
      if (site.later_use ? !site.later_use(t) : argument(t)) continue;
      const Guard held{Reason::OutputOverwritten, fmt::format("result {}", i), skdsl::describe(t.view)};
      event(Kind::Misuse, Reason::OutputOverwritten, f, &held, nullptr, later_use(site, t));
    }
    for (size_t i = 0; i < c.held_inputs.size(); ++i) {
      const Tensor& t = c.held_inputs[i];
      const auto* now = std::get_if<Tensor>(&args[i]);
      if (!t || !now || now->view.data == t.view.data || argument(t) ||
          t.keep.use_count() <= c.input_owners[i])
        continue;
      const Guard held{Reason::InputOverwritten, f.param_names[i], skdsl::describe(t.view)};
      event(Kind::Misuse, Reason::InputOverwritten, f, &held, nullptr, later_use(site, t));
    }
  }

  // ---- capture

  /// The bytes of each argument under an address of its own, so that the recorder can tell them apart.
  Expected<Values> own_copies(const Values& args, std::vector<Tensor>& held) {
    Values out = args;
    std::set<const void*> seen;
    held.resize(args.size());
    for (size_t i = 0; i < args.size(); ++i) {
      const auto* t = std::get_if<Tensor>(&args[i]);
      if (!t) continue;
      bool is_state = false;
      for (const auto& [path, s] : bindings.states) is_state |= s.view.data == t->view.data;
      if (!options.clone_input && !is_state && interpreter.may_write(*t) && t->contiguous() &&
          seen.insert(t->view.data).second) {
        held[i] = *t;
        continue;
      }
      auto copy = copy_of(*t, interpreter.pool());
      if (!copy) return tl::unexpected(copy.error());
      out[i] = std::move(*copy);
    }
    return out;
  }

  Expected<Values> capture(const plan::Function& f, Frame& frame, Values args, std::vector<Guard> guards,
                           const std::string& key, const std::string& cores, std::optional<Reason> again,
                           const Guard& moved, const Guard& was, const std::string& shown) {
    Capture c;
    auto own = own_copies(args, c.held_inputs);
    if (!own) return tl::unexpected(own.error());
    std::vector<bool> refreshed;
    for (const ListRole role : roles_of(f))
      refreshed.push_back(options.dynamic && role == ListRole::Refreshed);
    Recorder recorder(program, f, *own, refreshed);
    auto results = interpreter.record(f, *own, recorder);
    if (!results) return results;
    ++counters.interpreted;

    // Which compiled graph is this a path of?
    const std::string constants = constants_text(guards);
    size_t index = frame.compiled.size();
    bool same_constants = false;
    for (size_t i = 0; i < frame.compiled.size(); ++i) {
      if (frame.compiled[i].constants != constants) continue;
      same_constants = true;
      if (frame.compiled[i].trace == recorder.trace()) index = i;
    }
    const bool first = frame.compiled.empty();
    const Guard* before = nullptr;
    const Guard* now = nullptr;
    Reason reason = Reason::FirstCall;
    std::optional<Loc> loc;
    if (again) {
      reason = *again;
      if (!moved.name.empty()) now = &moved, before = &was;
    } else if (index < frame.compiled.size()) {
      now = first_difference(guards, frame.last, &before, false);
      reason = Reason::GraphKey;
    } else if (same_constants) {
      reason = Reason::Branch;
      loc = first_other(frame, constants, recorder.trace());
      now = first_difference(guards, frame.last, &before, false);
    } else if (!first) {
      now = first_difference(guards, frame.last, &before, true);
      if (now) reason = now->symbolic ? before->reason : now->reason;
    }
    Guard now_copy = now ? *now : Guard{}, before_copy = before ? *before : Guard{};
    const auto tell = [&](Kind kind, Reason why) {
      event(kind, why, f, now ? &now_copy : nullptr, before ? &before_copy : nullptr, loc);
    };
    const auto give_up = [&](Reason why, bool known = false) {
      if (!known) tell(Kind::Fallback, why);
      fallbacks.push_back({step, why});
      served.by = By::Interpreter;
      served.reason = why;
      return std::move(results);
    };
    const bool compile = index == frame.compiled.size();
    if (compile && frame.compiled.size() >= options.recompile_limit) {
      frame.eager = true;
      frame.captures.clear();
      return give_up(Reason::RecompileLimit);
    }
    frame.last = std::move(guards);
    if (compile)
      frame.compiled.push_back({constants, recorder.trace(), {}, std::make_shared<Tensor>(), false});
    Compiled& compiled = frame.compiled[index];
    // The limit is looked at before every capture, one of a known key included.
    if (compiled.eager || compiled.keys.size() >= options.capture_limit) {
      const bool known = compiled.eager;
      compiled.eager = true;
      c.compiled = index;
      frame.captures[key] = std::move(c);
      for (auto& [text, other] : frame.captures)
        if (other.compiled == index) other.graph.reset(), other.outputs.clear(), other.held_inputs.clear();
      return give_up(Reason::CaptureLimit, known);
    }
    const auto start = std::chrono::steady_clock::now();
    auto made = build(f, recorder, c, std::move(*results), *own, compiled);
    compile_ms += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    if (!made) return made;
    tell(first ? Kind::Compile : compile ? Kind::Recompile : Kind::Recapture, reason);
    ++counters.captures;
    counters.recompiles += compile && !first;
    counters.recaptures += !compile;
    compiled.keys.insert(key);
    c.compiled = index;
    c.cores = cores;
    c.shown = shown;
    frame.captures[key] = std::move(c);
    served.by = By::Capture;
    served.reason = reason;
    return made;
  }

  /// The first operator at which this path leaves a known one.
  static std::optional<Loc> first_other(const Frame& frame, const std::string& constants,
                                        const std::vector<TraceEntry>& trace) {
    for (const Compiled& c : frame.compiled) {
      if (c.constants != constants) continue;
      for (size_t i = 0; i < trace.size(); ++i)
        if (i >= c.trace.size() || !(c.trace[i] == trace[i])) return trace[i].loc;
    }
    return {};
  }

  /// The graph of a recording; gives the results of the run, which from now on are memory of the graph.
  Expected<Values> build(const plan::Function& f, Recorder& recorder, Capture& c, Values results,
                         const Values& args, Compiled& compiled) {
    GraphOptions go = base;
    go.guarded = true;
    if (options.use_graph_pool)
      go.pool = pool;
    else if (options.reuse_graph_pool_in_same_fx)
      go.pool = compiled.pool;
    for (const RuntimeValue& v : results) {
      const auto* t = std::get_if<Tensor>(&v);
      c.host_results.push_back(t ? std::nullopt : std::optional(v));
    }
    std::vector<bool> ours;
    for (const RuntimeValue& v : results)
      if (const auto* t = std::get_if<Tensor>(&v)) ours.push_back(recorder.made_by_task(*t));
    plan::Recording recording = recorder.finish(results, {f.name, bindings_of(program, f, args)});
    recording.reuse_operands = options.inplace_pass;
    // An input, state or weight that is returned is handed out as a copy.
    size_t next = 0;
    for (RuntimeValue& v : results) {
      auto* t = std::get_if<Tensor>(&v);
      if (!t) continue;
      if (!ours[next++]) {
        auto copy = copy_of(*t, interpreter.pool());
        if (!copy) return tl::unexpected(copy.error());
        *t = std::move(*copy);
      }
      if (!options.clone_output) c.outputs.push_back(*t);
    }
    go.outputs = c.outputs;
    for (const Tensor& t : c.held_inputs) c.input_owners.push_back(1 - (t ? t.keep.use_count() : 0));
    go.inputs = c.held_inputs;
    auto schedule = hook(program, std::move(recording));
    if (!schedule) return tl::unexpected(schedule.error());
    for (const plan::Buffer& b : schedule->buffers)
      if (b.storage == plan::Storage::State) c.states[b.path] = bindings.state(b.path)->view.data;
    auto graph = Graph::build(program, std::move(*schedule), bindings, workers, std::move(go));
    if (!graph) return tl::unexpected(graph.error());
    c.graph = std::move(*graph);
    for (size_t i = 0; i < c.held_inputs.size(); ++i)
      if (c.held_inputs[i]) c.input_owners[i] += c.held_inputs[i].keep.use_count();
    return results;
  }
};

Captures::Captures(const plan::Program& program, Bindings& bindings, Workers& workers,
                   Interpreter& interpreter, plan::RecordingHook hook, CaptureOptions options,
                   GraphOptions graph)
    : impl_(new Impl{
          program, bindings, workers, interpreter, std::move(hook), options, std::move(graph), {}, {}, {}}) {}
Captures::~Captures() = default;

Expected<Values> Captures::call(const plan::Function& function, Values args, const CallSite& site) {
  return impl_->call(function, std::move(args), site);
}

const CaptureCounters& Captures::counters() const { return impl_->counters; }
const std::vector<CaptureEvent>& Captures::events() const { return impl_->events; }
const std::vector<CaptureFallback>& Captures::fallbacks() const { return impl_->fallbacks; }
const ServedCall& Captures::last() const { return impl_->served; }
double Captures::compile_ms() const { return impl_->compile_ms; }

uint64_t Captures::arena_bytes() const {
  std::map<const void*, uint64_t> arenas;
  for (const auto& [name, frame] : impl_->frames)
    for (const auto& [key, c] : frame.captures)
      if (c.graph) arenas[c.graph->arena().view.data] = static_cast<uint64_t>(c.graph->arena().bytes());
  uint64_t sum = 0;
  for (const auto& [at, bytes] : arenas) sum += bytes;
  return sum;
}

}  // namespace skdsl::exec
