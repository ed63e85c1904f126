// live — a snapshot with weights and a session, for what has to be run: bits, time, values
#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/repl/unit.h"
#include "runtime/exec/observe.h"
#include "runtime/model/generate.h"
#include "runtime/model/session.h"
#include "runtime/model/weights.h"

namespace skdsl::cli::repl {

/// Weights beyond this are not loaded for a check between two edits.
inline constexpr uint64_t kMaxCheckBytes = 256u << 20;

struct LiveOptions {
  bool whole = false;  // whatever the weights take
  const std::atomic<bool>* interrupt = nullptr;
  exec::Observer observe;
};

/// A model, or a script, ready to run.
class Live {
 public:
  /// The error says what is missing; when the weights are too large for a check its kind is Usage.
  static Expected<std::unique_ptr<Live>> load(const Snapshot& snapshot, const LiveOptions& options);

  const std::string& mode() const { return session_->mode(); }
  /// Fixed prompts, `tokens` new tokens each: the logits of every step, or what a script prints.
  struct Run {
    std::vector<std::vector<float>> logits;
    std::string printed;
    size_t requests = 0, steps = 0;
    double decode_ms = 0;
  };
  Expected<Run> run(int64_t tokens);
  bool is_script() const { return elaborated_->has_script; }

 private:
  source::Sources sources_;
  diag::Engine diags_{sources_};
  sema::Modules modules_{diags_};
  std::optional<Prepared> prepared_;
  std::optional<sema::Elaborated> elaborated_;
  std::optional<model::Weights> weights_;
  std::unique_ptr<model::Session> session_;
  std::string printed_;
  int64_t batch_ = 1;
};

/// Whether two snapshots give the same bits, and what was run to know it.
struct Bits {
  enum class Verdict : uint8_t { Same, Different, NotRun, Interrupted } verdict = Verdict::NotRun;
  std::string text;
};

/// Compares runs with the file as it was loaded, in eager where its settings allow it, else in the snapshot's
/// mode without super kernels. References are kept.
class BitsCheck {
 public:
  Bits check(const Snapshot& edited, const std::string& original_text, const std::atomic<bool>& interrupt);

 private:
  struct Reference {
    Snapshot of;
    Live::Run run;
    std::string text;  // "the file in eager"
  };
  std::vector<Reference> references_;
};

}  // namespace skdsl::cli::repl
