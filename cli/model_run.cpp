#include "cli/model_run.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <future>
#include <iterator>
#include <set>

#include "cli/blank_weights.h"
#include "cli/jit_settings.h"
#include "cli/plan_cache.h"
#include "cli/watch.h"
#include "compiler/superkernel/report.h"
#include "runtime/base/file.h"
#include "runtime/base/heap.h"
#include "runtime/base/json.h"
#include "runtime/model/completion_text.h"
#include "runtime/model/generate.h"
#include "runtime/model/hf_config.h"
#include "runtime/model/session.h"
#include "runtime/model/tokenizer.h"
#include "runtime/model/weights.h"

namespace skdsl::cli {

namespace fs = std::filesystem;

namespace {
double ms_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

Expected<std::vector<int32_t>> parse_ids(const std::string& text) {
  std::vector<int32_t> ids;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    std::string_view part(text.data() + at, comma - at);
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
    int32_t id = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), id);
    if (part.empty() || error != std::errc() || end != part.data() + part.size())
      return tl::unexpected<Error>(Error{ErrorKind::Usage,
                                         "--prompt-ids " + text.substr(0, 60) + ": `" +
                                             std::string(part.substr(0, 30)) + "` is not a token id",
                                         {"help: write ids separated by commas: --prompt-ids 1,2,3"}});
    ids.push_back(id);
    at = comma + 1;
  }
  return ids;
}

/// Everything of one run that the report needs.
struct RunState {
  const RunOptions& options;
  Context& context;
  source::Sources sources;
  diag::Engine diags{sources};
  sema::Modules modules{diags};
  std::optional<Prepared> prepared;
  std::optional<sema::Elaborated> compiled;
  std::unique_ptr<jit::Compiler> native;  // of the session's graphs
  std::optional<PlanCache> plans;
  std::unique_ptr<model::Session> session;
  std::optional<model::Tokenizer> tokenizer;
  std::vector<std::vector<int32_t>> prompts;
  std::optional<model::Weights> weights;
  std::optional<superkernel::Report> fusion;  // of the first decode graph
  std::optional<BlankWeights> blank;          // of a dry run
  std::optional<Watch> watch;
  size_t diags_told = 0, errors_told = 0;  // printed already
  double load_ms = 0, compile_ms = 0;
};

void info(RunState& run, const std::string& line) { run.context.err << "info: " << line << '\n'; }
void warning(RunState& run, const std::string& line) { run.context.err << "warning: " << line << '\n'; }

Json diagnostics_of(const RunState& run) {
  auto list = parse_json(diagnostics_json(run.diags), "diagnostics");
  return list ? std::move(*list) : Json(Json::Array{});
}

/// Says what is wrong; with --json in the one document too. Gives the exit code.
int failed(RunState& run, const Error& error) {
  // A graph that was refused has its diagnostics, with places; the error would only repeat them.
  const bool refused = run.diags.errors() > run.errors_told;
  if (refused) report(run.diags, run.context, run.diags_told);
  if (run.options.json) {
    Json::Array notes;
    for (const std::string& note : error.notes) notes.emplace_back(note);
    run.context.out << to_json(Json::Object{{"format_version", 1},
                                            {"error", Json::Object{{"message", error.message},
                                                                   {"notes", std::move(notes)}}},
                                            {"diagnostics", diagnostics_of(run)}},
                               1)
                    << '\n';
  }
  return refused ? static_cast<int>(kInputHasErrors) : report(error, run.context);
}

