// explain — what became of each super-kernel scope, one conformance record, or a diagnostic's page
#include <CLI/CLI.hpp>
#include <charconv>
#include <memory>

#include "cli/cli.h"
#include "cli/decode_plan.h"
#include "cli/files.h"
#include "cli/gear_report.h"
#include "cli/model_run.h"
#include "compiler/superkernel/case.h"
#include "compiler/superkernel/report.h"
#include "runtime/base/device_errors.h"
#include "runtime/exec/gears.h"

namespace skdsl::cli {
namespace {

struct Page {
  std::string_view id, text;
};
constexpr Page kPages[] = {
#include "diagnostic_pages.inc"
};

struct Options : ModelOptions {
  std::string scope, svg, record;
  RunOptions run;  // of --compiles
  bool compiles = false, gears = false;
  std::vector<int64_t> batches;
  int64_t batch = 1;
  bool plan = false;
  bool json = false;
};

std::string_view page_of(std::string_view id) {
  for (const Page& page : kPages) {
    if (page.id == id) return page.text;
  }
  return {};
}

/// A code of the device runtime: digits.
int explain_device_error(int64_t code, Context& context) {
  const Error error = device_failure("a run on the device", code);
  context.out << error.message << '\n';
  for (const std::string& note : error.notes) context.out << "  = " << note << '\n';
  return kDone;
}

int explain_diagnostic(const Options& options, Context& context) {
  int64_t code = 0;
  const std::string& word = options.file;
  if (const auto [end, bad] = std::from_chars(word.data(), word.data() + word.size(), code);
      bad == std::errc() && end == word.data() + word.size() && code > 0)
    return explain_device_error(code, context);
  const diag::Id id = diag::find(options.file);
  if (id == diag::Id::kCount) {
    std::vector<std::string> names;
    for (size_t i = 0; i < static_cast<size_t>(diag::Id::kCount); ++i) {
      names.emplace_back(diag::rule(static_cast<diag::Id>(i)).id);
      names.emplace_back(diag::rule(static_cast<diag::Id>(i)).name);
    }
    Error error{ErrorKind::Usage, fmt::format("`{}` is no diagnostic", options.file), {}};
    if (const std::string meant = diag::nearest(options.file, names); !meant.empty()) {
      error.notes.push_back(fmt::format("help: did you mean `{}`?", meant));
    } else {
      error.notes.emplace_back(
          "help: diagnostics are named as in their output, for example SK3004 or shape-mismatch; a file ends "
          "in .sk");
    }
    return report(error, context);
  }
  const diag::Rule& row = diag::rule(id);
  const std::string_view page = page_of(row.id);
  if (options.json) {
    context.out
        << fmt::format(
               R"({{"format_version":1,"id":{},"name":{},"severity":{},"category":{},"message":{},"page":{}}})",
               diag::json_string(row.id), diag::json_string(row.name),
               diag::json_string(diag::name(row.severity)), diag::json_string(row.category),
               diag::json_string(row.message), diag::json_string(page))
        << '\n';
    return kDone;
  }
  context.out << fmt::format("{} {} ({}, {})\nmessage: {}\n\n{}", row.id, row.name, diag::name(row.severity),
                             row.category, row.message, page);
  return kDone;
}

int explain_case(const Options& options, Context& context) {
  auto text = read_text(options.record, context);
  if (!text) return report(text.error(), context);
  auto record = parse_json(*text, options.record);
  if (!record) return report(record.error(), context);
  auto out = superkernel::run_case(*record, options.record, {});
  if (!out) return report(out.error(), context);
  context.out << to_json(*out, options.json ? 0 : 2) << '\n';
  return kDone;
}

int explain_model(const Options& options, Context& context) {
  source::Sources sources;
  diag::Engine diags(sources);
  diags.strict = options.strict;
  auto plan = plan_decode(options, options.batch, diags, context);
  if (!plan) return plan.error();
  Json functions(Json::Array{});
  const auto refuse_scope = [&](const superkernel::Report& r) -> std::optional<Error> {
    std::vector<std::string> names;
    for (const auto& s : r.scopes) {
      if (s.name == options.scope) return {};
      names.push_back(s.name);
    }
    Error e{ErrorKind::Usage, fmt::format("there is no scope `{}`", options.scope), {}};
    if (const std::string meant = diag::nearest(options.scope, names); !meant.empty())
      e.notes.push_back(fmt::format("help: did you mean `{}`?", meant));
    else if (!names.empty())
      e.notes.push_back(fmt::format("help: the first one is `{}`", names.front()));
    return e;
  };
  for (const plan::Schedule& s : plan->plan.schedules) {
    const superkernel::Report r = superkernel::report(s);
    if (!options.scope.empty())
      if (const auto wrong = refuse_scope(r)) return report(*wrong, context);
    if (!options.svg.empty()) {
      const std::string title = fmt::format("{} in {}, batch {}", s.function, plan->mode, plan->batch);
      auto file = AtomicFile::create(options.svg);
      if (!file) return report(file.error(), context);
      if (auto ok = file->write(superkernel::svg(r, s, options.scope, title)); !ok)
        return report(ok.error(), context);
      if (auto ok = file->commit(); !ok) return report(ok.error(), context);
    }
    if (options.json) {
      Json one = superkernel::json(r, s, plan->plan.program, options.scope, options.plan);
      Json full = Json::Object{
          {"format_version", 1}, {"mode", plan->mode}, {"function", s.function}, {"batch", plan->batch}};
      for (auto& [key, value] : one.as_object()) full.set(key, std::move(value));
      functions.push(std::move(full));
      continue;
    }
    context.out << fmt::format("{} in {}, batch {}\n", s.function, plan->mode, plan->batch);
    if (r.scopes.empty())
      context.out << "  no super-kernel scope is in effect\n";
    else
      context.out << "  " << superkernel::summary(r) << '\n'
                  << superkernel::text(r, s, plan->plan.program, options.scope, options.plan);
  }
  if (options.json) {
    // One document: the model's decode; with more than one decode function, the others stand in a list behind
    // it.
    Json document = functions.as_array().empty()
                        ? Json(Json::Object{{"format_version", 1}, {"mode", plan->mode}})
                        : functions.as_array().front();
    if (functions.as_array().size() > 1) {
      Json rest(Json::Array{});
      for (size_t i = 1; i < functions.as_array().size(); ++i) rest.push(functions.as_array()[i]);
      document.set("more", std::move(rest));
    }
    context.out << to_json(document, 1) << '\n';
  }
  return report(diags, context);
}

/// What a run of these prompts would capture, compile and replay: the run itself with kernels that do
/// nothing, so that the forecast cannot count otherwise than the run. Requests end at their limit, not at an
/// end token.
int explain_compiles(const Options& options, Context& context) {
  RunOptions o = options.run;
  static_cast<ModelOptions&>(o) = options;
  if (o.mode.empty() && o.config.empty()) o.mode = "ge_graph";
  if (o.prompt_ids.empty()) o.prompt_ids = {"0"};
  o.dry = o.json = o.ignore_eos = true;
  std::istringstream in;
  std::ostringstream out, err;
  Context quiet{in, out, err};
  std::atomic<bool> interrupt{false};
  const int code = run_model(o, quiet, interrupt);
  auto json = parse_json(out.str(), "forecast");
  if (code != kDone || !json || json->find("graph") == nullptr) {
    context.err << err.str();
    return code != kDone ? code : static_cast<int>(kInternal);
  }
  const Json& graph = *json->find("graph");
  if (options.json) {
    context.out << to_json(
                       Json::Object{{"format_version", 1}, {"mode", *json->find("mode")}, {"graph", graph}},
                       1)
                << '\n';
    return kDone;
  }
  context.out << fmt::format("{} in {}: {} request{}, forecast of a run that no end token cuts short\n",
                             o.file, json->find("mode")->as_string(), o.prompt_ids.size(),
                             o.prompt_ids.size() == 1 ? "" : "s");
  for (const auto& [key, value] : graph.as_object())
    if (value.is_int()) context.out << fmt::format("  {:<24} {}\n", key, value.as_int());
  const auto table = [&](std::string_view key) {
    const Json* list = graph.find(key);
    if (!list || !list->is_array()) return;
    for (const Json& row : list->as_array()) {
      std::string line;
      for (const auto& [name, value] : row.as_object())
        if (!value.is_null())
          line += fmt::format("{}{} {}", line.empty() ? "" : ", ", name,
                              value.is_string() ? value.as_string() : to_json(value));
      context.out << fmt::format("  {}: {}\n", key, line);
    }
  };
  table("fallbacks");
  table("events");
  return kDone;
}

/// What padding to the gears of each decode phase costs.
int explain_gears(const Options& options, Context& context) {
  source::Sources sources;
  diag::Engine diags(sources);
  diags.strict = options.strict;
  ModelOptions asked = options;
  if (asked.mode.empty() && asked.config.empty()) asked.mode = "npugraph_ex";
  const auto compiled = compile_model(asked, options.batch, diags, context);
  if (!compiled) return compiled.error();
  const plan::Program& program = compiled->elaborated.program;
  const config::Setting* tp = compiled->prepared.compile.sema.settings.find("parallel_config.attn_tp_size");
  Json functions(Json::Array{});
  std::string out;
  for (const plan::Function& f : program.functions) {
    if (!plan::is_decode(f.phase)) continue;
    const exec::Gears gears = exec::gears_of(program, f);
    if (gears.sizes.empty()) continue;
    const GearReport r =
        gear_report(gears.sizes, tp && tp->value.is_int() ? tp->value.as_int() : 1, options.batches);
    out += fmt::format("{}: {}", f.name, text(r));
    Json one = Json::Object{{"function", f.name}};
    Json table = json(r);
    for (auto& [key, value] : table.as_object()) one.set(key, std::move(value));
    functions.push(std::move(one));
  }
  if (options.json)
    context.out << to_json(Json::Object{{"format_version", 1}, {"functions", std::move(functions)}}, 1)
                << '\n';
  else
    context.out << (out.empty() ? "no decode phase has gears; `gears [2, 4, 8]` in its body keeps a graph "
                                  "for each of these batch sizes\n"
                                : out);
  return report(diags, context);
}

int explain(const Options& options, Context& context) {
  if (!options.record.empty()) return explain_case(options, context);
  if (options.file.empty())
    return report(Error{ErrorKind::Usage,
                        "explain needs a subject",
                        {"help: give a .sk file, a diagnostic such as SK3004, or --case FILE"}},
                  context);
  const bool file = options.file.ends_with(".sk") || options.file.find('/') != std::string::npos;
  if (file && options.gears) return explain_gears(options, context);
  if (file && options.compiles) return explain_compiles(options, context);
  return file ? explain_model(options, context) : explain_diagnostic(options, context);
}

}  // namespace

Run define_explain(CLI::App& app) {
  auto options = std::make_shared<Options>();
  add_model_options(app, *options);
  app.get_option("file")->required(false)->description(
      "a .sk file, a diagnostic's id or name, or an error code of the device");
  app.add_option("--batch", options->batch,
                 "requests of the decode graph; default: scheduler_config.batch_size, else 1")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--scope", options->scope, "this scope only");
  app.add_flag("--plan", options->plan, "the plan steps of both sides too");
  app.add_option("--svg", options->svg, "write a picture of the launches before and after");
  app.add_option("--case", options->record,
                 "compile a record, or a list of records, of the conformance form");
  app.add_flag("--compiles", options->compiles,
               "forecast captures, compilations and replays of a run; no kernel is executed");
  app.add_flag("--gears", options->gears,
               "what padding to the gears of a decode phase costs, and gears that cost less");
  app.add_option("--batches", options->batches,
                 "with --gears: batch sizes as they arrive, such as 2,2,3,16; default: each up to the "
                 "largest gear once")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--prompt-ids", options->run.prompt_ids,
                 "with --compiles: token ids of a prompt; repeatable")
      ->allow_extra_args(false)
      ->delimiter('\0');
  app.add_option("--max-new-tokens", options->run.max_new_tokens, "with --compiles: tokens for each request");
  app.add_flag("--json", options->json, "one JSON document");
  return [options](Context& context) { return explain(*options, context); };
}

}  // namespace skdsl::cli
