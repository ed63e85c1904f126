// fuse — super-kernel scopes become super kernels
//
// The steps with their streams and events are the nodes of a graph; compiler/superkernel says which of them
// make one launch and in which order all runs. Tasks keep their streams and events, so the places in memory
// stay as they are without fusion: a launch orders more than its streams did, never less.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "compiler/schedule/build.h"
#include "compiler/superkernel/segment.h"
#include "compiler/superkernel/superkernel.h"

namespace skdsl::schedule {

using namespace plan;

namespace {

// Recipes report that chains over more streams did not compile (cann-recipes-infer, models/hy3).
constexpr size_t kMaxStreams = 2;

class Fuser {
 public:
  Fuser(Build& b, const ScheduleOptions& options) : b_(b), options_(options) {}

  bool run() {
    read_scopes();
    if (scopes_.empty()) return true;
    nodes();
    std::vector<std::string> bypass;
    for (const auto& [name, scope] : scopes_)
      if (scope.options.text(superkernel::Option::StrictScopeCheck) == "bypass") bypass.push_back(name);
    superkernel::Segments seg = superkernel::segment(nodes_, bypass);
    for (const auto& c : seg.cuts) cut(c);
    std::vector<Step> steps;
    const std::vector<Step> old = std::move(b_.out.steps);
    for (const int64_t u : seg.order) {
      if (u >= 0) {
        steps.push_back(old[static_cast<size_t>(u)]);
        continue;
      }
      const auto& piece = seg.pieces[static_cast<size_t>(-1 - u)];
      if (!make(piece, old)) good_ = false;
      steps.push_back({Step::Kind::SuperKernel, static_cast<uint32_t>(b_.out.superkernels.size() - 1), kNone,
                       first_stream(piece, old)});
    }
    b_.out.steps = std::move(steps);
    return good_;
  }

 private:
  struct Scope {
    superkernel::Options options;
    std::string text;  // the options as written, to see that all its blocks agree
    Loc loc;
  };

  // The innermost scope around a task; "" when there is none or it says `none`.
  std::string scope_of(const Task& t) const {
    for (ContextId c = t.context; c != kNone; c = b_.program.contexts[c].parent) {
      if (b_.program.contexts[c].kind == Context::Kind::NoSuperKernel) return "";
      if (b_.program.contexts[c].kind == Context::Kind::SuperKernel) return b_.program.contexts[c].name;
    }
    return "";
  }

  void read_scopes() {
    for (const Context& c : b_.program.contexts) {
      if (c.kind != Context::Kind::SuperKernel) continue;
      Scope s;
      s.loc = c.loc;
      for (const auto& [key, value] : c.options) s.text += fmt::format("{}={}:", key, value);
      const auto it = scopes_.find(c.name);
      if (it != scopes_.end()) {
        if (it->second.text != s.text) {
          good_ = false;
          b_.diags
              .report(b_.span(c.loc), diag::Id::SuperKernelRefused, c.name,
                      "its blocks carry different options")
              .note(b_.span(it->second.loc), "the first block of this name")
              .help(
                  "equal names are one scope: write the same options everywhere, or give this block another "
                  "name");
        }
        continue;
      }
      for (const auto& [key, value] : c.options)
        if (auto ok = superkernel::add_option(s.options, key, value); !ok) {
          good_ = false;
          b_.diags.report(b_.span(c.loc), diag::Id::SuperKernelOption, ok.error().message)
              .help(ok.error().help);
        }
      scopes_.emplace(c.name, std::move(s));
    }
  }

  bool is_kernel(const Step& s) const { return s.kind == Step::Kind::Call && !b_.out.tasks[s.task].view; }

  void nodes() {
    const auto& steps = b_.out.steps;
    nodes_.resize(steps.size());
    std::vector<uint32_t> last(b_.out.streams.size(), kNone);         // by stream: the last step with work
    std::vector<std::vector<uint32_t>> waits(b_.out.streams.size());  // since then
    std::vector<uint32_t> recorded(b_.out.events.size(), kNone);
    std::vector<uint32_t> made(b_.out.buffers.size(), kNone);  // by buffer: the step that gives it
    std::vector<uint32_t> step_of(b_.out.tasks.size(), kNone);
    for (uint32_t i = 0; i < steps.size(); ++i) {
      const Step& s = steps[i];
      superkernel::Node& n = nodes_[i];
      n.transparent = !is_kernel(s);
      const auto need = [&](uint32_t before) {
        if (before != kNone && before != i &&
            std::find(n.before.begin(), n.before.end(), before) == n.before.end())
          n.before.push_back(before);
      };
      if (s.kind == Step::Kind::Record) {
        need(last[s.stream]);
        for (const uint32_t w : waits[s.stream]) need(w);
        recorded[s.event] = i;
        continue;
      }
      if (s.kind == Step::Kind::Wait) {
        // A wait holds back what follows on its stream; it may itself come earlier.
        need(recorded[s.event]);
        waits[s.stream].push_back(i);
        continue;
      }
      const Task& t = b_.out.tasks[s.task];
      step_of[s.task] = i;
      for (const BufferId b : t.in)
        if (b != kNone) need(made[b]);
      for (const BufferId b : t.out) made[b] = i;
      if (s.kind == Step::Kind::Prefetch) continue;  // its trigger is settled below
      // A view does no work, yet the plan counts on it before what follows on its stream may write over its
      // bytes.
      need(last[s.stream]);
      for (const uint32_t w : waits[s.stream]) need(w);
      waits[s.stream].clear();
      last[s.stream] = i;
      if (!is_kernel(s)) continue;
      n.scope = scope_of(t);
      n.unfusable = superkernel::unfusable(t.code, options_.cann);
    }
    for (uint32_t i = 0; i < steps.size(); ++i) {
      if (steps[i].kind != Step::Kind::Prefetch) continue;
      const uint32_t trigger = trigger_of(b_, b_.out.tasks[steps[i].task]);
      if (trigger == kNone) continue;
      trigger_[trigger].push_back(steps[i].task);
      // A prefetch that stands before its trigger is issued by the trigger and needs no place behind it.
      if (step_of[trigger] < i) nodes_[i].before.push_back(step_of[trigger]);
    }
  }

