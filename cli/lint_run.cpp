#include "cli/lint_run.h"

namespace skdsl::cli {

lint::Resolver run_resolver(const ModelOptions& options) {
  return [options](const sema::Modules& modules, const std::string& mode) -> Expected<lint::Resolved> {
    ModelOptions asked = options;
    asked.file = modules.main().path;
    asked.mode = mode;
    auto prepared = prepare(modules, asked, 1);
    if (!prepared) return tl::unexpected<Error>(std::move(prepared.error()));
    lint::Resolved out{std::move(prepared->compile), std::move(prepared->schedule), {}};
    if (!prepared->weights_folder.empty()) out.read.push_back(prepared->weights_folder);
    if (!options.config.empty()) out.read.push_back(options.config);
    return out;
  };
}

}  // namespace skdsl::cli
