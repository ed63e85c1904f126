// model_run — what `skdsl run` does: configuration, weights, compilation, generation, report
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "compiler/compile.h"
#include "runtime/base/error.h"
#include "runtime/exec/capture_options.h"
#include "runtime/exec/native.h"
#include "runtime/exec/observe.h"
#include "runtime/model/checkpoint.h"

namespace skdsl::cli {

/// What the commands that load a model have in common; empty means "not given".
struct ModelOptions {
  std::string file;
  std::string mode;
  std::string config;            // run YAML
  std::string weights;           // folder, file, or synthetic[:SEED]
  std::vector<std::string> set;  // key=value
  std::optional<int64_t> max_seq_len, block_size, kv_blocks;
  std::string superkernel = "on";
  std::string jit = "on";               // ge_graph: decode as machine code
  std::vector<std::string> jit_option;  // NAME=on|off
  bool static_kernels = false;          // kernels compiled for their shapes
  int64_t mtp = 0;                      // guesses of the draft after each step; 0: the draft is not built
  bool strict = false;
  bool lenient = false;  // unknown keys of the run config are warnings
  // Passes, for finding which one breaks something.
  std::vector<std::string> print_after;
  std::vector<std::string> skip_pass;
  std::optional<int64_t> stop_after;
};

struct RunOptions : ModelOptions {
  std::vector<std::string> prompts;
  std::vector<std::string> prompt_ids;
  std::optional<int64_t> max_new_tokens;
  bool ignore_eos = false;
  std::optional<double> temperature, top_p;
  std::optional<int64_t> top_k, seed;
  std::vector<std::string> stop;
  int64_t threads = 0;
  std::string dump_logits;
  bool warmup = false;
  bool steps = false;
  std::string dump;       // folder for `dump` statements
  bool diagnose = false;  // hunt for the first NaN
  bool json = false;
  bool dry = false;        // no kernel is executed; for forecasts
  exec::Observer observe;  // told of each kernel; not an option
};

/// A file with its settings, ready to be compiled.
struct Prepared {
  CompileOptions compile;
  schedule::ScheduleOptions schedule;
  exec::CaptureOptions capture;  // of npugraph_ex
  exec::NativeOptions native;    // of machine code
  std::optional<model::Checkpoint> checkpoint;
  std::optional<uint64_t> synthetic_seed;  // weights from a seed instead
  std::string weights_folder;              // "" for synthetic without a folder
  Json hf_config = nullptr;
  std::map<std::string, std::string> origins;  // of built-in names that were given
  std::vector<std::string> infos;              // one line each, for stderr
};

/// The dtype of weights that no checkpoint gives: the activations'.
sk_dtype synthetic_dtype(const Prepared& prepared);

/// Declares the shared options on a command.
void add_model_options(CLI::App& app, ModelOptions& options);

/// Prints programs for --print-after.
std::function<void(const passes::Pass&, const plan::Program&)> pass_printer(Context& context);

/// Opens a checkpoint; Checkpoint::open, or what has begun before.
using CheckpointOpener = std::function<Expected<model::Checkpoint>(const std::string& folder)>;

/// Finds weights and configuration and fills in the built-in names. `requests` is the number of prompts.
/// After an error the diagnostics of the modules may say more than it does: report_failure tells the right
/// one.
Expected<Prepared> prepare(const sema::Modules& modules, const ModelOptions& options, int64_t requests,
                           const CheckpointOpener& open = model::Checkpoint::open);

int report_failure(const Error& error, const diag::Engine& diags, Context& context);

/// Loads the file and its imports, compiles; diagnostics are printed. The exit code when it failed.
int run_model(const RunOptions& options, Context& context, std::atomic<bool>& interrupt);

}  // namespace skdsl::cli
