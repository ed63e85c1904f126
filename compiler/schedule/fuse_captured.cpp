// fuse_captured — captured tasks become super kernels, as npugraph_ex makes them
//
// The steps of a recording with their streams and events are the tasks of the capture engine; scopes are told
// to it as the marker kernels that they leave on each stream. Views, notes and prefetches are no tasks: a
// view stands behind what it shows, the others before what follows on their stream.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "compiler/schedule/build.h"
#include "compiler/superkernel/capture.h"
#include "compiler/superkernel/segment.h"

namespace skdsl::schedule {

using namespace plan;
using superkernel::CaptureTask;
using Kind = CaptureTask::Kind;

namespace {

using ScopeName = std::optional<std::string>;  // nothing: a scope without a name

class CaptureFuser {
 public:
  CaptureFuser(Build& b, const ScheduleOptions& options)
      : b_(b),
        options_(options),
        old_(std::move(b.out.steps)),
        open_(b.out.streams.size()),
        done_(old_.size(), 0) {}

  bool run() {
    std::set<BufferId> made;
    for (const Step& s : old_)
      if (!is_event(s)) made.insert(b_.out.tasks[s.task].out.begin(), b_.out.tasks[s.task].out.end());
    for (uint32_t i = 0; i < old_.size(); ++i) {
      if (is_event(old_[i]) || !b_.out.tasks[old_[i].task].view) continue;
      const BufferId shown = b_.out.tasks[old_[i].task].in[0];
      if (made.contains(shown))
        views_[shown].push_back(i);
      else
        push(i, b_.out.steps);  // of an input, a weight or a state
    }
    collect();
    superkernel::CaptureTarget target;
    target.cores = options_.platform;
    auto capture = superkernel::capture_superkernels(tasks_, *options_.capture, target);
    if (!capture) {
      b_.diags
          .report(b_.span(b_.function.loc), diag::Id::SuperKernelRefused, b_.function.name,
                  capture.error().message)
          .help(capture.error().help);
      return false;
    }
    for (const std::string& w : capture->warnings)
      b_.diags.report(b_.span(b_.function.loc), diag::Id::SuperKernelCapture, w);
    for (const auto& c : capture->cuts) cut(c);
    for (const int64_t u : capture->order) {
      if (u >= 0)
        put(step_[static_cast<size_t>(u)], b_.out.steps);
      else
        piece(capture->pieces[static_cast<size_t>(-1 - u)], capture->notes);
    }
    for (uint32_t i = 0; i < old_.size(); ++i) push(i, b_.out.steps);
    return true;
  }

 private:
  bool is_kernel(const Step& s) const { return s.kind == Step::Kind::Call && !b_.out.tasks[s.task].view; }
  bool is_event(const Step& s) const { return s.kind == Step::Kind::Record || s.kind == Step::Kind::Wait; }

  // ---- steps to tasks

  CaptureTask& add(Kind kind, uint32_t stream, uint32_t step) {
    CaptureTask& t = tasks_.emplace_back();
    t.kind = kind;
    t.stream = stream;
    step_.push_back(step);
    return t;
  }

  // The scopes around a task, the outermost first; the inside of `superkernel none` is a scope without a
  // name.
  std::vector<ScopeName> scopes_of(const Task& t) const {
    std::vector<ScopeName> out;
    for (ContextId c = t.context; c != kNone; c = b_.program.contexts[c].parent) {
      const Context& context = b_.program.contexts[c];
      if (context.kind == Context::Kind::NoSuperKernel) out.emplace_back();
      if (context.kind == Context::Kind::SuperKernel) out.emplace_back(context.name);
    }
    std::reverse(out.begin(), out.end());
    return out;
  }

  void enter(uint32_t stream, const std::vector<ScopeName>& want) {
    std::vector<ScopeName>& open = open_[stream];
    size_t same = 0;
    while (same < open.size() && same < want.size() && open[same] == want[same]) ++same;
    while (open.size() > same) {
      add(Kind::End, stream, kNone).scope = open.back();
      open.pop_back();
    }
    for (; same < want.size(); ++same) {
      add(Kind::Begin, stream, kNone).scope = want[same];
      open.push_back(want[same]);
    }
  }

  // A replay fills in the values of host lists anew.
  bool reads_host_list(const Task& t) const {
    const auto& params = b_.function.regions[b_.function.body].args;
    return std::any_of(t.in.begin(), t.in.end(), [&](BufferId id) {
      if (id == kNone) return false;
      const Buffer& b = b_.out.buffers[b_.root[id]];
      return b.storage == Storage::Input && b.index < params.size() &&
             !b_.function.values[params[b.index]].type.is_tensor();
    });
  }

  void kernel(uint32_t i) {
    const Step& s = old_[i];
    const Task& t = b_.out.tasks[s.task];
    for (ContextId c = t.context; c != kNone; c = b_.program.contexts[c].parent)
      if (const Context& scope = b_.program.contexts[c];
          scope.kind == Context::Kind::SuperKernel && !scope.options.empty())
        b_.diags
            .report(b_.span(scope.loc), diag::Id::SuperKernelCapture,
                    "a scope has no options of its own in npugraph_ex, they are not read")
            .help("put them into npugraph_ex.super_kernel_optimize_options, which holds for the whole graph");
    enter(s.stream, scopes_of(t));
    const auto reason = superkernel::unfusable(t.code, options_.cann);
    CaptureTask& c = add(reason == FusionReason::AiCpu ? Kind::Default : Kind::Kernel, s.stream, i);
    c.kernel.id = c.kernel.op_type = std::string(info(t.code).name);
    c.kernel.type = kernel_type(t.core).value_or(KernelType::Aiv);
    c.kernel.block_dim = t.block_dim;
    c.kernel.stream = s.stream;
    // Assumed: one address for each tensor and one for the tiling data.
    c.kernel.params = static_cast<uint32_t>(t.in.size() + t.out.size() + 1);
    c.kernel.code_bytes = info(t.code).code_bytes;
    c.kernel.sync_all = info(t.code).phases > 1;
    c.kernel.task = s.task;
    if (reason && *reason != FusionReason::AiCpu)
      c.unfusable = FusionReason::UnsupportedOp;
    else if (reads_host_list(t))
      c.unfusable = FusionReason::DynamicTask;
  }

