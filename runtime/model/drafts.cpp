#include "runtime/model/drafts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

namespace skdsl::model {

using exec::RuntimeValue;

namespace {

bool is_field(const std::string& parameter) { return parameter.find('.') != std::string::npos; }

/// The last part of a parameter's name: "step.kv_len" -> "kv_len".
std::string_view field_of(std::string_view parameter) { return parameter.substr(parameter.rfind('.') + 1); }

/// Guesses are greedy: the largest logit's index, the lowest among equals; nothing when all are NaN.
std::optional<int32_t> largest(const float* logits, int64_t n) {
  std::optional<int32_t> best;
  for (int64_t i = 0; i < n; ++i)
    if (!std::isnan(logits[i]) && (!best || logits[i] > logits[*best])) best = static_cast<int32_t>(i);
  return best;
}

/// The first `rows` rows of x, zeros behind them when there are fewer.
Tensor with_rows(const Tensor& x, int64_t rows) {
  std::vector<int64_t> shape = x.shape();
  shape[0] = rows;
  Tensor out = Tensor::zeros(x.dtype(), shape);
  std::memcpy(out.view.data, x.view.data, static_cast<size_t>(std::min(out.bytes(), x.bytes())));
  return out;
}

Expected<void> fits(const plan::Program& program, const plan::Function& model, const plan::Function& draft) {
  std::vector<const plan::Type*> tensors;
  for (size_t i = 0; i < draft.param_names.size(); ++i)
    if (!is_field(draft.param_names[i]))
      tensors.push_back(&draft.values[draft.regions[draft.body].args[i]].type);
  if (tensors.size() != 2)
    return fail(
        fmt::format("`{}` must take (ids: i32[T], hidden, step: Step); it has {} parameters beside the step",
                    draft.name, tensors.size()));
  if (draft.results.size() != 2 || draft.results[0].rank() != 2 || draft.results[1].rank() < 1)
    return fail(
        fmt::format("`{}` must give logits and hidden values of each request's last row", draft.name));
  if (model.results.size() < 2)
    return fail(
        fmt::format("`{}` gives logits only; a draft needs the hidden values of its rows as a second result",
                    model.name));
  const plan::Type &given = model.results[1], &taken = *tensors[1];
  bool same = given.dtype == taken.dtype && given.rank() == taken.rank() && given.rank() > 0;
  for (size_t d = 1; same && d < given.rank(); ++d) same = given.dims[d] == taken.dims[d];
  if (same) return {};
  return fail(fmt::format("`{}` takes hidden values {}, `{}` gives {}", draft.name, program.text(taken),
                          model.name, program.text(given)));
}

}  // namespace

Expected<Drafts> Drafts::create(Session& session, const Options& options) {
  if (options.depth < 1 || options.depth > kMaxDrafts)
    return tl::unexpected(Error{ErrorKind::Usage,
                                fmt::format("{} guesses after each step were asked for; there are 1 to {}",
                                            options.depth, kMaxDrafts),
                                {}});
  Drafts out(session, options);
  out.prefill_ = session.phase(plan::Phase::DraftPrefill);
  out.decode_ = session.phase(plan::Phase::DraftDecode);
  if (!out.prefill_ || !out.decode_)
    return fail("the program has no `draft` with the phases `prefill` and `decode`");
  for (const auto& [model, draft] :
       {std::pair{plan::Phase::Prefill, out.prefill_}, std::pair{plan::Phase::Decode, out.decode_}})
    if (const plan::Function* f = session.phase(model); f != nullptr)
      if (auto ok = fits(session.program(), *f, *draft); !ok) return tl::unexpected(ok.error());
  return out;
}

Expected<Drafts::Result> Drafts::call(const plan::Function& f, const std::vector<int32_t>& ids,
                                      const Tensor& hidden, std::span<const StepRequest> rows) {
  const StepRecord step = make_step(rows, options_.block_size, options_.table_columns);
  Tensor id_tensor = Tensor::zeros(SK_I32, {{static_cast<int64_t>(ids.size())}});
  std::copy(ids.begin(), ids.end(), id_tensor.data<int32_t>());
  std::vector<RuntimeValue> args;
  bool first = true;
  for (const std::string& name : f.param_names) {
    if (is_field(name)) {
      const auto field = step.field(field_of(name));
      if (!field) return fail(fmt::format("`{}`: `{}` is not a field of Step", f.name, name));
      args.push_back(*field);
    } else {
      args.emplace_back(first ? id_tensor : hidden);
      first = false;
    }
  }
  auto results = session_->call(f, std::move(args));
  if (!results) return tl::unexpected(results.error());
  const auto n = static_cast<int64_t>(rows.size());
  const auto* logits = std::get_if<Tensor>(&(*results)[0]);
  const auto* out = std::get_if<Tensor>(&(*results)[1]);
  if (!logits || !out || logits->dtype() != SK_F32 || logits->shape()[0] != n || logits->shape()[1] < 1 ||
      out->shape()[0] != n)
    return fail(
        fmt::format("`{}` gave {} and {}; logits f32[{}, vocabulary] and as many hidden rows are expected",
                    f.name, exec::describe((*results)[0]), exec::describe((*results)[1]), n));
  return Result{*logits, *out};
}

Expected<void> Drafts::take(const Result& result, std::span<const DraftRequest> requests,
                            std::vector<DraftGuess>& guesses) const {
  const int64_t n = result.logits.view.dim[1];
  for (size_t i = 0; i < requests.size(); ++i) {
    if (!requests[i].live) continue;
    const float* row = result.logits.data<float>() + static_cast<int64_t>(i) * n;
    const auto token = largest(row, n);
    if (!token) return fail(fmt::format("request {}: every logit of the draft is NaN", i + 1));
    guesses[i].tokens.push_back(*token);
    if (options_.keep_logits) guesses[i].logits.emplace_back(row, row + n);
  }
  return {};
}

Expected<Drafts::Result> Drafts::decode(const Tensor& hidden, std::span<const DraftRequest> requests,
                                        const std::vector<int32_t>& ids, int64_t ahead) {
  std::vector<StepRequest> rows(static_cast<size_t>(options_.batch_size));
  for (size_t i = 0; i < requests.size(); ++i)
    if (requests[i].live) rows[i] = {1, requests[i].kv_len + ahead, requests[i].blocks};
  return call(*decode_, ids, hidden, rows);
}

/// The guesses behind the first.
Expected<void> Drafts::chain(Result result, std::span<const DraftRequest> requests,
                             std::vector<DraftGuess>& guesses) {
  for (int64_t ahead = 1; ahead < options_.depth; ++ahead) {
    std::vector<int32_t> ids(static_cast<size_t>(options_.batch_size), 0);
    for (size_t i = 0; i < requests.size(); ++i)
      if (requests[i].live) ids[i] = guesses[i].tokens.back();
    // The draft's own graph may hold the result that goes into it: keep no handle of it across the call.
    const Tensor hidden = with_rows(result.hidden, options_.batch_size);
    result = {};
    auto next = decode(hidden, requests, ids, ahead);
    if (!next) return tl::unexpected(next.error());
    result = std::move(*next);
    if (auto ok = take(result, requests, guesses); !ok) return ok;
  }
  return {};
}

Expected<std::vector<DraftGuess>> Drafts::after_prefill(const std::vector<std::vector<int32_t>>& prompts,
                                                        const Tensor& hidden,
                                                        std::span<const DraftRequest> requests) {
  std::vector<int32_t> ids;
  std::vector<StepRequest> rows;
  for (size_t i = 0; i < requests.size(); ++i) {
    ids.insert(ids.end(), prompts[i].begin() + 1, prompts[i].end());
    ids.push_back(requests[i].next);
    rows.push_back({static_cast<int64_t>(prompts[i].size()), requests[i].kv_len, requests[i].blocks});
  }
  std::vector<DraftGuess> guesses(requests.size());
  auto result = call(*prefill_, ids, hidden, rows);
  if (!result) return tl::unexpected(result.error());
  if (auto ok = take(*result, requests, guesses); !ok) return tl::unexpected(ok.error());
  if (auto ok = chain(std::move(*result), requests, guesses); !ok) return tl::unexpected(ok.error());
  return guesses;
}

Expected<std::vector<DraftGuess>> Drafts::after_decode(const Tensor& hidden,
                                                       std::span<const DraftRequest> requests) {
  std::vector<int32_t> ids(static_cast<size_t>(options_.batch_size), 0);
  for (size_t i = 0; i < requests.size(); ++i)
    if (requests[i].live) ids[i] = requests[i].next;
  std::vector<DraftGuess> guesses(requests.size());
  auto result = decode(hidden, requests, ids, 0);
  if (!result) return tl::unexpected(result.error());
  if (auto ok = take(*result, requests, guesses); !ok) return tl::unexpected(ok.error());
  if (auto ok = chain(std::move(*result), requests, guesses); !ok) return tl::unexpected(ok.error());
  return guesses;
}

}  // namespace skdsl::model
