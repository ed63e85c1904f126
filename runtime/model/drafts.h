// drafts — the draft beside a model: after each step it guesses the token after the one that was just chosen
//
// A draft's phases take (ids, hidden, step): the token that follows each row, the model's hidden values of
// the row, and the row's own position; they give logits and hidden values, one row for each request. Its
// first guess is for the token after next; a second one is chained: the guess and the draft's own hidden
// values go in again, one position on. Guesses change nothing that the model does.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/model/session.h"
#include "runtime/model/step.h"

namespace skdsl::model {

/// The deepest chain of guesses after one step.
inline constexpr int64_t kMaxDrafts = 2;

/// What was guessed after one step, nearest token first.
struct DraftGuess {
  std::vector<int32_t> tokens;
  std::vector<std::vector<float>> logits;  // of each guess, when they are kept
};

/// A request as the draft sees it.
struct DraftRequest {
  bool live = false;                // false: a padding row, nothing is guessed
  int32_t next = 0;                 // the token that was chosen
  int64_t kv_len = 0;               // rows of the model's cache, this step's included
  std::span<const int32_t> blocks;  // as many as one row more than kv_len needs, when guesses are chained
};

class Drafts {
 public:
  struct Options {
    int64_t depth = 1;  // guesses after each step, at most kMaxDrafts
    int64_t batch_size = 0;
    int64_t block_size = 0;
    int64_t table_columns = 0;
    bool keep_logits = false;
  };

  /// Refused when the program has no draft, or when its phases do not fit the model's.
  static Expected<Drafts> create(Session& session, const Options& options);

  /// After a prefill of these rows: `ids` are the prompts and `hidden` the second result. Gives one guess a
  /// request.
  Expected<std::vector<DraftGuess>> after_prefill(const std::vector<std::vector<int32_t>>& prompts,
                                                  const Tensor& hidden,
                                                  std::span<const DraftRequest> requests);
  /// After a decode step; `hidden` [batch_size, …] is its second result.
  Expected<std::vector<DraftGuess>> after_decode(const Tensor& hidden,
                                                 std::span<const DraftRequest> requests);

 private:
  struct Result {
    Tensor logits, hidden;
  };
  Drafts(Session& session, const Options& options) : session_(&session), options_(options) {}
  Expected<Result> call(const plan::Function& f, const std::vector<int32_t>& ids, const Tensor& hidden,
                        std::span<const StepRequest> rows);
  Expected<Result> decode(const Tensor& hidden, std::span<const DraftRequest> requests,
                          const std::vector<int32_t>& ids, int64_t ahead);
  Expected<void> take(const Result& result, std::span<const DraftRequest> requests,
                      std::vector<DraftGuess>& guesses) const;
  Expected<void> chain(Result result, std::span<const DraftRequest> requests,
                       std::vector<DraftGuess>& guesses);

  Session* session_;
  Options options_;
  const plan::Function* prefill_ = nullptr;
  const plan::Function* decode_ = nullptr;
};

}  // namespace skdsl::model
