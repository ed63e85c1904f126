// verify_schedule — what a static graph must hold before an executor touches it
//
// After ids and shapes the steps are played through once. Each arena buffer is valid from the task that
// writes it until somebody else writes over its bytes; reading an invalid one is the error that a bad memory
// plan makes. Vector clocks, one for each stream, tell which steps events order: bytes that two streams touch
// without such an order are the error that a missing event makes.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "runtime/plan/plan.h"
#include "runtime/plan/text.h"

namespace skdsl::plan {

namespace {

constexpr size_t kMaxMessages = 100;
constexpr uint64_t kAlignment = 64;

// How far each stream had come: `clock[s]` steps of stream s are certainly done.
using Clock = std::vector<uint32_t>;

void join(Clock& into, const Clock& from) {
  for (size_t i = 0; i < into.size(); ++i) into[i] = std::max(into[i], from[i]);
}
bool done_before(const Clock& uses, const Clock& now) {
  for (size_t i = 0; i < uses.size(); ++i)
    if (uses[i] > now[i]) return false;
  return true;
}

class Verifier {
 public:
  Verifier(const Schedule& s, const Program& p) : s_(s), p_(p) {}

  std::vector<std::string> run() {
    tables();
    for (size_t i = 0; i < s_.buffers.size(); ++i) buffer(i);
    ends();
    for (size_t i = 0; i < s_.tasks.size(); ++i) task(i);
    for (size_t i = 0; i < s_.steps.size(); ++i) step(s_.steps[i], fmt::format("step {}", i));
    for (size_t i = 0; i < s_.superkernels.size(); ++i) superkernel(i);
    for (const FusionCut& c : s_.cuts)
      if (c.task >= s_.tasks.size() || c.reason >= FusionReason::kCount)
        say("a cut of scope `{}` names task {} of {}", c.scope, c.task, s_.tasks.size());
    if (messages_.empty()) play();
    return std::move(messages_);
  }

 private:
  template <class... Args>
  void say(fmt::format_string<Args...> format, Args&&... args) {
    if (messages_.size() < kMaxMessages)
      messages_.push_back(fmt::format("schedule of `{}`: ", s_.function) +
                          fmt::format(format, std::forward<Args>(args)...));
  }

  void tables() {
    if (p_.find(s_.function) == nullptr) say("the program has no such function");
    for (size_t i = 1; i < s_.bindings.size(); ++i)
      if (!(s_.bindings[i - 1].first < s_.bindings[i].first)) say("bindings are not sorted by name");
    if (s_.streams.empty() || s_.streams[0] != "main") say("the first stream is not `main`");
    const std::unordered_set<std::string> streams(s_.streams.begin(), s_.streams.end());
    if (streams.size() != s_.streams.size()) say("a stream stands twice");
    for (const ConstantData& c : s_.constants)
      if (c.dtype > DType::Bool || c.dtype == DType::None ||
          text::byte_size(c.dtype, c.shape) != c.bytes.size())
        say("a constant has {} bytes, its dtype and shape need another number", c.bytes.size());
    for (const WeightDecl& w : p_.weights) weights_.emplace(w.path, &w.type);
    for (const ConstDecl& c : p_.consts) weights_.emplace(c.path, &c.type);
    for (const StateDecl& d : p_.states) states_.emplace(d.path, &d.type);
    bytes_.assign(s_.buffers.size(), 0);
  }

  void buffer(size_t i) {
    const Buffer& b = s_.buffers[i];
    const bool stored = b.storage == Storage::Weight && b.dtype == DType::Stored;
    if (b.storage > Storage::Constant) return say("buffer {} lives nowhere", i);
    if (!stored && (b.dtype == DType::None || b.dtype > DType::Bool)) return say("buffer {} has no dtype", i);
    if (b.shape.size() > SK_MAX_RANK) return say("buffer {} has rank {}", i, b.shape.size());
    const auto bytes = text::byte_size(stored ? DType::I64 : b.dtype, b.shape);
    if (!bytes) return say("buffer {} has a negative or huge shape", i);
    bytes_[i] = *bytes;
    switch (b.storage) {
      case Storage::Input:
        if (b.index >= s_.inputs.size())
          return say("buffer {} is input {} of {}", i, b.index, s_.inputs.size());
        if (const BufferId whole = s_.inputs[b.index];
            whole >= s_.buffers.size() || s_.buffers[whole].dtype != b.dtype ||
            text::byte_size(s_.buffers[whole].dtype, s_.buffers[whole].shape) != *bytes)
          say("buffer {} does not have the bytes of input {}", i, b.index);
        return;
      case Storage::Constant: {
        const ConstantData* c = constant(p_, s_, b.index);
        if (c == nullptr || c->dtype != b.dtype || c->bytes.size() != *bytes)
          say("buffer {} does not match constant {}", i, b.index);
        return;
      }
      case Storage::Arena:
        if (b.offset % kAlignment != 0)
          say("buffer {} stands at {}, which is not a multiple of {}", i, b.offset, kAlignment);
        if (b.offset > s_.arena_bytes || *bytes > s_.arena_bytes - b.offset)
          say("buffer {} ends behind the arena of {} bytes", i, s_.arena_bytes);
        return;
      case Storage::Weight:
        return declared(i, weights_, "weight or const");
      case Storage::State:
        return declared(i, states_, "state");
    }
  }

