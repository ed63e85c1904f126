// A cache that ends before the longest answer does: the engine of the recipes sizes it by prompt, new tokens
// and drafts.
#include "compiler/config/run_edit.h"
#include "compiler/lint/rule.h"

namespace skdsl::lint::rules_impl {

void sk804_kv_capacity(const Context& c, Report& report) {
  constexpr std::string_view kLength = "scheduler_config.max_seq_len";
  if (c.modules || !c.run->given(kLength)) return;
  // Prompts whose length the file does not limit may be short.
  constexpr std::string_view kPrompt = "data_config.input_truncated_len";
  const int64_t prompt = c.run->given(kPrompt) ? c.run->integer(kPrompt) : 1;
  const int64_t fresh = c.run->integer("scheduler_config.max_new_tokens"),
                drafts = c.run->integer("model_config.next_n"), most = c.run->integer(kLength);
  int64_t need = 0;
  if (__builtin_mul_overflow(fresh, drafts + 1, &need) ||
      __builtin_add_overflow(need, prompt + drafts, &need) || need <= most)
    return;
  auto finding = report.at(c.run->at(kLength).span, most, prompt, fresh, drafts, need);
  for (const std::string_view key : {kPrompt, std::string_view("scheduler_config.max_new_tokens"),
                                     std::string_view("model_config.next_n")})
    if (c.run->given(key))
      finding.note(c.run->at(key).span, fmt::format("{} = {}", key, c.run->integer(key)));
  finding.help(fmt::format("set it to {}", need));
  config::set_key(c.sources, *c.run, kLength, std::to_string(need), finding);
}

}  // namespace skdsl::lint::rules_impl