  void collect() {
    std::map<uint32_t, std::vector<uint32_t>> triggered;  // task -> prefetches
    for (const Step& s : old_)
      if (s.kind == Step::Kind::Prefetch)
        if (const uint32_t trigger = trigger_of(b_, b_.out.tasks[s.task]); trigger != kNone)
          triggered[trigger].push_back(s.task);
    std::vector<std::pair<uint32_t, uint32_t>> told;  // event of a prefetch, its task
    for (uint32_t i = 0; i < old_.size(); ++i) {
      const Step& s = old_[i];
      if (is_event(s)) {
        add(s.kind == Step::Kind::Record ? Kind::Notify : Kind::Wait, s.stream, i).event = s.event;
      } else if (is_kernel(s)) {
        kernel(i);
        const auto it = triggered.find(s.task);
        if (it == triggered.end()) continue;
        const auto event = static_cast<uint32_t>(b_.out.events.size());
        b_.out.events.push_back(fmt::format("prefetch_{}", it->second.front()));
        add(Kind::Notify, s.stream, kNone).event = event;
        told.emplace_back(event, it->second.front());
      } else if (s.kind == Step::Kind::Note) {
        const Task& t = b_.out.tasks[s.task];
        if (t.code == Opcode::ScopeBegin || t.code == Opcode::ScopeEnd)
          add(t.code == Opcode::ScopeBegin ? Kind::Begin : Kind::End, s.stream, kNone).scope =
              t.attrs[0].text;
      }
    }
    for (uint32_t stream = 0; stream < open_.size(); ++stream) enter(stream, {});
    // The copy engine waits on a queue of its own.
    for (const auto& [event, task] : told)
      add(Kind::Wait, static_cast<uint32_t>(b_.out.streams.size()), kNone).event = event;
  }

  // ---- what came of it

  void cut(const superkernel::CaptureCut& c) {
    uint32_t i = step_[c.node];
    if (i == kNone || c.reason == FusionReason::NotInScope) return;
    // A wait at which a group was split is told by the kernel behind it.
    const uint32_t stream = old_[i].stream;
    while (i < old_.size() && !(old_[i].stream == stream && is_kernel(old_[i]))) ++i;
    if (i == old_.size()) return;
    const Task& t = b_.out.tasks[old_[i].task];
    b_.out.cuts.push_back({c.scope, old_[i].task, c.reason});
    const bool marked = !scopes_of(t).empty();
    if (marked && (c.reason == FusionReason::UnsupportedOp || c.reason == FusionReason::DefaultNode ||
                   c.reason == FusionReason::DynamicTask || c.reason == FusionReason::TooManyCores))
      b_.diags.report(b_.span(t.loc), diag::Id::SuperKernelUnfused, info(t.code).name, row(c.reason).reason)
          .help(std::string(superkernel::remedy(t.code, c.reason)));
  }

  void piece(const superkernel::CapturePiece& p, const std::vector<std::string>& notes) {
    SuperKernel k = p.result.kernel;
    k.notes.insert(k.notes.end(), notes.begin(), notes.end());
    if (p.why != superkernel::CaptureBreak::None)
      k.notes.push_back("ended here: " + std::string(superkernel::row(p.why).reason));
    for (const uint32_t n : p.nodes) put(step_[n], k.body);
    const uint32_t stream = old_[step_[p.kernels.front()]].stream;
    b_.out.steps.push_back(
        {Step::Kind::SuperKernel, static_cast<uint32_t>(b_.out.superkernels.size()), kNone, stream});
    b_.out.superkernels.push_back(std::move(k));
  }

  // A view does no work: it stands right behind what it shows.
  void push(uint32_t i, std::vector<Step>& into) {
    if (done_[i]) return;
    done_[i] = 1;
    into.push_back(old_[i]);
    if (is_event(old_[i])) return;
    for (const BufferId b : b_.out.tasks[old_[i].task].out)
      if (const auto it = views_.find(b); it != views_.end())
        for (const uint32_t v : it->second) push(v, into);
  }

  // Step i, behind the notes and prefetches that stand before it on its stream.
  void put(uint32_t i, std::vector<Step>& into) {
    if (i == kNone) return;
    if (old_[i].kind != Step::Kind::Wait)
      for (uint32_t& j = next_[old_[i].stream]; j < i; ++j)
        if (old_[j].stream == old_[i].stream &&
            (old_[j].kind == Step::Kind::Note || old_[j].kind == Step::Kind::Prefetch))
          push(j, into);
    push(i, into);
  }

  Build& b_;
  const ScheduleOptions& options_;
  const std::vector<Step> old_;
  std::vector<std::vector<ScopeName>> open_;  // by stream
  std::vector<CaptureTask> tasks_;
  std::vector<uint32_t> step_;                       // by capture task; kNone for markers
  std::vector<uint8_t> done_;                        // by old step
  std::map<uint32_t, uint32_t> next_;                // by stream: how far `put` has looked
  std::map<BufferId, std::vector<uint32_t>> views_;  // buffer -> the steps that show it
};

}  // namespace

bool fuse_captured(Build& b, const ScheduleOptions& options) { return CaptureFuser(b, options).run(); }

}  // namespace skdsl::schedule