/// Constructs that order work on the device and change nothing on the host; say so once.
void tell_recorded_only(RunState& run) {
  const plan::Program& program = run.compiled->program;
  size_t streams = 0, cores = 0, prefetches = 0;
  for (const plan::Context& c : program.contexts) {
    streams += c.kind == plan::Context::Kind::Stream;
    cores += c.kind == plan::Context::Kind::Cores;
  }
  for (const plan::Function& f : program.functions)
    for (const plan::Region& r : f.regions)
      for (const plan::OpId id : r.ops) prefetches += f.ops[id].code == Opcode::Prefetch;
  if (streams + cores + prefetches == 0) return;
  run.diags.report({}, diag::Id::RecordedOnly,
                   fmt::format("recorded only: {} streams, {} core limits, {} prefetches; the host runs "
                               "their operators in one order",
                               streams, cores, prefetches));
}

/// One line on what became of the scopes of the decode graph.
void tell_fusion(RunState& run) {
  if (!run.fusion) return;
  if (run.fusion->scopes.empty()) {
    const auto& contexts = run.compiled->program.contexts;
    const auto scopes = std::count_if(contexts.begin(), contexts.end(), [](const plan::Context& c) {
      return c.kind == plan::Context::Kind::SuperKernel;
    });
    const bool captured = run.prepared->compile.sema.builtins.exe_mode == "npugraph_ex";
    if (scopes > 0 && captured && !run.prepared->schedule.capture)
      info(run, fmt::format("super kernels: off, {} scope{} kept as marks; npugraph_ex makes them under "
                            "`super_kernel_optimize` and `static_kernel_compile`",
                            scopes, scopes == 1 ? " is" : "s are"));
    return;
  }
  std::string line = "super kernels: " + superkernel::summary(*run.fusion);
  if (run.fusion->ops_fused < run.fusion->ops_in_scopes)
    line += fmt::format("; `skdsl explain {}` tells why", run.options.file);
  info(run, line);
}

/// Graphs that are not machine code although they were to be. One that is watched says so in an info; other
/// reasons are a warning, and an error under --strict.
void tell_executors(RunState& run) {
  for (const auto& [graph, executor] : run.session->executors()) {
    if (executor.why_not.empty()) continue;
    if (run.watch || run.options.dry || run.options.observe) {
      info(run, fmt::format("the plan executor runs `{}`: {}", graph, executor.why_not));
      continue;
    }
    run.diags.report({}, diag::Id::NoMachineCode, graph, executor.why_not);
  }
  // Others of the graph are told by `explain`.
  for (const diag::Diagnostic& d : run.diags.all())
    if (d.id == diag::Id::NoMachineCode || d.id == diag::Id::ObjectCache)
      run.context.err << diag::to_human(d, run.diags.sources(), run.context.err_colour);
}

/// What --dump and --diagnose saw; the exit code.
int tell_watch(RunState& run) {
  if (!run.watch) return kDone;
  if (run.watch->trouble()) return failed(run, *run.watch->trouble());
  if (run.options.diagnose)
    info(run, fmt::format("{} kernels watched, none gave NaN", run.watch->kernels_seen()));
  if (!run.options.dump.empty())
    info(run, fmt::format("{} tensors written to {}", run.watch->files(), run.options.dump));
  return kDone;
}

std::string place_of(const RunState& run, const exec::CaptureEvent& e) {
  const auto& files = run.session->program().files;
  return e.loc.line == 0 || e.loc.file >= files.size() ? ""
                                                       : fmt::format("{}:{}", files[e.loc.file], e.loc.line);
}

/// One line for each thing that was not as smooth as a replay.
void tell_captures(RunState& run) {
  constexpr size_t kMostEvents = 20;
  size_t told = 0;
  if (!run.session->captures()) return;
  for (const exec::CaptureEvent& e : run.session->captures()->events()) {
    if (e.kind == exec::CaptureEvent::Kind::Compile) continue;
    if (++told > kMostEvents) continue;
    const std::string at = place_of(run, e);
    std::string line = fmt::format("{}{} of `{}` in step {}: {}", at.empty() ? "" : at + ": ",
                                   exec::name(e.kind), e.function, e.step, exec::row(e.reason).text);
    if (!e.guard.empty())
      line += fmt::format(" ({}{}{}{})", e.guard, e.before.empty() ? "" : ": ", e.before,
                          e.after.empty() ? "" : " -> " + e.after);
    const bool bad =
        e.kind == exec::CaptureEvent::Kind::Fallback || e.kind == exec::CaptureEvent::Kind::Misuse;
    bad ? warning(run, line) : info(run, line);
  }
  if (told > kMostEvents)
    info(run, fmt::format("{} more events of npugraph_ex; --json has all", told - kMostEvents));
}

