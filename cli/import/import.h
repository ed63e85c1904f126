// import — a Hugging Face folder, read and compared with the model file that runs it
//
// Nothing is guessed: a key that the model does not understand, or a tensor that does not fit, ends the
// import.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/cli.h"
#include "cli/import/family.h"
#include "cli/model_run.h"
#include "runtime/model/weights.h"

namespace skdsl::cli {

struct ImportOptions {
  std::string folder;
  std::string model;          // the .sk file; "": the family's
  std::string mode;           // exe_mode of the run config
  std::string output;         // of the run config; "": standard output
  bool force = false;         // overwrite `output`
  bool headers_only = false;  // do not look through the weights' values
  bool strict = false;
  bool json = false;
};

/// A key of config.json and what becomes of it.
struct ImportedKey {
  std::string key;
  Json value;
  std::string use;  // of runtime keys: what for
};

struct Imported {
  std::string folder;
  const Family* family = nullptr;  // null with --model
  std::string model;               // path of the .sk file
  std::string mode, dtype;
  int64_t positions = 0;    // max_position_embeddings, or the default
  int64_t max_seq_len = 0;  // of the run config
  std::vector<ImportedKey> used, runtime, without_effect, unknown;
  std::vector<std::pair<std::string, Json>> left_out;  // the model's keys that config.json does not give
  std::vector<ImportedKey> generation;                 // of generation_config.json
  std::vector<int64_t> end_tokens;
  std::string tokenizer;  // "tokenizer.json", or ""
  size_t files = 0;       // of weights; 0: only config.json
  model::WeightReport weights;
  std::vector<std::string> warnings;
};

/// Reads a folder. Trouble with it is the error; diagnostics of the model file are in `diags`, and nothing is
/// returned when there are errors among them.
Expected<std::optional<Imported>> import_folder(const ImportOptions& options, diag::Engine& diags);

/// The run config (YAML) that `skdsl run --config` takes.
std::string run_yaml(const Imported& imported);
/// The command that runs it; `config` is the path of the run config.
std::string run_command_line(const Imported& imported, const std::string& config);
/// What a person wants to know.
std::string import_text(const Imported& imported, const std::string& config);
Json import_json(const Imported& imported, const std::string& config);

}  // namespace skdsl::cli
