// dump — what a stage of the compiler makes of a file
//
// A stage is a row of kStages; each prints to standard output.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/cli.h"
#include "cli/files.h"
#include "cli/model_run.h"
#include "compiler/parse/parse.h"
#include "compiler/schedule/schedule.h"

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

/// The program after passes and, for `plan`, the schedule of its decode phase under `--batch` requests.
int dump_program(const Options& options, Context& context, bool with_schedule) {
  source::Sources sources;
  diag::Engine diags(sources);
  sema::Modules modules(diags);
  modules.load_main(options.file);
  if (diags.has_errors()) return report(diags, context);
  ModelOptions asked = options;
  if (with_schedule && asked.mode.empty()) asked.mode = "ge_graph";
  auto prepared = prepare(modules, asked, options.batch);
  if (!prepared) return report(prepared.error(), context);
  prepared->compile.passes.print = pass_printer(context);
  auto compiled = compile(modules, prepared->compile, diags);
  if (!compiled) return report(diags, context);
  plan::Plan plan;
  if (with_schedule) {
    const config::Builtins& b = prepared->compile.sema.builtins;
    for (const plan::Function& f : compiled->program.functions) {
      if (!plan::is_decode(f.phase)) continue;
      const int64_t width = (b.max_seq_len + b.block_size - 1) / b.block_size;
      const plan::GraphKey key{f.name, {{"B", b.batch_size}, {"T", b.batch_size}, {"W", width}}};
      auto schedule = schedule::make_schedule(compiled->program, key, diags);
      if (!schedule) return report(diags, context);
      plan.schedules.push_back(std::move(*schedule));
    }
  }
  plan.program = std::move(compiled->program);
  context.out << (with_schedule ? plan::print(plan) : plan::print(plan.program));
  return report(diags, context);
}

int dump_ir(const Options& options, Context& context) { return dump_program(options, context, false); }
int dump_plan(const Options& options, Context& context) { return dump_program(options, context, true); }

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