/// Who ran the graphs of ge_graph; null in the other modes.
Json executor_json(const model::Session& session) {
  if (session.executors().empty()) return nullptr;
  Json::Array graphs;
  for (const auto& [name, e] : session.executors())
    graphs.push_back(Json::Object{{"graph", name},
                                  {"executor", e.native ? "jit" : "plan"},
                                  {"reason", e.why_not.empty() ? Json(nullptr) : Json(e.why_not)},
                                  {"distinct_superkernels", e.info.functions},
                                  {"static_kernels", e.info.static_kernels},
                                  {"code_bytes", static_cast<int64_t>(e.info.code_bytes)},
                                  {"from_cache", e.info.from_cache},
                                  {"compile_ms", e.info.compile_ms}});
  return graphs;
}

Json fallbacks_json(const model::Session& session) {
  Json::Array out;
  if (session.captures())
    for (const exec::CaptureFallback& f : session.captures()->fallbacks())
      out.push_back(
          Json::Object{{"step", static_cast<int64_t>(f.step)}, {"reason", exec::row(f.reason).word}});
  return out;
}

Json events_json(const model::Session& session) {
  Json::Array out;
  if (!session.captures()) return out;
  const auto& files = session.program().files;
  for (const exec::CaptureEvent& e : session.captures()->events())
    out.push_back(Json::Object{
        {"step", static_cast<int64_t>(e.step)},
        {"event", exec::name(e.kind)},
        {"reason", exec::row(e.reason).word},
        {"function", e.function},
        {"file", e.loc.line == 0 || e.loc.file >= files.size() ? Json(nullptr) : Json(files[e.loc.file])},
        {"line", static_cast<int64_t>(e.loc.line)},
        {"guard", e.guard.empty() ? Json(nullptr) : Json(e.guard)},
        {"before", e.before.empty() ? Json(nullptr) : Json(e.before)},
        {"after", e.after.empty() ? Json(nullptr) : Json(e.after)}});
  return out;
}

Expected<void> read_prompts(RunState& run) {
  const RunOptions& o = run.options;
  for (const std::string& text : o.prompt_ids) {
    auto ids = parse_ids(text);
    if (!ids) return tl::unexpected(ids.error());
    run.prompts.push_back(std::move(*ids));
  }
  if (o.prompts.empty()) return {};
  if (!run.tokenizer)
    return fail("--prompt needs a tokenizer, and " +
                    (run.prepared->weights_folder.empty()
                         ? std::string("synthetic weights have none")
                         : run.prepared->weights_folder + " has no tokenizer.json and no tokenizer.model"),
                {"help: give token ids instead: --prompt-ids 1,2,3"});
  for (std::string text : o.prompts) {
    if (text == "-") {
      text.assign(std::istreambuf_iterator<char>(run.context.in), {});
      if (!text.empty() && text.back() == '\n') text.pop_back();
    }
    auto ids = run.tokenizer->encode(text);
    if (!ids) return tl::unexpected(ids.error());
    run.prompts.push_back(std::move(*ids));
  }
  return {};
}