  void cut(const superkernel::Segments::Cut& c) {
    const Step& s = b_.out.steps[c.node];
    if (s.kind != Step::Kind::Call) return;  // a note between: the op behind it tells
    b_.out.cuts.push_back({c.scope, s.task, c.reason});
    const Task& t = b_.out.tasks[s.task];
    if (c.reason == FusionReason::Between || c.reason == FusionReason::Cycle) return;
    const FusionReasonRow& why = row(c.reason);
    if (c.reason != FusionReason::Bypass)
      b_.diags
          .report(b_.span(t.loc),
                  c.reason == FusionReason::Collective ? diag::Id::SuperKernelCollective
                                                       : diag::Id::SuperKernelUnfused,
                  info(t.code).name, why.reason)
          .help(std::string(superkernel::remedy(t.code, c.reason)));
    if (scopes_.at(c.scope).options.text(superkernel::Option::StrictScopeCheck) == "abort") {
      good_ = false;
      b_.diags
          .report(b_.span(t.loc), diag::Id::SuperKernelRefused, c.scope,
                  fmt::format("strict-scope-check=abort and `{}` does not fuse: {}", info(t.code).name,
                              why.reason))
          .help(std::string(superkernel::remedy(t.code, c.reason)));
    }
  }

  uint32_t first_stream(const std::vector<uint32_t>& piece, const std::vector<Step>& steps) const {
    for (const uint32_t n : piece)
      if (is_kernel(steps[n])) return steps[n].stream;
    return 0;
  }

  // The cores that `cores` blocks leave to the kernels; those of the device where there is none.
  superkernel::Platform cores_around(const std::vector<superkernel::SubKernel>& kernels) const {
    superkernel::Platform most{0, 0};
    for (const auto& k : kernels) {
      const superkernel::Platform own =
          cores_for(b_.program, b_.out.tasks[k.task].context, options_.platform);
      most.aic = std::max(most.aic, own.aic);
      most.aiv = std::max(most.aiv, own.aiv);
    }
    return most;
  }

  std::string op_name(const Task& t) const {
    return t.path.empty() ? std::string(info(t.code).name) : fmt::format("{}.{}", t.path, info(t.code).name);
  }

