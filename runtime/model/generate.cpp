#include "runtime/model/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "runtime/model/kv_blocks.h"
#include "runtime/model/sampling.h"
#include "runtime/model/step.h"

namespace skdsl::model {

namespace {

using Clock = std::chrono::steady_clock;
using exec::RuntimeValue;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The last new token is never written to a cache.
int64_t rows_written(int64_t prompt, int64_t new_tokens) { return prompt + new_tokens - 1; }

// One request on its way.
struct Running {
  int64_t prompt = 0;  // tokens
  int64_t limit = 0;   // new tokens
  int64_t kv_len = 0;
  int32_t next = 0;  // the token to feed
  bool done = false;
  std::vector<int32_t> blocks;
};

/// The last part of a parameter's name: "step.kv_len" -> "kv_len"; the whole name without a dot.
std::string_view field_of(std::string_view parameter) {
  const size_t dot = parameter.rfind('.');
  return dot == std::string_view::npos ? parameter : parameter.substr(dot + 1);
}

/// Ids must be below this: rows of the table that looks the ids up, else the logits' last dim; 0 = unknown.
int64_t vocabulary(const plan::Function& f) {
  const auto& params = f.regions[f.body].args;
  for (const plan::Op& op : f.ops) {
    if (op.code != Opcode::Embedding || op.operands[1] == plan::kNone) continue;
    const auto it = std::find(params.begin(), params.end(), op.operands[0]);
    if (it == params.end() ||
        f.param_names[static_cast<size_t>(it - params.begin())].find('.') != std::string::npos)
      continue;
    const plan::Type& table = f.values[op.operands[1]].type;
    if (table.rank() == 2 && table.dims[0].is_constant()) return table.dims[0].constant();
  }
  if (!f.results.empty() && f.results[0].rank() == 2 && f.results[0].dims[1].is_constant())
    return f.results[0].dims[1].constant();
  return 0;
}

class Generation {
 public:
  Generation(Session& session, const GenerateRequest& request, const GenerateCallbacks& callbacks)
      : session_(session), request_(request), callbacks_(callbacks) {}

  Expected<GenerateResult> run() {
    if (auto ok = check(); !ok) return tl::unexpected(ok.error());
    session_.reset_states();
    if (request_.warmup)
      if (auto ok = warm_up(); !ok) return tl::unexpected(ok.error());
    const uint64_t captures = session_.counters().captures;
    if (auto ok = prefill(); !ok) return tl::unexpected(ok.error());
    while (std::any_of(running_.begin(), running_.end(), [](const Running& r) { return !r.done; }))
      if (auto ok = decode(); !ok) return tl::unexpected(ok.error());
    if (request_.warmup) result_.captures_after_warmup = session_.counters().captures - captures;
    if (result_.decode_steps > 0)
      result_.decode_ms_per_token = decode_ms_ / static_cast<double>(result_.decode_steps);
    return std::move(result_);
  }

 private:
  // ---- what is refused before the prefill

  Expected<void> check() {
    prefill_ = session_.phase(plan::Phase::Prefill);
    decode_ = session_.phase(plan::Phase::Decode);
    if (!prefill_ || !decode_)
      return fail("the program has no model with the phases `prefill` and `decode`",
                  {"help: generation needs both"});
    for (const plan::Function* f : {prefill_, decode_})
      if (auto ok = check_parameters(*f); !ok) return ok;
    const struct {
      std::string_view flag;
      int64_t value;
    } positive[] = {{"--max-seq-len", request_.max_seq_len},
                    {"--block-size", request_.block_size},
                    {"--kv-blocks", request_.kv_blocks}};
    for (const auto& p : positive)
      if (p.value < 1 || p.value > INT32_MAX)
        return fail(fmt::format("{} is {}; it must be at least 1 and fit 31 bits", p.flag, p.value));
    if (request_.kv_blocks > INT32_MAX / request_.block_size)
      return fail(
          fmt::format("{} blocks of {} rows (--kv-blocks, --block-size) are more slots than 31 bits count",
                      request_.kv_blocks, request_.block_size));
    const auto n = static_cast<int64_t>(request_.prompts.size());
    if (n == 0) return fail("no prompt was given", {"help: --prompt TEXT or --prompt-ids 1,2,3"});
    if (request_.batch_size < 0)
      return fail(fmt::format("batch_size is {}; it must be at least 1", request_.batch_size));
    if (request_.batch_size != 0 && n > request_.batch_size)
      return fail(
          fmt::format("{} prompts were given and scheduler_config.batch_size is {}", n, request_.batch_size),
          {fmt::format("help: give at most {} prompts, or --set scheduler_config.batch_size={}",
                       request_.batch_size, n)});
    result_.batch_size = request_.batch_size != 0 ? request_.batch_size : n;
    if (auto ok = check_ids(); !ok) return ok;
    if (request_.drafts > 0) {
      auto drafts = Drafts::create(
          session_, {request_.drafts, result_.batch_size, request_.block_size,
                     ceil_div(request_.max_seq_len, request_.block_size), request_.keep_logits});
      if (!drafts) return tl::unexpected(drafts.error());
      drafts_ = std::move(*drafts);
    }
    blocks_ = BlockManager(request_.kv_blocks, request_.shuffle_blocks);
    return check_lengths();
  }

