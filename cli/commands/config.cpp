// config — the effective configuration: every key with its value and the layer that gave it
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/cli.h"
#include "cli/model_run.h"
#include "compiler/config/run_config.h"
#include "runtime/base/json.h"

namespace skdsl::cli {
namespace {

struct Options : ModelOptions {
  std::string action;
  bool json = false;
  bool table = false;
};

struct Line {
  std::string key, value, layer, origin;
  std::string status;  // of a run config's keys: what is not acted on
  std::string note;
  bool given = true;
};

std::string plain(const Json& value) {
  return value.is_string() && !value.as_string().empty() ? value.as_string() : to_json(value);
}

/// The rows of the run config. Options of the mode that does not run are left out, unless somebody gave them.
std::vector<Line> run_config_lines(const config::RunView& view, bool with_model) {
  std::vector<Line> out;
  const std::vector<config::Derived> derived = view.derived();
  for (const config::Effective& e : view.rows()) {
    // A default that stands for a computed value is told with it.
    const std::string path = e.key->path();
    if (std::any_of(derived.begin(), derived.end(), [&](const config::Derived& d) { return d.path == path; }))
      continue;
    const std::string_view section = e.key->section;
    const bool option = section == "npugraph_ex" || section == "ge";
    if (option && !e.given && view.mode() != (section == "ge" ? "ge_graph" : "npugraph_ex")) continue;
    if (e.key->status == config::KeyStatus::Dead || e.key->status == config::KeyStatus::Derived) continue;
    if (e.key->key == "custom_params" || (section == "custom_params" && !e.given)) continue;
    // Built-in names and keys of the model file have their own lines.
    if (with_model && (e.declared || (e.key->setting() == e.key->key && section != "custom_params" &&
                                      !e.key->setting().starts_with("max_new") && e.key->key != "next_n")))
      continue;
    const bool acts = e.acts() || (section == "custom_params" && !with_model);
    out.push_back({e.key->path(), plain(e.value), std::string(config::name(e.layer)), e.origin,
                   acts ? "" : std::string(config::name(e.key->status)), acts ? "" : std::string(e.key->note),
                   e.given});
  }
  for (const config::Setting& s : view.settings().items)
    if (!with_model && s.section == "custom_params" && !config::find_run_key("custom_params", s.key) &&
        s.key.find('.') == std::string::npos)
      out.push_back({"model_config.custom_params." + s.key, plain(s.value),
                     std::string(config::name(s.layer)), s.origin, "", ""});
  for (const config::Derived& d : derived) out.push_back({d.path, d.value, "derived", d.why, "", ""});
  return out;
}

Json json_of(const std::vector<Line>& lines) {
  Json::Array keys;
  for (const Line& l : lines) {
    Json::Object o{{"key", l.key}, {"value", l.value}, {"layer", l.layer}, {"origin", l.origin}};
    if (!l.status.empty()) o.insert(o.end(), {{"status", l.status}, {"why", l.note}});
    keys.push_back(std::move(o));
  }
  return keys;
}

void print(const std::vector<Line>& lines, Context& context) {
  size_t width = 0, value_width = 0;
  for (const Line& l : lines) {
    width = std::max(width, l.key.size());
    value_width = std::max(value_width, std::min<size_t>(l.value.size(), 40));
  }
  for (const Line& l : lines)
    context.out << fmt::format("{:<{}}  {:<{}}  {}{}\n", l.key, width, l.value, value_width, l.origin,
                               l.status.empty() ? ""
                               : l.given        ? fmt::format("  [{}: {}]", l.status, l.note)
                                                : fmt::format("  [{}]", l.status));
}

/// A run config alone: its model need not exist here.
int explain_run_config(const Options& options, const std::string& path, Context& context) {
  source::Sources sources;
  diag::Engine diags(sources);
  diags.strict = options.strict;
  const config::RunContext run_context{options.mode, nullptr};
  config::Settings settings;
  settings.lenient = options.lenient;
  if (auto ok = config::read_run_config(path, run_context, settings, diags); !ok)
    return report(ok.error(), context);
  for (const std::string& text : options.set) {
    auto s = config::parse_set(text);
    if (!s) return report(s.error(), context);
    settings.items.push_back(std::move(*s));
  }
  config::check_run_settings(run_context, settings, diags);
  const config::RunView view(settings, run_context);
  if (!diags.has_errors()) config::check_run_rules(view, diags);
  const bool good = !diags.has_errors();
  const std::vector<Line> lines = good ? run_config_lines(view, false) : std::vector<Line>();
  if (options.json) {
    auto list = parse_json(diagnostics_json(diags), "diagnostics");
    Json::Object document{{"format_version", 1}};
    if (good) document.emplace_back("keys", json_of(lines));
    document.emplace_back("diagnostics", list ? std::move(*list) : Json(Json::Array{}));
    context.out << to_json(document, 1) << '\n';
  } else {
    print(lines, context);
  }
  return report(diags, context);
}

int explain(const Options& options, Context& context) {
  if (options.table) {
    context.out << config::run_keys_markdown();
    return kDone;
  }
  if (options.action != "explain" || options.file.empty()) {
    Error e{ErrorKind::Usage,
            options.action.empty() ? "what to do is missing"
                                   : fmt::format("`config {}` needs a file", options.action),
            {}};
    if (!options.action.empty() && options.action != "explain")
      e.message = fmt::format("`config {}` is not known", options.action);
    e.notes.emplace_back("help: write skdsl config explain FILE, or skdsl config --table");
    return report(e, context);
  }
  if (options.file.ends_with(".yaml") || options.file.ends_with(".yml"))
    return explain_run_config(options, options.file, context);
  source::Sources sources;
  diag::Engine diags(sources);
  diags.strict = options.strict;
  sema::Modules modules(diags);
  modules.load_main(options.file);
  if (diags.has_errors()) return report(diags, context);
  auto prepared = prepare(modules, options, 1);
  if (!prepared) return report_failure(prepared.error(), diags, context);
  const auto elaborated = sema::elaborate(modules, prepared->compile.sema, diags);
  if (!elaborated) return report(diags, context);

  const config::Builtins& b = prepared->compile.sema.builtins;
  std::vector<Line> lines;
  for (const sema::EffectiveValue& v : elaborated->config)
    lines.push_back({v.key, v.value, std::string(config::name(v.layer)), v.origin, "", ""});
  const auto built_in = [&](const char* key, std::string value) {
    const config::Setting* s = prepared->compile.sema.settings.find(key);
    const auto origin = prepared->origins.find(key);
    lines.push_back({key, std::move(value), std::string(config::name(s ? s->layer : config::Layer::Default)),
                     origin == prepared->origins.end() ? "built in" : origin->second, "", ""});
  };
  built_in("exe_mode", b.exe_mode);
  built_in("dtype", b.dtype);
  built_in("max_seq_len", std::to_string(b.max_seq_len));
  built_in("block_size", std::to_string(b.block_size));
  built_in("kv_blocks", std::to_string(b.kv_blocks));
  built_in("batch_size", std::to_string(b.batch_size));
  built_in("world_size", std::to_string(b.world_size));
  const config::RunContext run_context{
      options.mode, [&](std::string_view key) { return sema::declares_config(modules, key); }};
  const config::RunView view(prepared->compile.sema.settings, run_context);
  // A run without a run config has little to tell about one.
  for (Line& line : run_config_lines(view, true))
    if (options.json || !options.config.empty() || (line.given && line.layer != "derived"))
      lines.push_back(std::move(line));
  if (options.json) {
    Json::Array harmless;
    for (const std::string& key : elaborated->harmless_keys) harmless.emplace_back(key);
    context.out << to_json(
                       Json::Object{
                           {"format_version", 1}, {"keys", json_of(lines)}, {"without_effect", harmless}},
                       1)
                << '\n';
    return report(diags, context);
  }
  print(lines, context);
  if (!elaborated->harmless_keys.empty())
    context.out << fmt::format("\nin config.json, without effect on the mathematics: {}\n",
                               fmt::join(elaborated->harmless_keys, ", "));
  return report(diags, context);
}

}  // namespace

Run define_config(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("action", options->action, "explain");
  add_model_options(app, *options);
  app.get_option("file")->required(false)->description("the .sk file, or a run config (.yaml) alone");
  app.add_flag("--json", options->json, "one JSON document on standard output");
  app.add_flag("--table", options->table,
               "print every key that a run config may have, as in docs/run-config.md");
  return [options](Context& context) { return explain(*options, context); };
}

}  // namespace skdsl::cli
