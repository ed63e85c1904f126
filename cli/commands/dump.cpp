// dump — what a stage of the compiler makes of a file
//
// A stage is a row of kStages; each prints to standard output.
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/cli.h"
#include "cli/files.h"
#include "compiler/parse/parse.h"

namespace skdsl::cli {
namespace {

struct Options {
  std::string file;
  std::string stage = "ast";
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

struct Stage {
  std::string_view name;
  int (*run)(const Options& options, Context& context);
};
constexpr Stage kStages[] = {
    {"ast", dump_ast},
};

}  // namespace

Run define_dump(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("file", options->file, "a .sk file, or `-`")->required();
  std::vector<std::string> names;
  for (const Stage& stage : kStages) names.emplace_back(stage.name);
  app.add_option("--stage", options->stage, "which stage")->check(CLI::IsMember(names))->capture_default_str();
  return [options](Context& context) {
    for (const Stage& stage : kStages) {
      if (stage.name == options->stage) return stage.run(*options, context);
    }
    return static_cast<int>(kUsage);
  };
}

}  // namespace skdsl::cli
