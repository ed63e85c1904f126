#include "compiler/compile.h"

#include "compiler/passes/graph_constraints.h"
#include "compiler/schedule/schedule.h"

namespace skdsl {

std::optional<sema::Elaborated> compile(const sema::Modules& modules, const CompileOptions& options,
                                        diag::Engine& diags) {
  if (diags.has_errors()) return {};
  auto elaborated = sema::elaborate(modules, options.sema, diags);
  if (!elaborated) return {};
  // From here on every name is resolved, every shape is known up to the symbols of a step.
  if (!passes::run(elaborated->program, options.passes, diags)) return {};
  const std::string& mode = options.sema.builtins.exe_mode;
  if (mode != "eager")
    for (const plan::Function& f : elaborated->program.functions)
      if (plan::is_decode(f.phase)) passes::check_graph(elaborated->program, f, mode, diags);
  if (diags.has_errors()) return {};
  return elaborated;
}

namespace {
Error refused(const diag::Engine& diags, size_t before, std::string message) {
  Error error{ErrorKind::Input, std::move(message), {}};
  for (size_t i = before; i < diags.all().size(); ++i)
    error.notes.push_back(std::string(diag::rule(diags.all()[i].id).id) + ": " + diags.all()[i].message);
  return error;
}
}  // namespace

plan::CompileHook graph_compiler(diag::Engine& diags, schedule::ScheduleOptions options) {
  return [&diags, options = std::move(options)](const plan::Program& program,
                                                const plan::GraphKey& key) -> Expected<plan::Schedule> {
    const size_t before = diags.all().size();
    auto schedule = schedule::make_schedule(program, key, diags, options);
    if (schedule) return std::move(*schedule);
    return tl::unexpected<Error>(
        refused(diags, before, "`" + key.function + "` does not become a static graph"));
  };
}

plan::RecordingHook recording_compiler(diag::Engine& diags, schedule::ScheduleOptions options) {
  return [&diags, options = std::move(options)](const plan::Program& program,
                                                plan::Recording recording) -> Expected<plan::Schedule> {
    const size_t before = diags.all().size();
    const std::string name = recording.graph.function;
    auto schedule = schedule::schedule_recording(program, std::move(recording), diags, options);
    if (schedule) return std::move(*schedule);
    return tl::unexpected<Error>(refused(diags, before, "`" + name + "` cannot be captured"));
  };
}

}  // namespace skdsl