/// Weights and the session of a compiled program.
Expected<void> load(RunState& run, std::atomic<bool>& interrupt) {
  const auto start = std::chrono::steady_clock::now();
  const Prepared& p = *run.prepared;
  model::WeightOptions wo;
  wo.strict = run.options.strict;
  wo.synthetic_seed = p.synthetic_seed;
  wo.synthetic_dtype = synthetic_dtype(p);
  if (run.options.dry) {
    auto blank = BlankWeights::make(run.compiled->program, wo.synthetic_dtype);
    if (!blank) return tl::unexpected(blank.error());
    run.blank.emplace(std::move(*blank));
  } else {
    auto weights = model::Weights::load(run.compiled->program,
                                        p.checkpoint && !p.synthetic_seed ? &*p.checkpoint : nullptr, wo);
    if (!weights) {
      if (run.options.mtp > 0)
        weights.error().notes.push_back(
            "help: --mtp reads the tensors of the draft too; without it they are not needed");
      return tl::unexpected(weights.error());
    }
    run.weights = std::move(*weights);
    for (const std::string& w : run.weights->warnings()) warning(run, w);
  }
  model::SessionOptions so;
  so.mode = p.compile.sema.builtins.exe_mode;
  so.threads = static_cast<uint32_t>(run.options.threads);
  so.compile = [&run, make = run.plans->graph_compiler(p.schedule)](const plan::Program& program,
                                                                    const plan::GraphKey& key) {
    auto schedule = make(program, key);
    if (schedule && !run.fusion) run.fusion = superkernel::report(*schedule);
    return schedule;
  };
  so.recording = [&run, make = recording_compiler(run.diags, p.schedule)](const plan::Program& program,
                                                                          plan::Recording recording) {
    auto schedule = make(program, std::move(recording));
    if (schedule && !run.fusion) run.fusion = superkernel::report(*schedule);
    return schedule;
  };
  so.capture = p.capture;
  if (run.native) {
    so.native = run.native.get();
    so.native_options = p.native;
  }
  if (run.options.steps && run.compiled->has_script)
    so.on_decode = [&run](uint64_t step, const exec::ServedCall& served) {
      run.context.err << fmt::format("step {}: `{}`, {}\n", step, served.function, exec::describe(served));
    };
  so.interrupt = &interrupt;
  // With --json, standard output belongs to the one document.
  so.print = [&run](std::string_view text) {
    (run.options.json ? run.context.err : run.context.out) << text;
  };
  if (!run.options.dump.empty() || run.options.diagnose) {
    run.watch.emplace(run.compiled->program, run.options.dump, run.options.diagnose);
    if (auto ok = run.watch->start(); !ok) return ok;
    so.observe = run.watch->observer();
  }
  if (run.options.observe) so.observe = run.options.observe;
  so.dry = run.options.dry;
  so.verify = false;  // the passes have
  // The session goes before the program does.
  auto session = model::Session::create(
      std::shared_ptr<const plan::Program>(std::shared_ptr<void>(), &run.compiled->program),
      [&](const std::string& path) { return run.blank ? run.blank->find(path) : run.weights->find(path); },
      std::move(so));
  if (!session) return tl::unexpected(session.error());
  run.session = std::move(*session);
  run.load_ms += ms_since(start);
  return {};
}

Json logits_json(const std::vector<float>& row) {
  Json::Array out;
  out.reserve(row.size());
  for (const float x : row) out.emplace_back(static_cast<double>(x));
  return out;
}

model::Sampling sampling_of(const RunOptions& o) {
  return {o.temperature.value_or(0), o.top_k, o.top_p, o.seed.value_or(0)};
}

/// What the flags say, and data_config where they say nothing. There, 0 and 1 are filters that let all
/// through, and filters without a temperature are no mistake.
model::Sampling sampling_of(const RunState& run) {
  model::Sampling s = sampling_of(run.options);
  const config::Settings& settings = run.prepared->compile.sema.settings;
  const auto given = [&](const char* key) -> const Json* {
    const config::Setting* const found = settings.find(key);
    return found && found->value.is_number() ? &found->value : nullptr;
  };
  if (const Json* t = given("data_config.temperature"); t && !run.options.temperature)
    s.temperature = t->as_double();
  if (const Json* seed = given("data_config.seed"); seed && seed->is_int() && !run.options.seed)
    s.seed = seed->as_int();
  if (s.greedy()) return s;
  if (const Json* k = given("data_config.top_k"); k && k->is_int() && k->as_int() > 0 && !s.top_k)
    s.top_k = k->as_int();
  if (const Json* p = given("data_config.top_p"); p && p->as_double() < 1 && !s.top_p) {
    if (p->as_double() > 0)
      s.top_p = p->as_double();
    else
      s.top_k = 1;  // no probability at all leaves the most likely token
  }
  return s;
}