  Expected<void> check_parameters(const plan::Function& f) const {
    int ids = 0;
    for (const std::string& name : f.param_names) {
      const bool is_field = name.find('.') != std::string::npos;
      ids += !is_field;
      if (is_field && !empty_step_.field(field_of(name)))
        return fail(fmt::format("`{}`: `{}` is not a field of Step", f.name, name));
    }
    if (ids != 1)
      return fail(fmt::format(
          "`{}` must take (ids: i32[T], step: Step); it has {} parameters beside the step", f.name, ids));
    return {};
  }

  Expected<void> check_ids() const {
    const int64_t limit = vocabulary(*prefill_);
    const auto check_list = [&](std::string_view what, size_t i,
                                const std::vector<int32_t>& ids) -> Expected<void> {
      for (size_t k = 0; k < ids.size(); ++k)
        if (ids[k] < 0 || (limit > 0 && ids[k] >= limit))
          return fail(fmt::format(
              "{} {}, position {}: token id {} is outside the vocabulary; ids are at least 0 and below {}",
              what, i + 1, k, ids[k], limit));
      return {};
    };
    for (size_t i = 0; i < request_.prompts.size(); ++i) {
      if (request_.prompts[i].empty())
        return fail(fmt::format("prompt {} is empty; it must have at least one token", i + 1));
      if (auto ok = check_list("prompt", i, request_.prompts[i]); !ok) return ok;
    }
    for (size_t i = 0; i < request_.forced.size(); ++i)
      if (auto ok = check_list("forced tokens", i, request_.forced[i]); !ok) return ok;
    return {};
  }

  int64_t blocks_needed(int64_t new_tokens) const {
    int64_t sum = 0;
    for (const Running& r : running_)
      sum += ceil_div(rows_written(r.prompt, std::min(new_tokens, r.limit)), request_.block_size);
    return sum;
  }

  Expected<void> check_lengths() {
    const int64_t asked = request_.max_new_tokens.value_or(kDefaultMaxNewTokens);
    if (asked < 1) return fail(fmt::format("--max-new-tokens is {}; it must be at least 1", asked));
    for (size_t i = 0; i < request_.prompts.size(); ++i) {
      const auto prompt = static_cast<int64_t>(request_.prompts[i].size());
      // Only the default gives way, and one token must remain.
      const int64_t tokens = request_.max_new_tokens
                                 ? asked
                                 : std::min(asked, std::max<int64_t>(1, request_.max_seq_len - prompt));
      if (prompt > request_.max_seq_len - tokens)
        return fail(fmt::format("prompt {} has {} tokens and {} new ones are asked for; together they must "
                                "not exceed max_seq_len, {}",
                                i + 1, prompt, tokens, request_.max_seq_len),
                    {"help: raise --max-seq-len, lower --max-new-tokens or shorten the prompt"});
      running_.push_back({.prompt = prompt, .limit = tokens});
    }
    int64_t cut = asked;
    while (!request_.max_new_tokens && cut > 1 && blocks_needed(cut) > blocks_.usable_blocks()) --cut;
    if (const int64_t need = blocks_needed(cut); need > blocks_.usable_blocks())
      return fail(
          fmt::format("the requests need {} KV blocks of {} rows; {} are usable (--kv-blocks {}, block 0 is "
                      "the null block)",
                      need, request_.block_size, blocks_.usable_blocks(), request_.kv_blocks),
          {fmt::format("help: --kv-blocks {}, fewer prompts, or a lower --max-new-tokens", need + 1)});
    for (Running& r : running_) {
      r.limit = std::min(r.limit, cut);
      result_.max_new_tokens = std::max(result_.max_new_tokens, r.limit);
    }
    return {};
  }

