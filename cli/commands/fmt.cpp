// fmt — the formatter: one layout, nothing lost
//
// A file with syntax errors is left as it is. Before a file is replaced, the new text is parsed and compared
// with the old tree.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/cli.h"
#include "cli/files.h"
#include "compiler/parse/parse.h"
#include "runtime/base/assert.h"
#include "runtime/base/file.h"

namespace skdsl::cli {
namespace {

struct Options {
  std::vector<std::string> files;
  bool check = false;
};

int format_one(const std::string& path, const Options& options, Context& context) {
  source::Sources sources;
  const auto file = read_source(path, sources, context);
  if (!file) return report(file.error(), context);
  diag::Engine diags(sources);
  const ast::Ast tree = parse::parse(*file, diags);
  if (diags.has_errors()) return report(diags, context);

  const std::string printed = ast::print(tree);
  diag::Engine again(sources);
  const ast::Ast second = parse::parse(sources.add("<formatted>", printed), again);
  SK_ASSERT(!again.has_errors() && ast::equal(tree, tree.root, second, second.root),
            "formatting keeps the tree");

  const bool changed = printed != sources.text(*file);
  if (options.check) {
    if (changed) context.out << (path == "-" ? "<stdin>" : path) << '\n';
    return changed ? kInputHasErrors : kDone;
  }
  if (path == "-") {
    context.out << printed;
    return kDone;
  }
  if (!changed) return kDone;
  if (auto written = write_file_atomically(path, printed); !written) return report(written.error(), context);
  context.err << fmt::format("formatted {}\n", path);
  return kDone;
}

}  // namespace

Run define_fmt(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("files", options->files,
                 "files to format in place; `-` formats standard input to standard output")
      ->required();
  app.add_flag("--check", options->check,
               "change nothing; list the files that are not formatted and exit with 1");
  return [options](Context& context) {
    int code = kDone;
    for (const std::string& path : options->files) code = std::max(code, format_one(path, *options, context));
    return code;
  };
}

}  // namespace skdsl::cli