/// What is wrong with the flags of sampling and stop strings.
Expected<void> check_generation_flags(const RunOptions& o) {
  if (std::find(o.stop.begin(), o.stop.end(), "") != o.stop.end())
    return tl::unexpected(Error{ErrorKind::Usage,
                                "--stop is empty: every text contains it",
                                {"help: give the text that ends a completion"}});
  return model::check(sampling_of(o));
}

Json sampling_json(const RunState& run) {
  const model::Sampling s = sampling_of(run);
  if (s.greedy()) return nullptr;
  return Json::Object{{"generator", model::kGeneratorName},
                      {"temperature", s.temperature},
                      {"top_k", s.top_k ? Json(*s.top_k) : Json(nullptr)},
                      {"top_p", s.top_p ? Json(*s.top_p) : Json(nullptr)},
                      {"seed", s.seed}};
}

constexpr std::string_view kStopNames[] = {"length", "eos", "stop_string"};  // by StopReason

Json ids_json(const std::vector<int32_t>& ids) {
  Json::Array out;
  for (const int32_t id : ids) out.emplace_back(id);
  return out;
}

Json report_json(const RunState& run, const model::GenerateResult* result,
                 const std::vector<std::optional<std::string>>& texts) {
  const model::Counters& c = run.session->counters();
  Json::Array requests;
  for (size_t i = 0; result && i < result->requests.size(); ++i)
    requests.push_back(Json::Object{{"prompt_ids", ids_json(run.prompts[i])},
                                    {"tokens", ids_json(result->requests[i].tokens)},
                                    {"text", texts[i] ? Json(*texts[i]) : Json(nullptr)},
                                    {"stop", kStopNames[static_cast<size_t>(result->requests[i].stop)]}});
  std::set<std::string_view> scopes;
  for (const plan::Context& ctx : run.compiled->program.contexts)
    if (ctx.kind == plan::Context::Kind::SuperKernel) scopes.insert(ctx.name);
  const superkernel::Report fusion = run.fusion.value_or(superkernel::Report{});
  return Json::Object{
      {"format_version", 1},
      {"mode", run.session->mode()},
      {"requests", std::move(requests)},
      {"sampling", sampling_json(run)},
      {"graph",
       Json::Object{{"captures", static_cast<int64_t>(c.captures)},
                    {"recompiles", static_cast<int64_t>(c.recompiles)},
                    {"recaptures", static_cast<int64_t>(c.recaptures)},
                    {"replays", static_cast<int64_t>(c.replays)},
                    {"interpreted_decode_steps", static_cast<int64_t>(c.interpreted_decode_steps)},
                    {"captures_after_warmup", run.options.warmup && result
                                                  ? Json(static_cast<int64_t>(result->captures_after_warmup))
                                                  : Json(nullptr)},
                    {"executors", executor_json(*run.session)},
                    {"fallbacks", fallbacks_json(*run.session)},
                    {"events", events_json(*run.session)}}},
      {"superkernel", Json::Object{{"scopes", scopes.size()},
                                   {"pieces", fusion.pieces},
                                   {"ops_in_scopes", fusion.ops_in_scopes},
                                   {"ops_fused", fusion.ops_fused},
                                   {"launches_per_step", fusion.launches}}},
      {"host", Json::Object{{"load_ms", run.load_ms + run.session->timings().load_ms},
                            {"compile_ms", run.compile_ms + run.session->timings().compile_ms},
                            {"program_from_cache", run.plans && run.plans->found()},
                            {"prefill_ms", result ? result->prefill_ms : 0.0},
                            {"decode_ms_per_token", result ? result->decode_ms_per_token : 0.0}}},
      {"diagnostics", diagnostics_of(run)}};
}

