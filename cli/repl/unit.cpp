#include "cli/repl/unit.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <sstream>

#include "cli/repl/mathematics.h"
#include "compiler/passes/graph_constraints.h"
#include "compiler/sema/line.h"
#include "compiler/source/overlay.h"

namespace skdsl::cli::repl {

namespace {

/// What npugraph_ex captures comes from a run without kernels, as for `explain`.
void record(const Snapshot& s, Unit& unit) {
  const source::Overlay overlay(s.options.file, s.text);
  std::istringstream in;
  std::ostringstream out, err;
  Context quiet{in, out, err};
  auto planned = plan_decode(s.options, s.batch, unit.diags, quiet);
  if (!planned) {
    if (!unit.diags.has_errors()) {
      std::string text = err.str();
      if (text.starts_with("error: ")) text.erase(0, 7);
      while (!text.empty() && text.back() == '\n') text.pop_back();
      unit.error = Error{ErrorKind::Input, text.substr(0, text.find('\n')), {}};
    }
    return;
  }
  unit.program = std::move(planned->plan.program);
  unit.schedules = std::move(planned->plan.schedules);
}

void plan(const Snapshot& s, Unit& unit) {
  sema::Modules modules(unit.diags);
  modules.load_text(s.options.file, s.text);
  if (unit.diags.has_errors()) return;
  auto prepared = prepare(modules, s.options, s.batch);
  if (!prepared) {
    if (!unit.diags.has_errors()) unit.error = prepared.error();
    return;
  }
  const CompileOptions& options = prepared->compile;
  const config::Builtins& b = options.sema.builtins;
  unit.mode = b.exe_mode;
  if (unit.mode == "npugraph_ex") return record(s, unit);
  // Scheduling specialises the function with these passes again, to the same graph.
  passes::PassOptions quick_passes = options.passes;
  quick_passes.verify = passes::PassOptions::Verify::Never;
  quick_passes.skip.insert(quick_passes.skip.end(), {"fold-constants", "remove-noops", "dead-code"});
  auto elaborated = sema::elaborate_decode(modules, options.sema, unit.diags);
  if (!elaborated || !passes::run(elaborated->program, quick_passes, unit.diags)) return;
  for (const auto& value : elaborated->config) unit.config_keys.push_back(value.key);
  plan::Program& program = elaborated->program;
  if (unit.mode != "eager") {
    // What a graph cannot hold is told by the same check at the sizes of the step.
    schedule::ScheduleOptions quick = prepared->schedule;
    quick.verify = false;
    for (const plan::Function& f : program.functions) {
      if (!plan::is_decode(f.phase)) continue;
      const int64_t width = (b.max_seq_len + b.block_size - 1) / b.block_size;
      const plan::GraphKey key{f.name, {{"B", b.batch_size}, {"T", b.batch_size}, {"W", width}}};
      auto schedule = schedule::make_schedule(program, key, unit.diags, quick);
      if (!schedule) return;
      unit.schedules.push_back(std::move(*schedule));
    }
  }
  unit.program = std::move(program);
}

}  // namespace

bool same(const Snapshot& a, const Snapshot& b) {
  return a.text == b.text && a.batch == b.batch && a.options.file == b.options.file &&
         a.options.mode == b.options.mode && a.options.set == b.options.set &&
         a.options.weights == b.options.weights && a.options.config == b.options.config &&
         a.options.superkernel == b.options.superkernel;
}

Counts count(const plan::Schedule& schedule) {
  Counts out;
  const superkernel::Report r = superkernel::report(schedule);
  out.scopes = r.scopes.size();
  out.pieces = r.pieces;
  out.ops_in_scopes = r.ops_in_scopes;
  out.ops_fused = r.ops_fused;
  out.launches = r.launches;
  out.kernels = r.kernels;
  for (const plan::SuperKernel& k : schedule.superkernels)
    for (const plan::Side side : plan::kSides)
      for (const plan::SkStep& step : k.of(side)) {
        using Kind = plan::SkStep::Kind;
        // Both sides meet in a barrier over all cores; it is one.
        if (step.kind == Kind::Sync && (step.scope != plan::SyncScope::AllMix || side == plan::Side::Aiv))
          ++out.syncs[static_cast<size_t>(step.scope)];
        if (step.kind == Kind::Preload || step.kind == Kind::PreloadWhole) ++out.preloads;
        if (step.kind == Kind::PipeBarrier) ++out.barriers;
        if (step.kind == Kind::WaitPrevEnd) ++out.early_starts;
      }
  for (const plan::Task& t : schedule.tasks) out.prefetches += t.code == Opcode::Prefetch;
  out.events = schedule.events.size();
  return out;
}

std::vector<std::string> Unit::paths(std::string_view scope, std::string_view op) const {
  std::vector<std::string> out;
  const std::string below = std::string(op) + ".";
  for (const plan::Schedule& s : schedules) {
    for (size_t i = 0; i < s.superkernels.size(); ++i) {
      if (s.superkernels[i].scope != scope) continue;
      for (const plan::SkKernel& k : s.superkernels[i].kernels) {
        const plan::Task& t = s.tasks[k.task];
        const std::string full =
            t.path.empty() ? std::string(info(t.code).name) : t.path + "." + std::string(info(t.code).name);
        if (info(t.code).name == op || t.path == op || t.path.starts_with(below) || full == op)
          out.push_back(full);
      }
    }
    for (const plan::FusionCut& c : s.cuts) {
      const plan::Task& t = s.tasks[c.task];
      if (c.scope == scope && (info(t.code).name == op || t.path == op))
        out.push_back(t.path + "." + std::string(info(t.code).name));
    }
  }
  return out;
}

std::shared_ptr<const Unit> compile_unit(const Snapshot& snapshot) {
  const auto start = std::chrono::steady_clock::now();
  auto unit = std::make_shared<Unit>();
  unit->diags.strict = snapshot.options.strict;
  plan(snapshot, *unit);
  if (unit->program)
    for (const plan::Function& f : unit->program->functions)
      if (plan::is_decode(f.phase))
        unit->mathematics = unit->mathematics * 31 + mathematics(*unit->program, f);
  for (const plan::Schedule& s : unit->schedules) unit->reports.push_back(superkernel::report(s));
  if (!unit->schedules.empty()) unit->counts = count(unit->schedules.front());
  unit->ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return unit;
}

}  // namespace skdsl::cli::repl
