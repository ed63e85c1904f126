// dump — what a stage of the compiler makes of a file
//
// A stage is a row of kStages; each prints to standard output.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/cli.h"
#include "cli/decode_plan.h"
#include "cli/files.h"
#include "cli/model_run.h"
#include "compiler/parse/parse.h"

namespace skdsl::cli {
namespace {

struct Options : ModelOptions {
  std::string stage = "ast";
  int64_t batch = 1;
};

int dump_ast(const Options& options, Context& context) {
  source::Sources sources;
  const auto file = read_source(options.file, sources, context);
  if (!file) return report(file.error(), context);
  diag::Engine diags(sources);
  const ast::Ast tree = parse::parse(*file, diags);
  context.out << ast::dump(tree);
  return report(diags, context);
}

int dump_ir(const Options& options, Context& context) {
  source::Sources sources;
  diag::Engine diags(sources);
  sema::Modules modules(diags);
  modules.load_main(options.file);
  if (diags.has_errors()) return report(diags, context);
  auto prepared = prepare(modules, options, options.batch);
  if (!prepared) return report_failure(prepared.error(), diags, context);
  prepared->compile.passes.print = pass_printer(context);
  auto compiled = compile(modules, prepared->compile, diags);
  if (!compiled) return report(diags, context);
  context.out << plan::print(compiled->program);
  return report(diags, context);
}

/// The program with the schedules of its decode phases under `--batch` requests.
int dump_plan(const Options& options, Context& context) {
  source::Sources sources;
  diag::Engine diags(sources);
  auto planned = plan_decode(options, options.batch, diags, context);
  if (!planned) return planned.error();
  context.out << plan::print(planned->plan);
  return report(diags, context);
}

struct Stage {
  std::string_view name;
  int (*run)(const Options& options, Context& context);
};
constexpr Stage kStages[] = {
    {"ast", dump_ast},
    {"ir", dump_ir},
    {"plan", dump_plan},
};

}  // namespace

Run define_dump(CLI::App& app) {
  auto options = std::make_shared<Options>();
  add_model_options(app, *options);
  app.add_option("--batch", options->batch, "requests of the decode graph that `plan` shows; default 1")
      ->check(CLI::Range(1, 1 << 20));
  std::vector<std::string> names;
  for (const Stage& stage : kStages) names.emplace_back(stage.name);
  app.add_option("--stage", options->stage,
                 "ast: the tree; ir: the program after passes; plan: with the schedule of decode")
      ->check(CLI::IsMember(names))
      ->capture_default_str();
  return [options](Context& context) {
    for (const Stage& stage : kStages) {
      if (stage.name == options->stage) return stage.run(*options, context);
    }
    return static_cast<int>(kUsage);
  };
}

}  // namespace skdsl::cli
