// Two operators that each use all cube cores, on two streams that run beside each other: there is nothing
// left to share, and the switch costs time.
#include <set>

#include "compiler/lint/rule.h"

namespace skdsl::lint::rules_impl {

namespace {
bool on_cube(Core core) { return core == Core::Aic || core == Core::Mix11 || core == Core::Mix12; }
}  // namespace

void sk424_cube_saturated_parallel(const Context& c, Report& report) {
  const plan::HappensBefore order = plan::step_order(*c.schedule);
  std::vector<uint32_t> full;  // steps that start as many blocks as there are cube cores
  for (uint32_t i = 0; i < c.schedule->steps.size(); ++i) {
    const plan::Step& step = c.schedule->steps[i];
    if (step.kind != plan::Step::Kind::Call) continue;
    const plan::Task& task = c.schedule->tasks[step.task];
    if (!task.view && on_cube(task.core) && task.block_dim >= static_cast<uint64_t>(c.chip.aic))
      full.push_back(i);
  }
  std::set<std::pair<uint32_t, uint32_t>> told;
  for (const uint32_t a : full)
    for (const uint32_t b : full) {
      const plan::Task& first = c.schedule->tasks[c.schedule->steps[a].task];
      const plan::Task& second = c.schedule->tasks[c.schedule->steps[b].task];
      if (a >= b || first.stream == second.stream || !order.concurrent(a, b)) continue;
      const Span where = c.span(second.loc);
      if (!told.emplace(where.file, where.begin).second) continue;
      report
          .at(where, info(second.code).name, c.schedule->streams[second.stream], info(first.code).name,
              c.schedule->streams[first.stream], c.chip.aic)
          .note(c.span(first.loc), "the other one")
          .help(
              "run them one after the other, give each a part of the cores (`cores(aic = …)`), or put a "
              "vector "
              "operator beside a cube operator");
    }
}

}  // namespace skdsl::lint::rules_impl