  using Declared = std::unordered_map<std::string_view, const Type*>;
  void declared(size_t i, const Declared& table, std::string_view kind) {
    const Buffer& b = s_.buffers[i];
    const auto it = table.find(b.path);
    if (it == table.end()) return say("buffer {} names `{}`, which is not a {}", i, b.path, kind);
    std::vector<int64_t> shape;
    for (const Dim& d : it->second->dims) shape.push_back(d.is_constant() ? d.constant() : -1);
    const auto bytes = text::byte_size(b.dtype == DType::Stored ? DType::I64 : b.dtype, shape);
    if (it->second->dtype != b.dtype || bytes != bytes_[i])
      say("buffer {} does not match the declaration of `{}`", i, b.path);
  }

  void ends() {
    for (size_t i = 0; i < s_.inputs.size(); ++i) {
      const BufferId b = s_.inputs[i];
      if (b == kNone) continue;
      if (b >= s_.buffers.size())
        say("input {} is buffer {} of {}", i, b, s_.buffers.size());
      else if (s_.buffers[b].storage != Storage::Input || s_.buffers[b].index != i)
        say("buffer {} is not input {}", b, i);
    }
    for (const BufferId b : s_.outputs) {
      if (b >= s_.buffers.size())
        say("an output is buffer {} of {}", b, s_.buffers.size());
      else if (s_.buffers[b].storage != Storage::Arena)
        say("output buffer {} is not in the arena", b);
    }
  }

  void task(size_t i) {
    const Task& t = s_.tasks[i];
    if (t.code >= Opcode::kCount) return say("task {} has an unknown operator", i);
    const OpInfo& row = info(t.code);
    const size_t n = row.n_operands();
    const bool variadic = n > 0 && operand_param(row, n - 1).variadic;
    if (variadic ? t.in.size() < n - 1 : t.in.size() != n)
      say("task {} (`{}`) has {} operands", i, row.name, t.in.size());
    for (size_t k = 0; k < t.in.size(); ++k)
      if (t.in[k] == kNone ? n == 0 || !operand_param(row, k).optional : t.in[k] >= s_.buffers.size())
        say("task {} (`{}`) has no operand {}", i, row.name, k);
    for (const BufferId b : t.out)
      if (b >= s_.buffers.size())
        say("task {} (`{}`) writes buffer {} of {}", i, row.name, b, s_.buffers.size());
    const bool any_results = row.results.size() == 1 && row.results[0].ends_with("…");
    if (!any_results && t.out.size() != row.results.size())
      say("task {} (`{}`) has {} results", i, row.name, t.out.size());
    if (t.attrs.size() != row.n_attrs())
      return say("task {} (`{}`) has {} attributes", i, row.name, t.attrs.size());
    for (size_t k = 0; k < t.attrs.size(); ++k) attribute(i, attr_param(row, k), t.attrs[k]);
    if (t.stream >= s_.streams.size()) say("task {} is on stream {} of {}", i, t.stream, s_.streams.size());
    if (t.context != kNone && t.context >= p_.contexts.size())
      say("task {} has context {} of {}", i, t.context, p_.contexts.size());
    if (t.core > Core::Host) say("task {} has no known core", i);
    if (t.loc.file != 0 && t.loc.file >= p_.files.size()) say("task {} stands in file {}", i, t.loc.file);
    if (t.view && (!row.has(kView) || t.in.empty() || t.out.size() != 1))
      say("task {} (`{}`) is no view", i, row.name);
  }

