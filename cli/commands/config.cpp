// config — the effective configuration: every key with its value and the layer that gave it
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/cli.h"
#include "cli/model_run.h"
#include "runtime/base/json.h"

namespace skdsl::cli {
namespace {

struct Options : ModelOptions {
  std::string action;
  bool json = false;
};

int explain(const Options& options, Context& context) {
  source::Sources sources;
  diag::Engine diags(sources);
  sema::Modules modules(diags);
  modules.load_main(options.file);
  if (diags.has_errors()) return report(diags, context);
  auto prepared = prepare(modules, options, 1);
  if (!prepared) return report(prepared.error(), context);
  const auto elaborated = sema::elaborate(modules, prepared->compile.sema, diags);
  if (!elaborated) return report(diags, context);

  const config::Builtins& b = prepared->compile.sema.builtins;
  std::vector<sema::EffectiveValue> values = elaborated->config;
  const auto built_in = [&](const char* key, std::string value) {
    const config::Setting* s = prepared->compile.sema.settings.find(key);
    const auto origin = prepared->origins.find(key);
    values.push_back({key, std::move(value), s ? s->layer : config::Layer::Default,
                      origin == prepared->origins.end() ? "built in" : origin->second});
  };
  built_in("exe_mode", b.exe_mode);
  built_in("dtype", b.dtype);
  built_in("max_seq_len", std::to_string(b.max_seq_len));
  built_in("block_size", std::to_string(b.block_size));
  built_in("kv_blocks", std::to_string(b.kv_blocks));
  built_in("batch_size", std::to_string(b.batch_size));
  built_in("world_size", std::to_string(b.world_size));
  if (options.json) {
    Json::Array keys, harmless;
    for (const sema::EffectiveValue& v : values)
      keys.push_back(Json::Object{
          {"key", v.key}, {"value", v.value}, {"layer", config::name(v.layer)}, {"origin", v.origin}});
    for (const std::string& key : elaborated->harmless_keys) harmless.emplace_back(key);
    context.out << to_json(Json::Object{{"format_version", 1}, {"keys", keys}, {"without_effect", harmless}},
                           1)
                << '\n';
    return kDone;
  }
  size_t width = 0, value_width = 0;
  for (const sema::EffectiveValue& v : values) {
    width = std::max(width, v.key.size());
    value_width = std::max(value_width, v.value.size());
  }
  for (const sema::EffectiveValue& v : values)
    context.out << fmt::format("{:<{}}  {:<{}}  {}\n", v.key, width, v.value, value_width, v.origin);
  if (!elaborated->harmless_keys.empty())
    context.out << fmt::format("\nin config.json, without effect on the mathematics: {}\n",
                               fmt::join(elaborated->harmless_keys, ", "));
  return report(diags, context);
}

}  // namespace

Run define_config(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("action", options->action, "explain")->required()->check(CLI::IsMember({"explain"}));
  add_model_options(app, *options);
  app.add_flag("--json", options->json, "one JSON document on standard output");
  return [options](Context& context) { return explain(*options, context); };
}

}  // namespace skdsl::cli