/// Entry k of each list was guessed after step k: draft_ for the token after the next one, chained_ one
/// further.
Json drafts_json(const model::GeneratedSequence& s, int64_t depth) {
  Json::Object out;
  for (int64_t d = 0; d < depth; ++d) {
    Json::Array tokens, logits;
    for (const model::DraftGuess& guess : s.drafts) {
      tokens.emplace_back(guess.tokens[static_cast<size_t>(d)]);
      logits.push_back(logits_json(guess.logits[static_cast<size_t>(d)]));
    }
    const std::string name = d == 0 ? "draft" : "chained";
    out.emplace_back(name + "_tokens", std::move(tokens));
    out.emplace_back(name + "_logits", std::move(logits));
  }
  return out;
}

Expected<void> write_logits(const RunState& run, const model::GenerateResult& result, AtomicFile& file) {
  Json::Array requests;
  for (size_t i = 0; i < result.requests.size(); ++i) {
    const model::GeneratedSequence& s = result.requests[i];
    Json::Array steps;
    for (const auto& row : s.logits) steps.push_back(logits_json(row));
    requests.push_back(
        Json::Object{{"prompt_ids", ids_json(run.prompts[i])},
                     {"prefill_logits_last", s.logits.empty() ? Json(nullptr) : logits_json(s.logits[0])},
                     {"tokens", ids_json(s.tokens)},
                     {"step_logits", std::move(steps)}});
    if (run.options.mtp > 0) requests.back().as_object().emplace_back("mtp", drafts_json(s, run.options.mtp));
  }
  const Json document = Json::Object{{"format_version", 1}, {"requests", std::move(requests)}};
  if (auto ok = file.write(to_json(document, 0, 9) + "\n"); !ok) return ok;
  return file.commit();
}

/// The completion as ids, without the trailing end token.
std::string id_list(const model::GeneratedSequence& s) {
  std::vector<int32_t> ids = s.tokens;
  if (s.stop == model::StopReason::Eos && !ids.empty()) ids.pop_back();
  std::string out;
  for (const int32_t id : ids) out += (out.empty() ? "" : ",") + std::to_string(id);
  return out;
}