  void attribute(size_t i, const Param& param, const TaskAttr& a) {
    bool good = a.type == param.attr;
    const bool only_i = a.f == 0 && a.list.empty() && a.text.empty();
    switch (param.attr) {
      case AttrType::Int:
        good &= only_i;
        break;
      case AttrType::Bool:
        good &= only_i && (a.i == 0 || a.i == 1);
        break;
      case AttrType::DType:
        good &= only_i && a.i >= SK_NONE && a.i <= SK_BOOL;
        break;
      case AttrType::Float:
        good &= a.i == 0 && a.list.empty() && a.text.empty();
        break;
      case AttrType::IntList:
        good &= a.i == 0 && a.f == 0 && a.text.empty();
        break;
      case AttrType::Str:
        good &= a.i == 0 && a.f == 0 && a.list.empty();
        break;
      case AttrType::Choice: {
        std::string_view rest = param.choices;
        int64_t index = 0;
        for (size_t bar; index < a.i && (bar = rest.find('|')) != std::string_view::npos; ++index)
          rest.remove_prefix(bar + 1);
        good &= a.f == 0 && a.list.empty() && index == a.i && rest.substr(0, rest.find('|')) == a.text;
        break;
      }
    }
    if (!good) say("attribute `{}` of task {} is malformed", param.name, i);
  }

  void step(const Step& x, const std::string& what) {
    if (x.kind > Step::Kind::SuperKernel) return say("{} has an unknown kind", what);
    if (x.stream >= s_.streams.size())
      return say("{} is on stream {} of {}", what, x.stream, s_.streams.size());
    if (x.kind == Step::Kind::Record || x.kind == Step::Kind::Wait) {
      if (x.event >= s_.events.size()) say("{} names event {} of {}", what, x.event, s_.events.size());
      return;
    }
    if (x.kind == Step::Kind::SuperKernel) {
      if (x.task >= s_.superkernels.size())
        return say("{} runs super kernel {} of {}", what, x.task, s_.superkernels.size());
      if (!launched_.insert(x.task).second) say("super kernel {} runs twice", x.task);
      return;
    }
    if (x.task >= s_.tasks.size()) return say("{} runs task {} of {}", what, x.task, s_.tasks.size());
    const Task& t = s_.tasks[x.task];
    if (t.code >= Opcode::kCount) return;
    if (t.stream != x.stream) say("{} runs task {} on another stream", what, x.task);
    if (used_.insert(x.task).second == false) say("task {} runs twice", x.task);
    const OpInfo& row = info(t.code);
    const bool fits = x.kind == Step::Kind::Call ? row.has_kernel()
                      : x.kind == Step::Kind::Prefetch
                          ? t.code == Opcode::Prefetch
                          : row.category == "schedule" && t.code != Opcode::Prefetch;
    if (!fits) say("{} cannot be a {} of `{}`", what, text::name(x.kind), row.name);
  }

  void superkernel(size_t i) {
    const SuperKernel& k = s_.superkernels[i];
    const std::string what = fmt::format("super kernel {}", i);
    if (!launched_.contains(static_cast<uint32_t>(i))) say("{} is never run", what);
    for (const Step& x : k.body) {
      if (x.kind == Step::Kind::SuperKernel) return say("{} holds another one", what);
      step(x, "a step inside " + what);
    }
    // Its kernels are the calls of its body that do work, in that order.
    std::vector<uint32_t> calls;
    for (const Step& x : k.body)
      if (x.kind == Step::Kind::Call && x.task < s_.tasks.size() && !s_.tasks[x.task].view)
        calls.push_back(x.task);
    if (k.kernels.empty()) return say("{} holds no kernel", what);
    bool fits = calls.size() == k.kernels.size();
    for (size_t n = 0; fits && n < calls.size(); ++n) {
      const SkKernel& x = k.kernels[n];
      fits = x.task == calls[n] && kernel_type(s_.tasks[x.task].core) == x.type &&
             (x.dynamic || s_.tasks[x.task].block_dim == x.block_dim) && s_.tasks[x.task].stream == x.stream;
    }
    if (!fits) return say("the kernels of {} are not the tasks of its body", what);
    for (const Side s : kSides) {
      if (!runs_on(k.type, s) && !k.of(s).empty())
        say("{} has steps for {} cores, which it does not launch", what, name(s));
      for (const SkStep& x : k.of(s)) {
        if (x.kind >= SkStep::Kind::kCount) return say("{} has a step of no kind", what);
        for (const StepField f : row(x.kind).fields)
          if (f == StepField::Of && x.of >= k.kernels.size())
            return say("a step of {} names kernel {} of {}", what, x.of, k.kernels.size());
        if (x.config > 10 || (x.config & 3) == 3)
          return say("a step of {} names an unknown pair of kernels", what);
      }
    }
    const SkAnalysis seen = analyse(k);
    if (!seen.ends) say("{} never ends: a side waits for what the other does not give", what);
    if (!seen.flags_balanced) say("{} leaves a flag raised", what);
    if (!seen.all_mix_matches) say("{} meets all cores on one side only", what);
    if (!seen.every_kernel_called) say("{} does not call each kernel once on each of its sides", what);
    if (!seen.feed_end_published) say("{} leaves idle cores waiting for a SyncAll that has ended", what);
    for (const SkDependency& d : seen.unenforced)
      say("{} lets task {} start before task {} is done", what, k.kernels[d.after].task,
          k.kernels[d.before].task);
  }

