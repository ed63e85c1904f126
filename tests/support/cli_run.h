// cli_run — a command of skdsl run in this process, with its outputs as strings
#pragma once
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "cli/cli.h"

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

/// A folder of its own that goes with the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "skdsl-test-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

inline std::string source_path(const std::string& name) { return std::string(SKDSL_SOURCE_DIR) + "/" + name; }

}  // namespace skdsl::testing