int generate(RunState& run, std::atomic<bool>& interrupt) {
  const RunOptions& o = run.options;
  const config::Builtins& b = run.prepared->compile.sema.builtins;
  if (run.prompts.empty())
    return failed(run,
                  Error{ErrorKind::Usage, "no prompt", {"help: give --prompt TEXT or --prompt-ids 1,2,3"}});
  model::GenerateRequest request;
  request.prompts = run.prompts;
  request.max_new_tokens = o.max_new_tokens;
  const config::Setting* limit = run.prepared->compile.sema.settings.find("max_new_tokens");
  if (!request.max_new_tokens && limit && limit->value.is_int())
    request.max_new_tokens = limit->value.as_int();
  if (run.prepared->checkpoint) {
    const fs::path at(run.prepared->weights_folder);
    auto eos = model::stop_token_ids(fs::is_directory(at) ? at : at.parent_path(), run.prepared->hf_config);
    if (!eos) return failed(run, eos.error());
    request.eos = std::move(*eos);
  }
  request.ignore_eos = o.ignore_eos;
  request.sampling = sampling_of(run);
  request.batch_size = b.batch_size;
  request.max_seq_len = b.max_seq_len;
  request.block_size = b.block_size;
  request.kv_blocks = b.kv_blocks;
  request.keep_logits = !o.dump_logits.empty();
  request.drafts = o.mtp;
  request.warmup = o.warmup;
  // An output that cannot be written is said before the work, not after it.
  std::optional<AtomicFile> logits;
  if (!o.dump_logits.empty()) {
    auto file = AtomicFile::create(o.dump_logits);
    if (!file) return failed(run, file.error());
    logits.emplace(std::move(*file));
  }

  // Text streams when there is one request and somebody watches.
  const bool streaming = !o.json && run.prompts.size() == 1;
  std::vector<model::CompletionText> completions;
  if (run.tokenizer)
    for (const auto& prompt : run.prompts) completions.emplace_back(*run.tokenizer, prompt, o.stop);
  bool first = true;
  model::GenerateCallbacks callbacks;
  callbacks.on_token = [&](size_t i, int32_t token) {
    const bool end =
        !o.ignore_eos && std::find(request.eos.begin(), request.eos.end(), token) != request.eos.end();
    if (end) return;
    const std::string piece =
        run.tokenizer ? completions[i].push(token) : (first ? "" : ",") + std::to_string(token);
    first = false;
    if (streaming) run.context.out << piece << std::flush;
  };
  if (!o.stop.empty()) callbacks.stops_after = [&](size_t i, int32_t) { return completions[i].stopped(); };
  if (o.steps)
    callbacks.on_step = [&](const model::StepInfo& s) {
      run.context.err << fmt::format(
          "{}: {}, {} rows, {} padding, {:.3f} ms{}\n", s.warmup ? "warm-up" : fmt::format("step {}", s.step),
          s.prefill           ? "prefill, interpreter"
          : !s.served.empty() ? "decode, " + s.served
          : s.graph           ? s.native ? "decode, static graph (jit)" : "decode, static graph (plan)"
                              : "decode, interpreter",
          s.rows, s.padding, s.ms, s.compiled && s.served.empty() ? ", compiled" : "");
    };
  auto result = model::generate(*run.session, request, callbacks);
  if (!result) {
    if (streaming && !first) run.context.out << '\n';
    if (interrupt.load()) return 130;
    return failed(run, result.error());
  }
  if (streaming && run.tokenizer) run.context.out << completions[0].finish();
  std::vector<std::optional<std::string>> texts(run.prompts.size());
  for (size_t i = 0; i < completions.size(); ++i) {
    completions[i].finish();
    texts[i] = completions[i].text();
  }
  if (logits)
    if (auto ok = write_logits(run, *result, *logits); !ok) return failed(run, ok.error());
  tell_fusion(run);
  tell_executors(run);
  if (const int code = tell_watch(run); code != kDone) return code;
  tell_captures(run);
  if (o.json) {
    run.context.out << to_json(report_json(run, &*result, texts), 1) << '\n';
  } else if (streaming) {
    run.context.out << '\n';
  } else {
    for (size_t i = 0; i < texts.size(); ++i)
      run.context.out << (texts[i] ? *texts[i] : id_list(result->requests[i])) << '\n';
  }
  return run.diags.has_errors() ? static_cast<int>(kInputHasErrors) : 0;
}

/// Runs the top-level statements; the exit code.
int run_script(RunState& run, std::atomic<bool>& interrupt) {
  auto results = run.session->call("main", {});
  if (!results) return interrupt.load() ? 130 : failed(run, results.error());
  tell_captures(run);
  tell_fusion(run);
  tell_executors(run);
  if (const int code = tell_watch(run); code != kDone) return code;
  if (run.options.json) run.context.out << to_json(report_json(run, nullptr, {}), 1) << '\n';
  return run.diags.has_errors() ? static_cast<int>(kInputHasErrors) : 0;
}
}  // namespace