  // ---- the play
  struct Touched {
    Clock writes, reads;
  };

  bool arena(BufferId b) const { return s_.buffers[b].storage == Storage::Arena; }
  bool overlap(BufferId a, BufferId b) const {
    if (bytes_[a] == 0 || bytes_[b] == 0) return false;
    const uint64_t x = s_.buffers[a].offset, y = s_.buffers[b].offset;
    return x < y + bytes_[b] && y < x + bytes_[a];
  }
  bool same_place(BufferId a, BufferId b) const {
    const Buffer& x = s_.buffers[a];
    const Buffer& y = s_.buffers[b];
    return x.storage == y.storage && bytes_[a] == bytes_[b] && x.offset == y.offset && x.index == y.index &&
           x.path == y.path;
  }

  // What a buffer's accesses are noted under: arena buffers each for themselves, states by path.
  Touched& touched(BufferId b) {
    auto& t = s_.buffers[b].storage == Storage::State ? state_touched_[s_.buffers[b].path] : touched_[b];
    if (t.writes.empty()) {
      if (arena(b)) used_bytes_.insert(b);
      t.writes.assign(s_.streams.size(), 0);
      t.reads.assign(s_.streams.size(), 0);
    }
    return t;
  }

  void play() {
    clocks_.assign(s_.streams.size(), Clock(s_.streams.size(), 0));
    valid_.assign(s_.buffers.size(), 0);
    touched_.resize(s_.buffers.size());
    std::vector<const Clock*> recorded(s_.events.size(), nullptr);
    std::vector<Clock> records(s_.events.size());
    const auto play_step = [&](const Step& x) {
      Clock& now = clocks_[x.stream];
      // The step's own number on its stream; its predecessors there are done.
      switch (x.kind) {
        case Step::Kind::Record:
          records[x.event] = now;
          recorded[x.event] = &records[x.event];
          break;
        case Step::Kind::Wait:
          if (recorded[x.event] == nullptr)
            say("a step waits for event `{}`, which no earlier step records", s_.events[x.event]);
          else
            join(now, records[x.event]);
          break;
        case Step::Kind::Call:
        case Step::Kind::Note:
          run_task(x);
          break;
        case Step::Kind::Prefetch:
        case Step::Kind::SuperKernel:
          break;
      }
    };
    for (const Step& x : s_.steps) {
      if (x.kind != Step::Kind::SuperKernel) {
        play_step(x);
        continue;
      }
      // The launch waits for all its streams and they all go on behind it; inside, one kernel follows the
      // other, or the streams run beside each other as far as its events allow.
      const SuperKernel& k = s_.superkernels[x.task];
      std::unordered_set<uint32_t> streams{x.stream};
      for (const Step& inner : k.body) streams.insert(inner.stream);
      const auto meet = [&] {
        if (streams.size() == 1) return;
        Clock all = clocks_[x.stream];
        for (const uint32_t s : streams) join(all, clocks_[s]);
        for (const uint32_t s : streams) clocks_[s] = all;
      };
      meet();
      for (const Step& inner : k.body) {
        play_step(inner);
        if (!k.two_stream) meet();
      }
      meet();
    }
    for (const BufferId b : s_.outputs)
      if (arena(b) && !valid_[b]) say("output buffer {} does not hold its value at the end", b);
    for (size_t t = 0; t < s_.tasks.size(); ++t)
      if (!used_.contains(static_cast<uint32_t>(t))) say("task {} is never run", t);
  }

