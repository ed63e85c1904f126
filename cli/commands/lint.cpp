// lint — what a file does that a mode, the device or the next reader will not like
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/cli.h"
#include "cli/lint_run.h"

namespace skdsl::cli {
namespace {

struct Options : ModelOptions {
  std::vector<std::string> paths, modes;
  std::string format = "human";
  bool list = false, json = false;
};

int run_lint(const Options& o, Context& context) {
  if (o.list) {
    context.out << (o.json ? lint::list_rules_json() : lint::list_rules());
    return kDone;
  }
  lint::Options options;
  options.modes = o.modes;
  options.resolve = run_resolver(o);
  std::vector<lint::FileReport> files;
  for (const std::string& path : o.paths) {
    lint::FileReport f{path, std::make_shared<source::Sources>(), {}, {}};
    auto result = lint::check_file(path, *f.sources, options);
    if (result)
      f.result = std::move(*result);
    else
      f.error = result.error();
    files.push_back(std::move(f));
  }
  context.out << (o.json ? lint::to_json(files) : lint::to_human(files, context.out_colour));
  const lint::Summary s = lint::summary(files);
  return s.unreadable > 0 ? kEnvironment : s.errors > 0 ? kInputHasErrors : kDone;
}

}  // namespace

Run define_lint(CLI::App& app) {
  auto o = std::make_shared<Options>();
  app.add_option("paths", o->paths, "files and folders");
  app.add_option("--mode", o->modes, "eager, npugraph_ex, ge_graph");
  app.add_flag("--list", o->list, "print the rules");
  app.add_flag("--json", o->json, "one JSON document");
  return [o](Context& context) { return run_lint(*o, context); };
}

}  // namespace skdsl::cli