  // ---- steps

  Expected<void> prefill() {
    result_.requests.resize(running_.size());
    std::vector<int32_t> ids;
    std::vector<StepRequest> rows;
    for (size_t i = 0; i < running_.size(); ++i) {
      Running& r = running_[i];
      ids.insert(ids.end(), request_.prompts[i].begin(), request_.prompts[i].end());
      r.kv_len = r.prompt;
      if (auto ok = give_blocks(r); !ok) return ok;
      rows.push_back({r.prompt, r.kv_len, r.blocks});
    }
    const auto start = Clock::now();
    auto logits = forward(*prefill_, ids, rows, static_cast<int64_t>(running_.size()));
    if (!logits) return tl::unexpected(logits.error());
    result_.prefill_ms = ms_since(start);
    report({.prefill = true, .rows = static_cast<int64_t>(ids.size()), .ms = result_.prefill_ms});
    if (auto ok = choose(*logits); !ok) return ok;
    return draft(true);
  }

  /// A decode in which every row is padding: nothing is written, and what has to be compiled is.
  Expected<void> warm_up() {
    const auto batch = static_cast<size_t>(result_.batch_size);
    const auto start = Clock::now();
    const Counters before = session_.counters();
    auto logits = forward(*decode_, std::vector<int32_t>(batch, 0), std::vector<StepRequest>(batch),
                          result_.batch_size);
    if (!logits) return tl::unexpected(logits.error());
    const Counters& after = session_.counters();
    report({.warmup = true,
            .graph = after.replays > before.replays,
            .native = native(),
            .compiled = after.captures > before.captures,
            .rows = result_.batch_size,
            .padding = result_.batch_size,
            .ms = ms_since(start),
            .served = served()});
    if (drafts_) {
      auto guesses = drafts_->after_decode(hidden_, std::vector<DraftRequest>(running_.size()));
      if (!guesses) return tl::unexpected(guesses.error());
    }
    hidden_ = {};
    return {};
  }

  bool native() const { return !session_.executors().empty() && session_.executors().back().second.native; }
  std::string served() const {
    return session_.captures() ? exec::describe(session_.captures()->last()) : "";
  }

  Expected<void> decode() {
    const auto batch = static_cast<size_t>(result_.batch_size);
    std::vector<int32_t> ids(batch, 0);
    std::vector<StepRequest> rows(batch);
    int64_t padding = result_.batch_size;
    for (size_t i = 0; i < running_.size(); ++i) {
      Running& r = running_[i];
      if (r.done) continue;
      --padding;
      ++r.kv_len;
      if (auto ok = give_blocks(r); !ok) return ok;
      ids[i] = r.next;
      rows[i] = {1, r.kv_len, r.blocks};
    }
    const auto start = Clock::now();
    const Counters before = session_.counters();
    const double compile_before = session_.timings().compile_ms;
    auto logits = forward(*decode_, ids, rows, result_.batch_size);
    if (!logits) return tl::unexpected(logits.error());
    const double ms = ms_since(start) - (session_.timings().compile_ms - compile_before);
    decode_ms_ += ms;
    ++result_.decode_steps;
    const Counters& after = session_.counters();
    report({.step = result_.decode_steps,
            .graph = after.replays > before.replays,
            .native = native(),
            .compiled = after.captures > before.captures,
            .rows = result_.batch_size,
            .padding = padding,
            .ms = ms,
            .served = served()});
    if (auto ok = choose(*logits); !ok) return ok;
    logits = Tensor();  // memory of a capture: the next replay writes over it
    return draft(false);
  }

  /// Lets the draft guess for the requests that go on, then gives back the blocks of those that do not.
  Expected<void> draft(bool prefill) {
    if (drafts_) {
      std::vector<DraftRequest> requests;
      for (Running& r : running_) {
        const DraftRequest request{!r.done, r.next, r.kv_len, {}};
        if (request_.drafts > 1 && !r.done) {
          // A chained guess writes the row that the next step will write again.
          r.kv_len += 1;
          auto ok = give_blocks(r);
          r.kv_len -= 1;
          if (!ok) return ok;
        }
        requests.push_back(request);
        requests.back().blocks = r.blocks;
      }
      auto guesses = prefill ? drafts_->after_prefill(request_.prompts, hidden_, requests)
                             : drafts_->after_decode(hidden_, requests);
      if (!guesses) return tl::unexpected(guesses.error());
      for (size_t i = 0; i < running_.size(); ++i)
        if (!running_[i].done) result_.requests[i].drafts.push_back(std::move((*guesses)[i]));
    }
    hidden_ = {};  // nobody holds a result when the next step may write over it
    for (Running& r : running_) {
      if (!r.done) continue;
      for (const int32_t block : r.blocks) blocks_.give_back(block);
      r.blocks.clear();
    }
    return {};
  }

