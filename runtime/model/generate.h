// generate — the generation loop: one ragged prefill, then decode steps until every request is done
//
// How a token is chosen is the business of sampling.h; greedy unless asked otherwise. Requests keep their
// place in the batch; a finished one becomes a padding row. Everything that can be refused is refused before
// the prefill.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/model/drafts.h"
#include "runtime/model/sampling.h"
#include "runtime/model/session.h"

namespace skdsl::model {

inline constexpr int64_t kDefaultMaxNewTokens = 32;

struct GenerateRequest {
  std::vector<std::vector<int32_t>> prompts;  // token ids, one list for each request
  std::optional<int64_t> max_new_tokens;      // absent: kDefaultMaxNewTokens, cut to what fits
  std::vector<int64_t> eos;                   // any of these ends a request and is part of its tokens
  bool ignore_eos = false;
  Sampling sampling;        // greedy by default
  int64_t batch_size = 0;   // rows of decode; 0 = the number of prompts
  int64_t max_seq_len = 0;  // prompt and new tokens of one request
  int64_t block_size = 0;
  int64_t kv_blocks = 0;  // null block included
  bool keep_logits = false;
  int64_t drafts = 0;                      // guesses of the draft after each step; 0 = the draft is not run
  bool warmup = false;                     // one decode of padding rows first, so that the graphs exist
  std::optional<uint64_t> shuffle_blocks;  // seed; tests: results must not depend on the order of blocks
  std::vector<std::vector<int32_t>>
      forced;  // per request: tokens fed back instead of the chosen ones (teacher forcing)
};

enum class StopReason : uint8_t { Length, Eos, StopString };

struct GeneratedSequence {
  std::vector<int32_t> tokens;
  std::vector<std::vector<float>> logits;  // keep_logits: row k chose tokens[k]; row 0 is the prefill's
  std::vector<DraftGuess>
      drafts;  // k: the guesses for tokens[k + 1], tokens[k + 2] …; none after the last token
  StopReason stop = StopReason::Length;
};

/// One forward pass, for `--steps`; step 0 is the prefill.
struct StepInfo {
  uint64_t step = 0;
  bool prefill = false;
  bool warmup = false;
  bool graph = false;     // served by a static graph
  bool native = false;    // ge_graph: as machine code
  bool compiled = false;  // that graph was made in this step
  std::string served;     // npugraph_ex: which graph, or why none
  int64_t rows = 0;
  int64_t padding = 0;  // of these rows
  double ms = 0;
};

struct GenerateCallbacks {
  std::function<void(size_t request, int32_t token)> on_token;
  /// Asked after on_token for each token but an end token: whether the request ends here
  /// (StopReason::StopString).
  std::function<bool(size_t request, int32_t token)> stops_after;
  std::function<void(const StepInfo&)> on_step;
};

struct GenerateResult {
  std::vector<GeneratedSequence> requests;
  int64_t batch_size = 0;
  int64_t max_new_tokens = 0;  // after cutting
  uint64_t decode_steps = 0;
  uint64_t captures_after_warmup = 0;  // with warmup: graphs that it did not make
  double prefill_ms = 0;
  double decode_ms_per_token = 0;  // per decode step, compilation left out; 0 without steps
};

/// Resets the session's states and generates. Errors name numbers and flags (`--max-seq-len` …).
Expected<GenerateResult> generate(Session& session, const GenerateRequest& request,
                                  const GenerateCallbacks& callbacks = {});

}  // namespace skdsl::model