  void run_task(const Step& x) {
    const Task& t = s_.tasks[x.task];
    const OpInfo& row = info(t.code);
    Clock& now = clocks_[x.stream];
    const uint32_t mine = now[x.stream] + 1;
    // Names and promises read no bytes.
    const bool reads = x.kind == Step::Kind::Call || t.code == Opcode::Tap || t.code == Opcode::WaitTensor;
    for (size_t k = 0; k < t.in.size() && reads; ++k) {
      const BufferId b = t.in[k];
      if (b == kNone) continue;
      if (arena(b) && !valid_[b])
        say("task {} (`{}`) reads buffer {}, whose bytes nobody wrote or somebody wrote over", x.task,
            row.name, b);
      // A view is no work: whoever reads through it waits for what it shows.
      if (t.view || (!arena(b) && s_.buffers[b].storage != Storage::State)) continue;
      Touched& seen = touched(b);
      if (!done_before(seen.writes, now))
        say("task {} (`{}`) reads buffer {}, which another stream writes without an event between them",
            x.task, row.name, b);
      seen.reads[x.stream] = mine;
    }
    if (t.view) {
      if (!same_place(t.in[0], t.out[0])) say("task {} is a view of other bytes than its operand's", x.task);
      if (arena(t.out[0])) {
        valid_[t.out[0]] = 1;
        Touched& view = touched(t.out[0]);
        join(view.writes, touched(t.in[0]).writes);
      }
    } else {
      if (row.has(kInPlace) && x.kind == Step::Kind::Call) write_in_place(x, t, mine);
      for (const BufferId b : t.out) write(x, t, b, mine);
    }
    now[x.stream] = mine;
  }

  void write_in_place(const Step& x, const Task& t, uint32_t mine) {
    const BufferId b = t.in.empty() ? kNone : t.in[0];
    if (b == kNone || s_.buffers[b].storage != Storage::State)
      return say("task {} (`{}`) writes a buffer that is not a state", x.task, info(t.code).name);
    Touched& seen = touched(b);
    Clock before = seen.reads;
    before[x.stream] = 0;
    if (!done_before(before, clocks_[x.stream]))
      say("task {} (`{}`) writes state `{}`, which another stream reads without an event between them",
          x.task, info(t.code).name, s_.buffers[b].path);
    seen.writes[x.stream] = mine;
  }

  void write(const Step& x, const Task& t, BufferId b, uint32_t mine) {
    const OpInfo& row = info(t.code);
    if (s_.buffers[b].storage != Storage::Arena)
      return say("task {} (`{}`) writes buffer {}, which is not in the arena", x.task, row.name, b);
    for (size_t k = 0; k < t.in.size(); ++k) {
      if (t.in[k] == kNone || !arena(t.in[k]) || !overlap(t.in[k], b)) continue;
      // Element i may be written once element i of the operands was read, and at no other place.
      if (!row.has(kElementwise) || !same_place(t.in[k], b) || x.kind != Step::Kind::Call)
        say("task {} (`{}`) writes over its operand {}", x.task, row.name, k);
    }
    for (const BufferId other : t.out)
      if (other != b && arena(other) && overlap(other, b))
        say("two results of task {} (`{}`) share bytes", x.task, row.name);
    for (auto it = used_bytes_.begin(); it != used_bytes_.end();) {
      const BufferId other = *it;
      if (!overlap(other, b)) {
        ++it;
        continue;
      }
      it = used_bytes_.erase(it);
      Clock before = touched_[other].reads;
      join(before, touched_[other].writes);
      before[x.stream] = 0;
      if (!done_before(before, clocks_[x.stream]))
        say("task {} (`{}`) writes buffer {} over buffer {}, which another stream uses without an event "
            "between them",
            x.task, row.name, b, other);
      valid_[other] = 0;
      touched_[other] = {};
    }
    valid_[b] = 1;
    touched(b).writes[x.stream] = mine;
  }

  const Schedule& s_;
  const Program& p_;
  std::vector<std::string> messages_;
  Declared weights_, states_;
  std::vector<uint64_t> bytes_;
  std::unordered_set<uint32_t> used_, launched_;
  std::vector<Clock> clocks_;
  std::vector<uint8_t> valid_;
  std::vector<Touched> touched_;
  std::set<BufferId> used_bytes_;  // arena buffers that were touched since somebody last wrote over them
  std::unordered_map<std::string, Touched> state_touched_;
};

}  // namespace

std::vector<std::string> verify(const Schedule& schedule, const Program& program) {
  return Verifier(schedule, program).run();
}

std::vector<std::string> verify(const Plan& plan) {
  auto messages = verify(plan.program);
  for (const Schedule& s : plan.schedules)
    for (std::string& m : verify(s, plan.program)) messages.push_back(std::move(m));
  return messages;
}

}  // namespace skdsl::plan
