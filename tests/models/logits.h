// logits — a run of `skdsl run --dump-logits` and what stands in the file
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/base/file.h"
#include "runtime/base/json.h"
#include "tests/support/cli_run.h"

namespace skdsl::testing {

struct LogitsRun {
  std::string model;    // path of the .sk file
  std::string weights;  // folder
  std::vector<std::vector<int64_t>> prompts;
  std::string mode = "eager";
  std::string dtype = "float32";
  int threads = 1;
  int64_t new_tokens = 8;
  std::vector<std::string> more;
};

/// The bytes of the logits file; fails the test when the run fails.
inline std::string logits_text(const LogitsRun& run) {
  TemporaryFolder folder;
  const std::string file = folder / "logits.json";
  std::vector<std::string> args{"run",
                                run.model,
                                "--weights",
                                run.weights,
                                "--mode",
                                run.mode,
                                "--set",
                                "dtype=" + run.dtype,
                                "--ignore-eos",
                                "--max-new-tokens",
                                std::to_string(run.new_tokens),
                                "--threads",
                                std::to_string(run.threads),
                                "--dump-logits",
                                file};
  for (const auto& prompt : run.prompts) {
    std::string ids;
    for (const int64_t id : prompt) ids += (ids.empty() ? "" : ",") + std::to_string(id);
    args.insert(args.end(), {"--prompt-ids", ids});
  }
  args.insert(args.end(), run.more.begin(), run.more.end());
  const CommandResult r = run_command(args);
  EXPECT_EQ(r.exit, 0) << r.err;
  auto text = read_file(file);
  EXPECT_TRUE(text.has_value());
  return text ? *text : "";
}

inline Json parsed(const std::string& text) {
  auto json = parse_json(text, "logits");
  EXPECT_TRUE(json.has_value());
  return json ? std::move(*json) : Json(nullptr);
}

inline std::vector<int64_t> integers(const Json& list) {
  std::vector<int64_t> out;
  for (const Json& x : list.as_array()) out.push_back(x.as_int());
  return out;
}

}  // namespace skdsl::testing
