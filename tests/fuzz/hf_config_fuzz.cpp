// Any bytes as a config.json: it is refused with the file's name, or every key gets a verdict, the family is
// found or refused, and a model is elaborated with it or reports errors.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cli/import/family.h"
#include "compiler/config/hf_keys.h"
#include "compiler/sema/elaborate.h"
#include "runtime/model/hf_config.h"

namespace {

using skdsl::Json;

constexpr std::string_view kModel = R"(
import "std/base.sk"
import "std/rope.sk"
config {
  vocab_size: int = 8
  hidden_size: int = 8
  num_hidden_layers: int = 1
  num_attention_heads: int = 2
  head_dim: int = hidden_size / num_attention_heads
  rms_norm_eps: float = 1e-5
  rope_theta: float = 10000.0
  rope_scaling: dict = dict()
  rope_parameters: dict = dict()
  tie_word_embeddings: bool = false
  mlp_only_layers: list[int] = []
  hidden_act: str = "silu"
  require rope_problem(rope_scaling, rope_parameters) == "", rope_problem(rope_scaling, rope_parameters)
}
model M {
  embed = Embedding(vocab_size, hidden_size) from "embed"
  norm = RmsNorm(hidden_size, rms_norm_eps) from "norm"
  head = Linear(hidden_size, vocab_size, out = f32) from (if tie_word_embeddings then "embed" else "head")
  rotary = Rotary(head_dim, rope_rule(rope_theta, rope_scaling, rope_parameters), max_seq_len)
  prefill(ids: i32[T], step: Step) -> f32[B, vocab_size] {
    return head(index_select(norm(embed(ids)), 0, step.actual_seq_lengths_cu_q - 1))
  }
  decode(ids: i32[T], step: Step) -> f32[T, vocab_size] { return head(norm(embed(ids))) }
}
)";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto config = skdsl::parse_json(text, "config.json");
  if (!config) {
    if (config.error().message.find("config.json") == std::string::npos) std::abort();
    return 0;
  }
  skdsl::model::eos_token_ids(*config);
  if (!config->is_object()) return 0;
  skdsl::config::Settings settings;
  skdsl::config::add_hf_config(*config, "config.json", settings);
  const auto declares = [&](std::string_view key) { return (key.size() + size) % 3 == 0; };
  for (const auto& s : settings.items) {
    const auto verdict = skdsl::config::judge_hf_key(s, settings, declares);
    if (verdict.kind == skdsl::config::HfKind::Unsupported && (verdict.text.empty() || verdict.key.empty()))
      std::abort();
  }
  const auto family = skdsl::cli::find_family(*config, "config.json");
  if (!family && family.error().message.find("config.json") == std::string::npos) std::abort();
  for (const auto& f : skdsl::cli::families())
    skdsl::cli::family_defaults(
        f, [&](std::string_view key) { return !settings.find(key); },
        [&](std::string_view key) { return settings.find(key) ? settings.find(key)->value : Json(); });

  static skdsl::source::Sources sources;
  static skdsl::diag::Engine loading(sources);
  static const skdsl::sema::Modules modules = [] {
    skdsl::sema::Modules m(loading);
    m.load_text("fuzz.sk", std::string(kModel));
    return m;
  }();
  if (loading.has_errors()) std::abort();
  skdsl::diag::Engine diags(sources);
  skdsl::sema::Options options;
  options.settings = std::move(settings);
  const bool done = skdsl::sema::elaborate(modules, options, diags).has_value();
  if (done == diags.has_errors()) std::abort();
  return 0;
}