  void report(const StepInfo& step) const {
    if (callbacks_.on_step) callbacks_.on_step(step);
  }

  Expected<void> give_blocks(Running& r) {
    while (static_cast<int64_t>(r.blocks.size()) < ceil_div(r.kv_len, request_.block_size)) {
      const auto block = blocks_.take();
      if (!block) return fail("no KV block is free");  // the check before the prefill counted them
      r.blocks.push_back(*block);
    }
    return {};
  }

  /// Calls a phase; gives f32[rows_out, vocabulary].
  Expected<Tensor> forward(const plan::Function& f, const std::vector<int32_t>& ids,
                           std::span<const StepRequest> requests, int64_t rows_out) {
    const StepRecord step =
        make_step(requests, request_.block_size, ceil_div(request_.max_seq_len, request_.block_size));
    Tensor id_tensor = Tensor::zeros(SK_I32, {{static_cast<int64_t>(ids.size())}});
    std::copy(ids.begin(), ids.end(), id_tensor.data<int32_t>());
    std::vector<RuntimeValue> args;
    for (const std::string& name : f.param_names)
      args.push_back(name.find('.') == std::string::npos ? RuntimeValue(id_tensor)
                                                         : *step.field(field_of(name)));
    auto results = session_.call(f, std::move(args));
    if (!results) return tl::unexpected(results.error());
    const auto* t = results->empty() ? nullptr : std::get_if<Tensor>(&results->front());
    if (!t || t->dtype() != SK_F32 || t->view.rank != 2 || t->view.dim[0] != rows_out || t->view.dim[1] < 1)
      return fail(fmt::format("`{}` gave {}; logits f32[{}, vocabulary] are expected first", f.name,
                              results->empty() ? "nothing" : exec::describe(results->front()), rows_out));
    if (const auto* hidden = results->size() > 1 ? std::get_if<Tensor>(&(*results)[1]) : nullptr)
      hidden_ = *hidden;
    return *t;
  }

  /// Takes each unfinished request's next token from its row.
  Expected<void> choose(const Tensor& logits) {
    const int64_t n = logits.view.dim[1];
    for (size_t i = 0; i < running_.size(); ++i) {
      Running& r = running_[i];
      if (r.done) continue;
      GeneratedSequence& out = result_.requests[i];
      const float* row = logits.data<float>() + static_cast<int64_t>(i) * n;
      const size_t k = out.tokens.size();
      const auto token =
          sample({row, static_cast<size_t>(n)}, request_.sampling, uniform(request_.sampling.seed, i, k));
      if (!token) return fail(fmt::format("request {}: every logit for new token {} is NaN", i + 1, k + 1));
      out.tokens.push_back(*token);
      if (request_.keep_logits) out.logits.emplace_back(row, row + n);
      const bool forced = i < request_.forced.size() && k < request_.forced[i].size();
      r.next = forced ? request_.forced[i][k] : *token;
      if (callbacks_.on_token) callbacks_.on_token(i, *token);
      const bool eos = !request_.ignore_eos &&
                       std::find(request_.eos.begin(), request_.eos.end(), r.next) != request_.eos.end();
      const bool stopped = !eos && callbacks_.stops_after && callbacks_.stops_after(i, r.next);
      if (!eos && !stopped && static_cast<int64_t>(out.tokens.size()) < r.limit) continue;
      out.stop = eos ? StopReason::Eos : stopped ? StopReason::StopString : StopReason::Length;
      r.done = true;
    }
    return {};
  }

  Session& session_;
  const GenerateRequest& request_;
  const GenerateCallbacks& callbacks_;
  const plan::Function* prefill_ = nullptr;
  const plan::Function* decode_ = nullptr;
  const StepRecord empty_step_;
  BlockManager blocks_{0};
  std::vector<Running> running_;
  GenerateResult result_;
  std::optional<Drafts> drafts_;
  Tensor hidden_;  // the second result of the phase that ran last
  double decode_ms_ = 0;
};

}  // namespace

Expected<GenerateResult> generate(Session& session, const GenerateRequest& request,
                                  const GenerateCallbacks& callbacks) {
  return Generation(session, request, callbacks).run();
}

}  // namespace skdsl::model
