// import — looks a Hugging Face folder through, picks the model file and writes a run config
#include "cli/import/import.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "cli/cli.h"
#include "runtime/base/file.h"

namespace skdsl::cli {
namespace {

/// Says what is wrong; with --json in the one document too. Gives the exit code.
int failed(const ImportOptions& options, const Error& error, const diag::Engine& diags, Context& context) {
  if (options.json) {
    Json::Array notes;
    for (const std::string& note : error.notes) notes.emplace_back(note);
    auto list = parse_json(diagnostics_json(diags), "diagnostics");
    context.out << to_json(Json::Object{{"format_version", 1},
                                        {"error", Json::Object{{"message", error.message}, {"notes", notes}}},
                                        {"diagnostics", list ? std::move(*list) : Json(Json::Array{})}},
                           1)
                << '\n';
  }
  return report(error, context);
}

int run_import(const ImportOptions& options, Context& context) {
  source::Sources sources;
  diag::Engine diags(sources);
  diags.strict = options.strict;
  std::error_code ec;
  const bool exists = !options.output.empty() && std::filesystem::exists(options.output, ec);
  if (exists && !options.force)
    return failed(options,
                  Error{ErrorKind::Environment,
                        fmt::format("`{}` exists already", options.output),
                        {"help: name another file with -o, or overwrite it with --force"}},
                  diags, context);
  auto imported = import_folder(options, diags);
  if (!imported) {
    report(diags, context);
    return failed(options, imported.error(), diags, context);
  }
  const int code = report(diags, context);
  if (!*imported) {
    if (options.json)
      context.out << fmt::format("{{\"format_version\":1,\"diagnostics\":{}}}\n", diagnostics_json(diags));
    return code;
  }
  const Imported& found = **imported;
  for (const std::string& line : found.warnings) context.err << "warning: " << line << '\n';
  for (const std::string& line : found.weights.unread) context.err << "warning: " << line << '\n';
  const std::string yaml = run_yaml(found);
  if (!options.output.empty())
    if (auto ok = write_file_atomically(options.output, yaml); !ok)
      return failed(options, ok.error(), diags, context);
  if (options.json) {
    Json document = import_json(found, options.output);
    auto list = parse_json(diagnostics_json(diags), "diagnostics");
    document.set("diagnostics", list ? std::move(*list) : Json(Json::Array{}));
    context.out << to_json(document, 1) << '\n';
  } else if (options.output.empty()) {
    // The run config is the result; what a person wants to know besides goes the other way.
    context.err << import_text(found, "run.yaml");
    context.out << yaml;
  } else {
    context.out << import_text(found, options.output);
  }
  return code;
}

}  // namespace

Run define_import(CLI::App& app) {
  auto o = std::make_shared<ImportOptions>();
  app.add_option("folder", o->folder, "Hugging Face folder (config.json, *.safetensors) or .safetensors file")
      ->required();
  app.add_option("-o,--output", o->output, "write the run config (YAML) here; default: standard output");
  app.add_flag("--force", o->force, "overwrite the run config");
  app.add_option("--model", o->model, "the .sk file; default: the one of the family, from examples/");
  app.add_option("--mode", o->mode, "exe_mode of the run config: eager or ge_graph; default eager");
  app.add_flag("--headers-only", o->headers_only, "do not look through the weights for NaN");
  app.add_flag("--strict", o->strict, "unknown keys and unread tensors are errors");
  app.add_flag("--json", o->json, "one JSON document on standard output");
  return [o](Context& context) { return run_import(*o, context); };
}

}  // namespace skdsl::cli