int run_model(const RunOptions& options, Context& context, std::atomic<bool>& interrupt) {
  grow_heap(size_t{12} << 20);
  RunState run{options, context};
  run.diags.strict = options.strict;
  if (auto ok = check_generation_flags(options); !ok) return failed(run, ok.error());
  const auto started = std::chrono::steady_clock::now();
  const auto diagnostics = [&](int code) {
    report(run.diags, context);
    if (options.json && code != 0) {
      run.context.out << to_json(Json::Object{{"format_version", 1}, {"diagnostics", diagnostics_of(run)}}, 1)
                      << '\n';
    }
    return code;
  };
  // Reading what the checkpoint has takes as long as parsing, and neither needs the other.
  std::future<Expected<model::Checkpoint>> checkpoint;
  if (!options.weights.empty() && !options.weights.starts_with("synthetic"))
    checkpoint =
        std::async(std::launch::async, [&options] { return model::Checkpoint::open(options.weights); });
  run.modules.load_main(options.file);
  if (run.diags.has_errors()) return diagnostics(1);
  auto prepared =
      prepare(run.modules, options, static_cast<int64_t>(options.prompts.size() + options.prompt_ids.size()),
              [&](const std::string& folder) {
                return checkpoint.valid() ? checkpoint.get() : model::Checkpoint::open(folder);
              });
  if (!prepared) return failed(run, prepared.error());
  run.prepared = std::move(*prepared);
  const std::string& mode = run.prepared->compile.sema.builtins.exe_mode;
  if (options.jit == "on" && !options.dry && mode != "eager") {
    run.native = native_compiler(run.diags);
    if (mode == "ge_graph" && run.native->cold()) run.native->open_early();
  }
  run.prepared->compile.passes.print = pass_printer(context);
  run.plans.emplace(options.dry ? jit::ObjectCache({}) : jit::ObjectCache::standard(), run.diags);
  run.compiled = run.plans->compile(run.modules, run.prepared->compile);
  if (!run.compiled) return diagnostics(1);
  run.compile_ms = ms_since(started);
  if (options.mtp > 0 && run.compiled->draft.empty())
    return failed(run, Error{ErrorKind::Usage,
                             "--mtp runs the file's draft, and " + options.file + " has none",
                             {"help: write `draft Name { … }` beside the model"}});
  if (!run.compiled->has_script && run.compiled->model.empty())
    return failed(run,
                  Error{ErrorKind::Input,
                        options.file + " has no model and no top-level statements: there is nothing to run",
                        {"help: write `model Name { … }`, or statements such as `print(f(x))`"}});
  tell_recorded_only(run);
  report(run.diags, context);
  run.diags_told = run.diags.all().size();
  run.errors_told = run.diags.errors();
  for (const std::string& line : run.prepared->infos) info(run, line);

  const auto load_started = std::chrono::steady_clock::now();
  if (!run.prepared->weights_folder.empty()) {
    const fs::path at(run.prepared->weights_folder);
    const fs::path folder = fs::is_directory(at) ? at : at.parent_path();
    if (model::Tokenizer::present(folder)) {
      auto tokenizer = model::Tokenizer::open(folder);
      // Ids need no tokenizer: one that is not understood is fatal only when text goes in.
      if (tokenizer)
        run.tokenizer = std::move(*tokenizer);
      else if (!options.prompts.empty())
        return failed(run, tokenizer.error());
      else
        warning(run, tokenizer.error().message + "; ids are printed");
    }
  }
  if (!options.stop.empty() && !run.tokenizer)
    return failed(run, Error{ErrorKind::Input,
                             "--stop needs a tokenizer, and there is none that is understood",
                             {"help: end tokens stop a run without one: see eos_token_id in config.json"}});
  if (auto ok = read_prompts(run); !ok) return failed(run, ok.error());
  run.load_ms = ms_since(load_started);
  if (auto ok = load(run, interrupt); !ok) return failed(run, ok.error());
  const int code = run.compiled->has_script ? run_script(run, interrupt) : generate(run, interrupt);
  const size_t told = run.diags.all().size();
  run.plans->keep(*run.compiled);
  report(run.diags, context, told);
  return code;
}

}  // namespace skdsl::cli
