// run_config — the run YAML: read, checked against the table, seen as effective values
//
// Three steps: read_run_config takes a file apart and checks each key; check_run_settings does the same for
// what --set gives; check_run_rules looks at the values together (run_rules.def). Later steps are left out
// when an earlier one found errors.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/config/config.h"
#include "compiler/config/run_keys.h"
#include "compiler/diag/diag.h"

namespace skdsl::config {

/// What the checks need to know besides the settings.
struct RunContext {
  std::string mode_flag;  // of --mode; "" when not given
  std::function<bool(std::string_view key)>
      declares;  // whether the model file declares a key; null without a file
  std::function<const char*(const char* name)> environment = nullptr;  // null: getenv
};

/// Reads a run YAML and appends its settings. What is wrong is in `diags`; the error is a file that cannot be
/// read.
Expected<void> read_run_config(const std::string& path, const RunContext& context, Settings& settings,
                               diag::Engine& diags);

/// The same for a file that is in the sources already.
void read_run_config(uint32_t file, const RunContext& context, Settings& settings, diag::Engine& diags);

/// Checks what --set gives for keys of sections, and gives the values their types.
void check_run_settings(const RunContext& context, Settings& settings, diag::Engine& diags);

/// One row of the table with the value that counts.
struct Effective {
  const RunKey* key = nullptr;
  Json value;
  Layer layer = Layer::Default;
  std::string origin;     // "run.yaml:4", "--set …", "default", or what it follows from
  Span span;              // of the value, when a file gives it
  bool given = false;     // somebody asked for it
  bool declared = false;  // a key of custom_params that the model file declares
  /// Whether the run does what the value says.
  bool acts() const { return declared || key->status == KeyStatus::Acts; }
};

/// A value that follows from others, and why.
struct Derived {
  std::string path;
  std::string value;
  std::string why;
};

/// All effective values of a run config.
class RunView {
 public:
  RunView(const Settings& settings, const RunContext& context);

  const std::vector<Effective>& rows() const { return rows_; }
  const Settings& settings() const { return settings_; }
  const RunContext& context() const { return context_; }
  /// A row by its path ("parallel_config.world_size"); asking for another path is our bug.
  const Effective& at(std::string_view path) const;
  bool given(std::string_view path) const { return at(path).given; }
  bool flag(std::string_view path) const;  // booleans, and switches that are not 0
  int64_t integer(std::string_view path) const;
  double number(std::string_view path) const;
  std::string text(std::string_view path) const;
  /// An integer of config.json or of the model file's settings, when there is one.
  std::optional<int64_t> model_integer(std::string_view key) const;
  /// The mode of decode: --mode, else exe_mode.
  std::string mode() const;

  int64_t attn_dp_size() const;  // of half the ranks under AFD
  /// What the original would set TASK_QUEUE_ENABLE to.
  int task_queue() const;
  std::vector<Derived> derived() const;

 private:
  std::string environment(const char* name) const;
  const Settings& settings_;
  const RunContext& context_;
  std::vector<Effective> rows_;
};

/// Checks the values together, and tells in one line which keys are recorded only (an error under strict).
void check_run_rules(const RunView& view, diag::Engine& diags);

}  // namespace skdsl::config
