// unit — a snapshot of a model, compiled to the plan of its decode step, and what is counted on it
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/decode_plan.h"
#include "cli/model_run.h"
#include "compiler/superkernel/report.h"

namespace skdsl::cli::repl {

/// All that undo goes back to; nothing in it changes.
struct Snapshot {
  std::string text;
  ModelOptions options;  // file, mode, settings, weights
  int64_t batch = 1;
};
/// The same model: text, mode, settings and batch.
bool same(const Snapshot& a, const Snapshot& b);

/// What a decode step asks of the device.
struct Counts {
  size_t scopes = 0, pieces = 0, ops_in_scopes = 0, ops_fused = 0;
  size_t launches = 0;            // with super kernels
  size_t kernels = 0;             // without
  std::array<size_t, 3> syncs{};  // inside super kernels, by plan::SyncScope
  size_t preloads = 0, barriers = 0;
  size_t early_starts = 0;  // hand-shakes in the place of a barrier
  size_t events = 0, prefetches = 0;
  std::optional<double> modelled_us;  // of a timing model; nothing without one
};
Counts count(const plan::Schedule& schedule);

/// A compiled snapshot. Plans of ge_graph are made from the decode phase alone and are not verified: nothing
/// runs from them. In eager there is no plan.
struct Unit {
  source::Sources sources;
  diag::Engine diags{sources};
  std::string mode;
  std::optional<plan::Program> program;      // of decode
  std::vector<plan::Schedule> schedules;     // the model's decode first
  std::vector<superkernel::Report> reports;  // by schedule
  Counts counts;                             // of the first schedule
  uint64_t mathematics = 0;                  // a hash of what decode computes, whatever its schedule
  std::optional<Error> error;                // what went wrong besides the diagnostics
  std::vector<std::string> config_keys;
  double ms = 0;

  bool good() const { return !error && !diags.has_errors() && program.has_value(); }
  /// The instance paths of the ops of a scope that are of this operator, or stand at or below this path.
  std::vector<std::string> paths(std::string_view scope, std::string_view op) const;
};
std::shared_ptr<const Unit> compile_unit(const Snapshot& snapshot);

}  // namespace skdsl::cli::repl
