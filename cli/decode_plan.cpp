#include "cli/decode_plan.h"

namespace skdsl::cli {

namespace {
tl::unexpected<int> stop(int code) { return tl::unexpected(code != kDone ? code : static_cast<int>(kInputHasErrors)); }
}  // namespace

tl::expected<Compiled, int> compile_model(const ModelOptions& options, int64_t batch, diag::Engine& diags, Context& context) {
  sema::Modules modules(diags);
  modules.load_main(options.file);
  if (diags.has_errors()) return stop(report(diags, context));
  auto prepared = prepare(modules, options, batch);
  if (!prepared) return stop(report_failure(prepared.error(), diags, context));
  prepared->compile.passes.print = pass_printer(context);
  auto compiled = compile(modules, prepared->compile, diags);
  if (!compiled) return stop(report(diags, context));
  return Compiled{std::move(*prepared), std::move(*compiled)};
}

tl::expected<DecodePlan, int> plan_decode(const ModelOptions& options, int64_t batch, diag::Engine& diags, Context& context) {
  ModelOptions asked = options;
  if (asked.mode.empty() && asked.config.empty()) asked.mode = "ge_graph";
  auto compiled = compile_model(asked, batch, diags, context);
  if (!compiled) return tl::unexpected(compiled.error());
  const config::Builtins b = compiled->prepared.compile.sema.builtins;
  plan::Program& program = compiled->elaborated.program;
  DecodePlan out;
  out.mode = b.exe_mode;
  out.batch = b.batch_size;
  for (const plan::Function& f : program.functions) {
    if (!plan::is_decode(f.phase)) continue;
    const int64_t width = (b.max_seq_len + b.block_size - 1) / b.block_size;
    const plan::GraphKey key{f.name, {{"B", b.batch_size}, {"T", b.batch_size}, {"W", width}}};
    auto schedule = schedule::make_schedule(program, key, diags, compiled->prepared.schedule);
    if (!schedule) return stop(report(diags, context));
    out.plan.schedules.push_back(std::move(*schedule));
  }
  out.plan.program = std::move(program);
  out.prepared = std::move(compiled->prepared);
  return out;
}

}  // namespace skdsl::cli
