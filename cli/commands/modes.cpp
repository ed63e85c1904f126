// modes — per mode: does this file run in it, and if not, which op, where and why
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/cli.h"
#include "cli/decode_plan.h"
#include "cli/model_run.h"
#include "compiler/superkernel/report.h"
#include "runtime/base/json.h"

namespace skdsl::cli {
namespace {

struct Options : ModelOptions {
  int64_t batch = 1;
  bool json = false;
};

struct Mode {
  std::string_view name;
  std::string_view what;
  std::string_view why;  // to recommend it when it works
};
// The later ones are recommended before the earlier ones.
constexpr Mode kModes[] = {
    {"eager", "interpreter, any shape", "no graph mode takes this file as it is"},
    {"npugraph_ex", "capture once, replay", "decode is captured once and replayed"},
    {"ge_graph", "static graph", "decode is one static graph, and its scopes become super kernels"},
};

struct Verdict {
  bool ok = false;
  Json blocked{Json::Array{}};  // diagnostics
  std::vector<std::string> lines;
};

Verdict try_mode(const Options& options, const Mode& mode) {
  source::Sources sources;
  diag::Engine diags(sources);
  diags.strict = options.strict;
  std::istringstream nothing;
  std::ostringstream out, err;
  Context quiet{nothing, out, err};
  ModelOptions asked = options;
  asked.mode = mode.name;
  Verdict v;
  if (mode.name != "eager") {
    if (const auto plan = plan_decode(asked, options.batch, diags, quiet)) {
      v.ok = true;
      for (const plan::Schedule& s : plan->plan.schedules)
        if (const auto r = superkernel::report(s); !r.scopes.empty())
          v.lines.push_back(s.function + ": " + superkernel::summary(r));
    }
  } else {
    v.ok = compile_model(asked, options.batch, diags, quiet).has_value();
  }
  for (const diag::Diagnostic& d : diags.all()) {
    if (d.severity != diag::Severity::Error) continue;
    const Loc at = sources.loc(d.span);
    v.lines.push_back(fmt::format(
        "{}{}: {}", diag::rule(d.id).id,
        at.line == 0 ? "" : fmt::format(" at {}:{}:{}", sources.name(d.span.file), at.line, at.column),
        d.message));
    for (const std::string& help : d.helps) v.lines.push_back("  help: " + help);
    if (auto json = parse_json(diag::to_json(d, sources), "diagnostic")) v.blocked.push(std::move(*json));
  }
  // Trouble with the configuration is no diagnostic: its own words, without the word `error`.
  if (!v.ok && v.blocked.as_array().empty()) {
    std::istringstream text(err.str());
    for (std::string line; std::getline(text, line);)
      v.lines.push_back(line.starts_with("error: ") ? line.substr(7)
                        : line.starts_with("  = ")  ? "  " + line.substr(4)
                                                    : line);
    v.blocked.push(Json::Object{{"message", v.lines.empty() ? "" : v.lines.front()}});
  }
  return v;
}

int modes(const Options& options, Context& context) {
  // What is wrong in every mode is told once, as `run` tells it.
  {
    source::Sources sources;
    diag::Engine diags(sources);
    sema::Modules loaded(diags);
    loaded.load_main(options.file);
    if (diags.has_errors()) return report(diags, context);
  }
  Json list(Json::Array{});
  std::string_view best, why;
  std::string text;
  for (const Mode& mode : kModes) {
    const Verdict v = try_mode(options, mode);
    text += fmt::format("{:<12} {}\n", mode.name,
                        v.ok ? fmt::format("ok: {}", mode.what) : std::string("blocked"));
    for (const std::string& line : v.lines) text += "  " + line + "\n";
    if (v.ok) best = mode.name, why = mode.why;
    list.push(Json::Object{{"mode", mode.name}, {"ok", v.ok}, {"blocked", v.blocked}});
  }
  if (options.json) {
    context.out << to_json(Json::Object{{"format_version", 1},
                                        {"modes", std::move(list)},
                                        {"recommended", best.empty() ? Json() : Json(best)}},
                           1)
                << '\n';
  } else {
    context.out << text;
    if (!best.empty()) context.out << fmt::format("recommended: {}, since {}\n", best, why);
  }
  return best.empty() ? kInputHasErrors : kDone;
}

}  // namespace

Run define_modes(CLI::App& app) {
  auto options = std::make_shared<Options>();
  add_model_options(app, *options);
  app.get_option("--mode")->group("");  // every mode is tried
  app.add_option("--batch", options->batch, "requests of the decode graph")->check(CLI::Range(1, 1 << 20));
  app.add_flag("--json", options->json, "one JSON document");
  return [options](Context& context) { return modes(*options, context); };
}

}  // namespace skdsl::cli
