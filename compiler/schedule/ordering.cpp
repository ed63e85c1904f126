// ordering — events where data flows from one stream to another
//
// Tasks of one stream run in the order of the program. A task that needs what a task of another stream wrote,
// or that overwrites a state another stream still reads, waits for an event recorded right behind that task,
// unless the events in the program order the two already.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "compiler/schedule/build.h"

namespace skdsl::schedule {

using namespace plan;

namespace {

class Order {
 public:
  explicit Order(Build& b) : b_(b), streams_(b.out.streams.size()), now_(streams_, Clock(streams_, 0)) {}

  bool run() {
    b_.start.assign(b_.out.tasks.size(), {});
    b_.number.assign(b_.out.tasks.size(), 0);
    done_.assign(b_.out.tasks.size(), {});
    std::vector<std::optional<Clock>> recorded(b_.out.events.size());
    std::vector<Step> steps;
    std::vector<size_t> behind(b_.out.tasks.size(), 0);  // where an event behind a task would be recorded
    std::map<size_t, Step> records;
    bool good = true;
    for (const Item& item : b_.items) {
      Clock& now = now_[item.stream];
      if (item.kind == Step::Kind::Record) {
        recorded[item.index] = now;
        steps.push_back({item.kind, kNone, item.index, item.stream});
      } else if (item.kind == Step::Kind::Wait) {
        if (!recorded[item.index]) {
          good = false;
          b_.diags
              .report(b_.span(item.loc), diag::Id::WaitBeforeRecord, short_name(b_.out.events[item.index]))
              .help("record the event on the other stream first");
          continue;
        }
        join(now, *recorded[item.index]);
        steps.push_back({item.kind, kNone, item.index, item.stream});
      } else {
        const Task& t = b_.out.tasks[item.index];
        for (const uint32_t before : needed(item.index)) {
          if (now[b_.out.tasks[before].stream] >= b_.number[before]) continue;
          const auto [it, missing] = implied_.emplace(before, static_cast<uint32_t>(b_.out.events.size()));
          if (missing) {
            if (b_.events_are_explicit) good = false, missing_edge(before, item.index);
            b_.out.events.push_back(fresh_name(before));
            records.emplace(behind[before],
                            Step{Step::Kind::Record, kNone, it->second, b_.out.tasks[before].stream});
          }
          join(now, done_[before]);
          steps.push_back({Step::Kind::Wait, kNone, it->second, t.stream});
        }
        b_.start[item.index] = now;
        b_.number[item.index] = ++now[item.stream];
        done_[item.index] = now;
        touch(item.index);
        steps.push_back({item.kind, item.index, kNone, item.stream});
        behind[item.index] = steps.size();
      }
    }
    for (size_t i = 0; i <= steps.size(); ++i) {
      if (const auto it = records.find(i); it != records.end()) b_.out.steps.push_back(it->second);
      if (i < steps.size()) b_.out.steps.push_back(steps[i]);
    }
    return good;
  }

 private:
  void missing_edge(uint32_t before, uint32_t after) {
    const Task& from = b_.out.tasks[before];
    const Task& to = b_.out.tasks[after];
    const auto stream = [&](const Task& t) { return b_.out.streams[t.stream]; };
    const bool state = std::any_of(to.in.begin(), to.in.end(), [&](BufferId b) {
      return b != kNone && b_.out.buffers[b].storage == Storage::State &&
             (writes_state(from) || writes_state(to)) &&
             std::any_of(from.in.begin(), from.in.end(), [&](BufferId f) {
               return f != kNone && b_.out.buffers[f].storage == Storage::State &&
                      b_.out.buffers[f].path == b_.out.buffers[b].path;
             });
    });
    auto report = state ? b_.diags.report(b_.span(to.loc), diag::Id::CrossStreamInplace, info(to.code).name,
                                          stream(to), info(from.code).name, stream(from))
                        : b_.diags.report(b_.span(to.loc), diag::Id::MissingCrossStreamEdge,
                                          info(to.code).name, stream(to), info(from.code).name, stream(from));
    report.note(b_.span(from.loc), state ? "the other use of the state" : "what it needs is made here")
        .help(fmt::format("declare `event e`, write `record e` behind the op on stream `{}` and `wait e` "
                          "before the one on stream `{}`; only ge_graph makes events by itself",
                          stream(from), stream(to)));
  }

  static void join(Clock& into, const Clock& from) {
    for (size_t i = 0; i < into.size(); ++i) into[i] = std::max(into[i], from[i]);
  }

  // Events are named along the layer path; the source has the last word.
  static std::string short_name(const std::string& event) {
    const size_t begin = event.rfind('.') + 1;
    return event.substr(begin, event.find('#', begin) - begin);
  }

  std::string fresh_name(uint32_t task) const {
    std::string name = fmt::format("after_{}", task);
    while (std::find(b_.out.events.begin(), b_.out.events.end(), name) != b_.out.events.end()) name += "_";
    return name;
  }

  // What tasks share: bytes of the arena, and states.
  struct Use {
    uint32_t writer = kNone;
    std::vector<uint32_t> readers;  // since it was written
  };
  Use* use(BufferId buffer) {
    if (buffer == kNone) return nullptr;
    const Buffer& b = b_.out.buffers[buffer];
    if (b.storage == Storage::Arena) return &arena_[b_.root[buffer]];
    return b.storage == Storage::State ? &states_[b.path] : nullptr;
  }

  bool writes_state(const Task& t) const { return info(t.code).has(kInPlace); }

  // The latest task of each other stream that must be done first.
  std::vector<uint32_t> needed(uint32_t index) {
    const Task& t = b_.out.tasks[index];
    std::map<uint32_t, uint32_t> latest;  // stream -> task
    const auto need = [&](uint32_t task) {
      if (task == kNone || b_.out.tasks[task].stream == t.stream) return;
      const auto [it, first] = latest.emplace(b_.out.tasks[task].stream, task);
      if (!first && b_.number[it->second] < b_.number[task]) it->second = task;
    };
    if (t.view || !reads_operands(t)) return {};
    for (const BufferId b : t.in)
      if (const Use* u = use(b)) need(u->writer);
    if (writes_state(t))
      for (const uint32_t reader : use(t.in[0])->readers) need(reader);
    std::vector<uint32_t> out;
    for (const auto& [stream, task] : latest) out.push_back(task);
    return out;
  }

  void touch(uint32_t index) {
    const Task& t = b_.out.tasks[index];
    if (t.view || !reads_operands(t)) return;
    for (const BufferId b : t.in)
      if (Use* u = use(b)) u->readers.push_back(index);
    for (const BufferId b : t.out) *use(b) = {index, {}};
    if (writes_state(t)) *use(t.in[0]) = {index, {}};
  }

  Build& b_;
  size_t streams_;
  std::vector<Clock> now_;                // by stream
  std::vector<Clock> done_;               // by task
  std::map<uint32_t, uint32_t> implied_;  // task -> event recorded behind it
  std::unordered_map<BufferId, Use> arena_;
  std::unordered_map<std::string, Use> states_;
};

}  // namespace

bool order(Build& b) { return Order(b).run(); }

}  // namespace skdsl::schedule
