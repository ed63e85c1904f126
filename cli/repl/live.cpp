#include "cli/repl/live.h"

#include <algorithm>
#include <cstring>

namespace skdsl::cli::repl {

namespace {

constexpr int64_t kCheckTokens = 4;
constexpr size_t kMostReferences = 8;

uint64_t weight_bytes(const plan::Program& program, sk_dtype stored) {
  uint64_t bytes = 0;
  for (const plan::WeightDecl& w : program.weights) {
    uint64_t n = static_cast<uint64_t>(
        dtype_bytes(plan::abi_dtype(w.type.dtype) == SK_NONE ? stored : plan::abi_dtype(w.type.dtype)));
    for (const plan::Dim& d : w.type.dims) n *= d.is_constant() ? static_cast<uint64_t>(d.constant()) : 1;
    bytes += n;
  }
  for (const plan::StateDecl& s : program.states) {
    auto n = static_cast<uint64_t>(dtype_bytes(plan::abi_dtype(s.type.dtype)));
    for (const plan::Dim& d : s.type.dims) n *= d.is_constant() ? static_cast<uint64_t>(d.constant()) : 1;
    bytes += n;
  }
  return bytes;
}

Error first_error(const diag::Engine& diags) {
  for (const diag::Diagnostic& d : diags.all())
    if (d.severity == diag::Severity::Error) return {ErrorKind::Input, d.message, {}};
  return {ErrorKind::Input, "it does not compile", {}};
}

bool same_bits(const Live::Run& a, const Live::Run& b, std::string& where) {
  if (a.printed != b.printed) {
    where = "the script prints something else";
    return false;
  }
  for (size_t i = 0; i < std::max(a.logits.size(), b.logits.size()); ++i) {
    if (i >= a.logits.size() || i >= b.logits.size() || a.logits[i].size() != b.logits[i].size()) {
      where = "other numbers of logits";
      return false;
    }
    for (size_t k = 0; k < a.logits[i].size(); ++k)
      if (std::memcmp(&a.logits[i][k], &b.logits[i][k], sizeof(float)) != 0) {
        where = fmt::format("row {}, logit {}: {:.9g} and {:.9g}", i, k, a.logits[i][k], b.logits[i][k]);
        return false;
      }
  }
  return true;
}

}  // namespace

Expected<std::unique_ptr<Live>> Live::load(const Snapshot& s, const LiveOptions& options) {
  auto live = std::make_unique<Live>();
  Live& l = *live;
  l.batch_ = s.batch;
  l.modules_.load_text(s.options.file, s.text);
  if (l.diags_.has_errors()) return tl::unexpected(first_error(l.diags_));
  auto prepared = prepare(l.modules_, s.options, s.batch);
  if (!prepared) return tl::unexpected(l.diags_.has_errors() ? first_error(l.diags_) : prepared.error());
  l.prepared_ = std::move(*prepared);
  const Prepared& p = *l.prepared_;
  l.elaborated_ = compile(l.modules_, p.compile, l.diags_);
  if (!l.elaborated_) return tl::unexpected(first_error(l.diags_));
  const plan::Program& program = l.elaborated_->program;
  if (!l.elaborated_->has_script && l.elaborated_->model.empty())
    return fail("the file has no model and no script to run");
  if (const uint64_t bytes = weight_bytes(program, synthetic_dtype(p));
      !options.whole && bytes > kMaxCheckBytes)
    return tl::unexpected(
        Error{ErrorKind::Usage,
              fmt::format("weights and caches take {:.1f} GiB", static_cast<double>(bytes) / (1u << 30)),
              {}});
  model::WeightOptions wo;
  wo.synthetic_seed = p.synthetic_seed;
  wo.synthetic_dtype = synthetic_dtype(p);
  auto weights =
      model::Weights::load(program, p.checkpoint && !p.synthetic_seed ? &*p.checkpoint : nullptr, wo);
  if (!weights) return tl::unexpected(weights.error());
  l.weights_ = std::move(*weights);
  model::SessionOptions so;
  so.mode = p.compile.sema.builtins.exe_mode;
  so.compile = graph_compiler(l.diags_, p.schedule);
  so.recording = recording_compiler(l.diags_, p.schedule);
  so.capture = p.capture;
  so.threads = 1;  // bits do not depend on it, and times of small steps are steadier
  so.interrupt = options.interrupt;
  so.observe = options.observe;
  so.print = [live = live.get()](std::string_view text) { live->printed_ += text; };
  auto session = model::Session::create(
      program, [live = live.get()](const std::string& path) { return live->weights_->find(path); },
      std::move(so));
  if (!session) return tl::unexpected(session.error());
  l.session_ = std::move(*session);
  return live;
}

Expected<Live::Run> Live::run(int64_t tokens) {
  Run out;
  if (is_script()) {
    printed_.clear();
    session_->reset_states();
    if (auto done = session_->call("main", {}); !done) return tl::unexpected(done.error());
    out.printed = printed_;
    return out;
  }
  const config::Builtins& b = prepared_->compile.sema.builtins;
  const int64_t vocab = std::max<int64_t>(elaborated_->vocab_size, 1);
  model::GenerateRequest request;
  // Ragged, so that requests do not hide each other.
  for (int64_t i = 0; i < batch_; ++i) {
    std::vector<int32_t> prompt;
    for (int64_t k = 0; k < 3 + i % 3; ++k)
      prompt.push_back(static_cast<int32_t>((1 + 7 * i + 3 * k) % vocab));
    request.prompts.push_back(std::move(prompt));
  }
  request.max_new_tokens = tokens;
  request.ignore_eos = true;
  request.batch_size = b.batch_size;
  request.max_seq_len = b.max_seq_len;
  request.block_size = b.block_size;
  request.kv_blocks = b.kv_blocks;
  request.keep_logits = true;
  auto made = model::generate(*session_, request);
  if (!made) return tl::unexpected(made.error());
  for (auto& r : made->requests)
    for (auto& row : r.logits) out.logits.push_back(std::move(row));
  out.requests = made->requests.size();
  out.steps = made->decode_steps;
  out.decode_ms = made->decode_ms_per_token;
  return out;
}

Bits BitsCheck::check(const Snapshot& edited, const std::string& original_text,
                      const std::atomic<bool>& interrupt) {
  LiveOptions options;
  options.interrupt = &interrupt;
  const auto trouble = [&](const Error& e, std::string_view what) {
    if (interrupt.load()) return Bits{Bits::Verdict::Interrupted, "not checked: interrupted"};
    return Bits{Bits::Verdict::NotRun, e.kind == ErrorKind::Usage
                                           ? fmt::format("not run: {}; :verify runs it", e.message)
                                           : fmt::format("not run: {}: {}", what, e.message)};
  };
  Snapshot wanted = edited;
  wanted.text = original_text;
  const Reference* reference = nullptr;
  for (const Reference& r : references_)
    if (same(r.of, wanted)) reference = &r;
  if (!reference) {
    Snapshot eager = wanted;
    eager.options.mode = "eager";
    std::string text = "the file in eager";
    auto live = Live::load(eager, options);
    if (!live && live.error().kind != ErrorKind::Usage) {
      Snapshot plain = wanted;
      plain.options.superkernel = "off";
      text = "the file without super kernels";
      if (auto other = Live::load(plain, options)) live = std::move(other);
    }
    if (!live) return trouble(live.error(), "the file");
    auto run = (*live)->run(kCheckTokens);
    if (!run) return trouble(run.error(), "the file");
    if (references_.size() >= kMostReferences) references_.erase(references_.begin());
    references_.push_back({wanted, std::move(*run), std::move(text)});
    reference = &references_.back();
  }
  auto live = Live::load(edited, options);
  if (!live) return trouble(live.error(), "the edited model");
  auto run = (*live)->run(kCheckTokens);
  if (!run) return trouble(run.error(), "the edited model");
  const std::string ran = (*live)->is_script()
                              ? "its script was run"
                              : fmt::format("{} request{}, prefill and {} decode steps", run->requests,
                                            run->requests == 1 ? "" : "s", run->steps);
  std::string where;
  if (same_bits(reference->run, *run, where))
    return {Bits::Verdict::Same, fmt::format("same as {} ({})", reference->text, ran)};
  return {Bits::Verdict::Different, fmt::format("DIFFERENT from {}: {} ({})", reference->text, where, ran)};
}

}  // namespace skdsl::cli::repl
