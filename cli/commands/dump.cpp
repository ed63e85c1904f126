// dump — what a stage of the compiler makes of a file
//
// A stage is a row of kStages; each prints to standard output.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/cli.h"
#include "cli/decode_code.h"
#include "cli/decode_plan.h"
#include "cli/files.h"
#include "cli/model_run.h"
#include "compiler/parse/parse.h"
#include "jit/host/host.h"

namespace skdsl::cli {
namespace {

struct Options : ModelOptions {
  std::string stage = "ast";
  int64_t batch = 1;
  int64_t threads = 0;
  std::string scope, function;
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

/// The distinct super kernels of a scope or piece, by the name of their function.
std::vector<std::string> functions_of(const DecodeStep& d, const plan::Schedule& s,
                                      const std::string& scope) {
  std::vector<std::string> out;
  for (size_t l = 0; l < d.superkernel.size(); ++l) {
    if (d.superkernel[l] == plan::kNone) continue;
    const plan::SuperKernel& k = s.superkernels[d.superkernel[l]];
    const std::string& name = d.step.functions[d.step.launches[l].function].name;
    if ((k.scope == scope || k.name == scope) && std::find(out.begin(), out.end(), name) == out.end())
      out.push_back(name);
  }
  return out;
}

/// What the JIT makes of the decode phases.
int dump_code(const Options& options, Context& context, jit::Text form) {
  source::Sources sources;
  diag::Engine diags(sources);
  auto planned = plan_decode(options, options.batch, diags, context);
  if (!planned) return planned.error();
  auto steps = decode_steps(*planned, static_cast<uint32_t>(options.threads));
  if (!steps) return report(steps.error(), context);
  auto engine = jit::engine();
  if (!engine) return report(engine.error(), context);
  bool found = options.scope.empty();
  for (const DecodeStep& d : *steps) {
    const auto schedule = std::find_if(planned->plan.schedules.begin(), planned->plan.schedules.end(),
                                       [&](const auto& s) { return s.function == d.step.name; });
    const auto names = options.scope.empty() ? std::vector<std::string>{options.function}
                                             : functions_of(d, *schedule, options.scope);
    for (const std::string& name : names) {
      auto text = (*engine)->text(d.step, form, name);
      if (!text) return report(text.error(), context);
      context.out << *text;
      found = true;
    }
  }
  if (!found)
    return report(Error{ErrorKind::Usage,
                        fmt::format("the decode graphs have no super kernel of a scope `{}`", options.scope),
                        {"help: `skdsl explain` lists them"}},
                  context);
  return report(diags, context);
}
int dump_llvm(const Options& options, Context& context) {
  return dump_code(options, context, jit::Text::Llvm);
}
int dump_asm(const Options& options, Context& context) { return dump_code(options, context, jit::Text::Asm); }

struct Stage {
  std::string_view name;
  int (*run)(const Options& options, Context& context);
};
constexpr Stage kStages[] = {
    {"ast", dump_ast}, {"ir", dump_ir}, {"plan", dump_plan}, {"llvm", dump_llvm}, {"asm", dump_asm},
};

}  // namespace

Run define_dump(CLI::App& app) {
  auto options = std::make_shared<Options>();
  add_model_options(app, *options);
  app.add_option("--batch", options->batch,
                 "requests of the decode graph that `plan`, `llvm` and `asm` show; default 1")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--threads", options->threads,
                 "workers that `llvm` and `asm` are for; default: one for each core")
      ->check(CLI::Range(0, 1024));
  app.add_option("--scope", options->scope,
                 "`llvm` and `asm`: only the super kernels of this scope, without debug info");
  app.add_option("--function", options->function,
                 "`llvm` and `asm`: only the function of this name, without debug info")
      ->excludes("--scope");
  std::vector<std::string> names;
  for (const Stage& stage : kStages) names.emplace_back(stage.name);
  app.add_option("--stage", options->stage,
                 "ast: the tree; ir: the program after passes; plan: with the schedule of decode; llvm, asm: "
                 "its machine code")
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
