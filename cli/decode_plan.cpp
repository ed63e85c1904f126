#include "cli/decode_plan.h"

#include "cli/blank_weights.h"
#include "compiler/superkernel/report.h"
#include "runtime/model/generate.h"

namespace skdsl::cli {

namespace {
tl::unexpected<int> stop(int code) {
  return tl::unexpected(code != kDone ? code : static_cast<int>(kInputHasErrors));
}

/// Runs the program with kernels that do nothing and keeps what is captured.
Expected<std::vector<plan::Schedule>> record(const Compiled& compiled, diag::Engine& diags) {
  const Prepared& p = compiled.prepared;
  const config::Builtins& b = p.compile.sema.builtins;
  const sema::Elaborated& e = compiled.elaborated;
  std::vector<plan::Schedule> out;
  auto blank = BlankWeights::make(e.program, synthetic_dtype(p));
  if (!blank) return tl::unexpected(blank.error());
  model::SessionOptions so;
  so.mode = b.exe_mode;
  so.threads = 1;
  so.dry = true;
  so.capture = p.capture;
  so.print = [](std::string_view) {};
  so.recording = [&, make = recording_compiler(diags, p.schedule)](const plan::Program& program,
                                                                   plan::Recording recording) {
    auto schedule = make(program, std::move(recording));
    if (schedule) out.push_back(*schedule);
    return schedule;
  };
  auto session = model::Session::create(
      e.program, [&blank](const std::string& path) -> const Tensor* { return blank->find(path); },
      std::move(so));
  if (!session) return tl::unexpected(session.error());
  if (e.has_script) {
    if (auto ran = (*session)->call("main", {}); !ran) return tl::unexpected(ran.error());
    return out;
  }
  model::GenerateRequest request;
  request.prompts.assign(static_cast<size_t>(b.batch_size), {0});
  request.max_new_tokens = 2;  // the first comes from the prefill
  request.ignore_eos = true;
  request.batch_size = b.batch_size;
  request.max_seq_len = b.max_seq_len;
  request.block_size = b.block_size;
  request.kv_blocks = b.kv_blocks;
  if (auto made = model::generate(**session, request, {}); !made) return tl::unexpected(made.error());
  return out;
}
}  // namespace

tl::expected<Compiled, int> compile_model(const ModelOptions& options, int64_t batch, diag::Engine& diags,
                                          Context& context) {
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

tl::expected<DecodePlan, int> plan_decode(const ModelOptions& options, int64_t batch, diag::Engine& diags,
                                          Context& context) {
  ModelOptions asked = options;
  if (asked.mode.empty() && asked.config.empty()) asked.mode = "ge_graph";
  auto compiled = compile_model(asked, batch, diags, context);
  if (!compiled) return tl::unexpected(compiled.error());
  const config::Builtins b = compiled->prepared.compile.sema.builtins;
  plan::Program& program = compiled->elaborated.program;
  DecodePlan out;
  out.mode = b.exe_mode;
  out.batch = b.batch_size;
  if (out.mode == "npugraph_ex") {
    auto recorded = record(*compiled, diags);
    if (!recorded)
      return stop(diags.has_errors() ? report(diags, context) : report(recorded.error(), context));
    out.plan.schedules = std::move(*recorded);
    out.plan.program = std::move(program);
    return out;
  }
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
