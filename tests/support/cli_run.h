// cli_run — a command of skdsl run in this process, with its outputs as strings
#pragma once
#include <sstream>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "tests/support/temporary_folder.h"

namespace skdsl::testing {

struct CommandResult {
  int exit = 0;
  std::string out, err;
};

inline CommandResult run_command(const std::vector<std::string>& args, const std::string& input = "") {
  std::istringstream in(input);
  std::ostringstream out, err;
  cli::Context context{in, out, err};
  CommandResult r;
  r.exit = cli::run(args, context);
  r.out = out.str();
  r.err = err.str();
  return r;
}

inline std::string source_path(const std::string& name) { return std::string(SKDSL_SOURCE_DIR) + "/" + name; }

}  // namespace skdsl::testing