  bool make(const std::vector<uint32_t>& piece, const std::vector<Step>& steps) {
    std::vector<superkernel::SubKernel> kernels;
    std::map<uint32_t, size_t> latest;                  // stream -> its last kernel so far
    std::map<uint32_t, uint32_t> sender;                // event recorded inside -> its kernel
    std::map<uint32_t, std::vector<uint32_t>> waiting;  // stream -> events the next kernel receives
    std::string scope;
    SuperKernel& out = b_.out.superkernels.emplace_back();
    for (const uint32_t n : piece) {
      const Step& s = steps[n];
      out.body.push_back(s);
      if (s.kind == Step::Kind::Record) {
        if (const auto it = latest.find(s.stream); it != latest.end())
          sender[s.event] = static_cast<uint32_t>(it->second);
        continue;
      }
      if (s.kind == Step::Kind::Wait) {
        if (sender.contains(s.event)) waiting[s.stream].push_back(s.event);
        continue;
      }
      if (!is_kernel(s)) continue;
      const Task& t = b_.out.tasks[s.task];
      scope = scope_of(t);
      superkernel::SubKernel k;
      k.id = op_name(t);
      k.op_type = std::string(info(t.code).name);
      k.type = kernel_type(t.core).value_or(KernelType::Aiv);
      k.block_dim = t.block_dim;
      k.stream = t.stream;
      // Assumed: one address for each tensor and one for the tiling data.
      k.params = static_cast<uint32_t>(t.in.size() + t.out.size() + 1);
      k.code_bytes = info(t.code).code_bytes;
      k.sync_all = info(t.code).phases > 1;
      k.task = s.task;
      const auto listed = [&](superkernel::Option o) {
        const auto list = scopes_.at(scope).options.list(o);
        return std::find(list.begin(), list.end(), k.op_type) != list.end();
      };
      k.dcci_before = listed(superkernel::Option::DcciBefore);
      k.dcci_after = listed(superkernel::Option::DcciAfter);
      k.dcci_disable = listed(superkernel::Option::DcciDisable);
      for (const uint32_t e : waiting[s.stream]) {
        superkernel::SubKernel& from = kernels[sender[e]];
        if (std::find(from.send_events.begin(), from.send_events.end(), e) == from.send_events.end())
          from.send_events.push_back(e);
        k.recv_events.push_back(e);
      }
      waiting[s.stream].clear();
      latest[s.stream] = kernels.size();
      kernels.push_back(std::move(k));
    }
    // What a kernel triggers outside is told by a memory event; behind the last kernel the launch itself
    // tells.
    for (size_t i = 0; i + 1 < kernels.size(); ++i)
      if (const auto it = trigger_.find(kernels[i].task); it != trigger_.end()) {
        kernels[i].send_events.push_back(static_cast<uint32_t>(b_.out.events.size()));
        b_.out.events.push_back(fmt::format("prefetch_{}", it->second.front()));
      }
    out.scope = scope;
    const Loc loc = b_.out.tasks[kernels.front().task].loc;
    std::set<uint32_t> streams;
    for (const auto& k : kernels)
      if (streams.insert(k.stream).second && streams.size() == kMaxStreams + 1) {
        std::string names;
        for (const uint32_t s : streams)
          names += fmt::format("{}`{}`", names.empty() ? "" : ", ", b_.out.streams[s]);
        b_.diags
            .report(b_.span(b_.out.tasks[k.task].loc), diag::Id::SuperKernelRefused, scope,
                    fmt::format(
                        "it takes kernels of {} streams ({}), at most {} are fused; `{}` adds the last one",
                        streams.size(), names, kMaxStreams, k.op_type))
            .help("keep the scope on two streams, or end it before this op");
        return false;
      }
    const auto result =
        superkernel::compile_superkernel(kernels, scopes_.at(scope).options, cores_around(kernels));
    if (!result) {
      const std::string& option = result.error().option;
      const bool cores = option == "debug-aic-num" || option == "debug-aiv-num";
      const diag::Id id = !cores                       ? diag::Id::SuperKernelRefused
                          : result.error().wrong_ratio ? diag::Id::SuperKernelCoreRatio
                                                       : diag::Id::SuperKernelCores;
      auto report =
          b_.diags.report(b_.span(cores ? scopes_.at(scope).loc : loc), id, scope, result.error().message);
      if (!result.error().help.empty()) report.help(result.error().help);
      return false;
    }
    for (const uint32_t k : result->hangs) {
      const SkKernel& hung = result->kernel.kernels[k];
      b_.diags
          .report(b_.span(b_.out.tasks[hung.task].loc), diag::Id::SuperKernelSyncAll, kernels[k].op_type,
                  hung.block_dim, result->kernel.block_dim)
          .help("set feed-sync-all=1 on the scope, or keep the op out of it");
    }
    std::vector<Step> body = std::move(out.body);
    out = result->kernel;
    out.scope = scope;
    out.notes = result->deviations;
    out.notes.insert(out.notes.end(), result->warnings.begin(), result->warnings.end());
    out.body = std::move(body);
    out.name = superkernel::fused_name(scope, kernels.front().id, kernels.back().id);
    if (const uint32_t again = names_[out.name]++; again > 0) out.name += fmt::format("_{}", again);
    return result->hangs.empty();
  }

  Build& b_;
  const ScheduleOptions& options_;
  std::map<std::string, Scope> scopes_;
  std::vector<superkernel::Node> nodes_;
  std::map<uint32_t, std::vector<uint32_t>> trigger_;  // task -> prefetches that wait for it
  std::map<std::string, uint32_t> names_;
  bool good_ = true;
};

}  // namespace

uint32_t trigger_of(const Build& b, const Task& prefetch) {
  const auto& tasks = b.out.tasks;
  uint32_t found = kNone;
  if (!prefetch.in.empty() && prefetch.in[0] != kNone) {
    for (uint32_t t = 0; t < tasks.size(); ++t)
      for (const BufferId out : tasks[t].out)
        if (!tasks[t].view && b.root[out] == b.root[prefetch.in[0]]) found = t;
    return found;
  }
  const std::string& path = prefetch.attrs.size() > 1 ? prefetch.attrs[1].text : std::string();
  if (path.empty()) return kNone;
  const std::string inside = path + ".";
  for (uint32_t t = 0; t < tasks.size(); ++t)
    if (info(tasks[t].code).has_kernel() && !tasks[t].view &&
        (tasks[t].path == path || tasks[t].path.starts_with(inside)))
      found = t;
  return found;
}

bool fuse(Build& b, const ScheduleOptions& options) { return Fuser(b, options).run(); }

}  // namespace skdsl::schedule
