// run_rules_models — what the model families of the original check when they are made
#include "compiler/config/run_rules.h"

namespace skdsl::config::rules {

namespace {

constexpr std::string_view kStreams = "model_config.custom_params.enable_multi_streams";
constexpr std::string_view kSuperKernel = "model_config.custom_params.enable_superkernel";
constexpr std::string_view kPrefetch = "model_config.custom_params.enable_prefetch";
constexpr std::string_view kLimitCore = "model_config.custom_params.enable_limit_core";
constexpr std::string_view kPypto = "model_config.custom_params.enable_pypto";
constexpr std::string_view kLowLatency = "model_config.custom_params.low_latency_tp";
constexpr std::string_view kMode = "model_config.exe_mode";
constexpr std::string_view kModel = "model_config.model_name";
constexpr std::string_view kPlatform = "model_config.platform_version";
constexpr std::string_view kAttnTp = "parallel_config.attn_tp_size";
constexpr std::string_view kOProjTp = "parallel_config.o_proj_tp_size";

bool is(const RunView& view, std::initializer_list<std::string_view> names) {
  const std::string name = view.text(kModel);
  return std::find(names.begin(), names.end(), name) != names.end();
}
bool longcat(const RunView& view) { return is(view, {"longcat_flash"}); }
bool deepseek_v4(const RunView& view) { return is(view, {"deepseek_v4"}); }
bool deepseek_r1(const RunView& view) { return is(view, {"deepseek_r1", "kimi_k2"}); }
bool deepseek_or_glm(const RunView& view) {
  return is(view, {"deepseek_r1", "kimi_k2", "deepseek_v3_2_exp", "glm_5"});
}

}  // namespace

void longcat_parallel(const RunView& view, RuleReport& report) {
  if (!longcat(view)) return;
  if (view.integer("parallel_config.cp_size") != 1)
    report.set(report.say({"parallel_config.cp_size", kModel}, "LongCat has no context parallelism",
                          "set cp_size to 1"),
               "parallel_config.cp_size", "1");
  if (view.integer(kAttnTp) > 1 && view.integer(kAttnTp) != view.integer(kOProjTp))
    report.set(
        report.say({kOProjTp, kAttnTp, kModel}, "LongCat's output projection is shared as its attention is",
                   fmt::format("set o_proj_tp_size to {}", view.integer(kAttnTp))),
        kOProjTp, std::to_string(view.integer(kAttnTp)));
}

void longcat_drafts(const RunView& view, RuleReport& report) {
  if (longcat(view) && view.integer("model_config.next_n") > 2)
    report.set(report.say({"model_config.next_n", kModel}, "LongCat has two drafts at most",
                          "set next_n to 0, 1 or 2"),
               "model_config.next_n", "2");
}

void longcat_streams_eager(const RunView& view, RuleReport& report) {
  if (longcat(view) && view.mode() == "eager" && view.flag(kStreams))
    report.set(report.say({kStreams, kMode}, "LongCat's eager mode has one stream",
                          "set enable_multi_streams to 0, or take a graph mode"),
               kStreams, "0");
}

void longcat_superkernel(const RunView& view, RuleReport& report) {
  if (longcat(view) && view.mode() == "npugraph_ex" && view.flag(kSuperKernel))
    report.say({kSuperKernel, kMode}, "LongCat makes super kernels in ge_graph only",
               "set exe_mode to ge_graph, or leave enable_superkernel out");
}

void longcat_prefetch(const RunView& view, RuleReport& report) {
  if (longcat(view) && view.flag(kPrefetch) && !view.flag(kStreams))
    report.set(report.say({kPrefetch, kStreams}, "LongCat prefetches on a stream of its own",
                          "set enable_multi_streams to 1 or 2"),
               kStreams, "1");
}

void deepseek_v4_mode(const RunView& view, RuleReport& report) {
  if (deepseek_v4(view) && view.mode() == "ge_graph")
    report.set(report.say({kMode, kModel}, "DeepSeek-V4 runs in eager and npugraph_ex",
                          "set exe_mode to npugraph_ex"),
               kMode, "npugraph_ex");
}

void deepseek_v4_tensor_parallel(const RunView& view, RuleReport& report) {
  if (!deepseek_v4(view)) return;
  const int64_t tp = view.integer(kAttnTp), world = view.integer("parallel_config.world_size");
  if (!view.flag(kLowLatency)) {
    if (tp > 1)
      report.say({kAttnTp, kLowLatency}, "DeepSeek-V4's attention is not shared by ranks",
                 "set attn_tp_size to 1, or low_latency_tp to true on a 950");
    return;
  }
  if (view.text(kPlatform) != "950")
    report.say({kLowLatency, kPlatform}, "low_latency_tp needs a 950",
               "set platform_version to \"950\", or leave low_latency_tp out");
  for (const char* key :
       {"attn_tp_size", "o_proj_tp_size", "moe_tp_size", "embed_tp_size", "lmhead_tp_size"}) {
    const std::string path = fmt::format("parallel_config.{}", key);
    if (view.integer(path) != world || world == 1)
      report.say({path, "parallel_config.world_size", kLowLatency},
                 fmt::format("low_latency_tp shares everything: `{}` is world_size, and more than 1", key),
                 fmt::format("set {} to {}", key, world));
  }
}

void deepseek_v4_limit_core(const RunView& view, RuleReport& report) {
  if (!deepseek_v4(view) || !view.flag(kLimitCore)) return;
  if (!view.flag(kStreams))
    report.set(report.say({kLimitCore, kStreams}, "core limits divide the cores among streams",
                          "set enable_multi_streams to true"),
               kStreams, "true");
  if (const std::string p = view.text(kPlatform); p != "A3" && p != "auto")
    report.drop(
        report.say({kLimitCore, kPlatform}, "core limits are for the A3", "leave enable_limit_core out"),
        kLimitCore);
  if (view.flag(kPypto))
    report.drop(
        report.say({kPypto, kLimitCore}, "PyPTO kernels do not take core limits", "leave one of the two out"),
        kPypto);
}

void deepseek_v4_pypto(const RunView& view, RuleReport& report) {
  const std::string p = view.text(kPlatform);
  if (deepseek_v4(view) && view.flag(kPypto) && p != "A3" && p != "auto")
    report.say({kPypto, kPlatform}, "PyPTO kernels are for the A3", "leave enable_pypto out");
}

void deepseek_v4_drafts(const RunView& view, RuleReport& report) {
  if (deepseek_v4(view) && view.integer("model_config.next_n") > 3 &&
      view.text("speculative_config.method") != "dspark")
    report.set(report.say({"model_config.next_n", kModel}, "DeepSeek-V4 has three drafts at most",
                          "set next_n to 0, 1, 2 or 3"),
               "model_config.next_n", "3");
}

void deepseek_v4_random_weights(const RunView& view, RuleReport& report) {
  if (deepseek_v4(view) && !view.flag("model_config.with_ckpt") && !view.flag("model_config.force_eplb"))
    report.set(report.say({"model_config.with_ckpt", "model_config.force_eplb"},
                          "random weights route unevenly", "set force_eplb to true"),
               "model_config.force_eplb", "true");
}

void deepseek_v4_cp_mini_batch(const RunView& view, RuleReport& report) {
  if (deepseek_v4(view) && view.integer("parallel_config.cp_size") > 1 &&
      view.integer("scheduler_config.cp_mini_batch") != 1)
    report.set(report.say({"scheduler_config.cp_mini_batch", "parallel_config.cp_size"},
                          "DeepSeek-V4 prefills one request at a time under context parallelism",
                          "set scheduler_config.cp_mini_batch to 1"),
               "scheduler_config.cp_mini_batch", "1");
}

void deepseek_r1_micro_batch(const RunView& view, RuleReport& report) {
  if (!deepseek_r1(view) || view.integer("model_config.custom_params.micro_batch_mode") != 1) return;
  for (const std::string_view key : {std::string_view("parallel_config.moe_tp_size"), kAttnTp})
    if (view.integer(key) != 1)
      report.say({key, "model_config.custom_params.micro_batch_mode"},
                 "two micro batches need ranks of their own",
                 fmt::format("set {} to 1, or micro_batch_mode to 0", key));
}

void deepseek_r1_int8_cache(const RunView& view, RuleReport& report) {
  const bool int8 = view.model_integer("quantization_config.kv_cache_scheme.num_bits") == 8;
  if (deepseek_r1(view) && int8 && !view.flag("model_config.custom_params.enable_mla_prolog"))
    report.say({"model_config.custom_params.enable_mla_prolog", kModel},
               "an int8 cache is written by the MLA prolog", "set enable_mla_prolog to true");
}

void deepseek_glm_superkernel(const RunView& view, RuleReport& report) {
  if (deepseek_or_glm(view) && view.mode() == "npugraph_ex" && view.flag(kSuperKernel))
    report.say({kSuperKernel, kMode},
               fmt::format("{} makes super kernels in ge_graph only", view.text(kModel)),
               "set exe_mode to ge_graph, or leave enable_superkernel out");
}

void deepseek_glm_streams_eager(const RunView& view, RuleReport& report) {
  if (deepseek_or_glm(view) && view.mode() == "eager" && view.flag(kStreams))
    report.say({kStreams, kMode}, fmt::format("{}'s eager mode has one stream", view.text(kModel)),
               "set enable_multi_streams to false, or take a graph mode");
}

void bailing_mode(const RunView& view, RuleReport& report) {
  if (is(view, {"bailing_2_5"}) && view.mode() == "ge_graph")
    report.set(report.say({kMode, kModel}, "this model runs in eager and npugraph_ex",
                          "set exe_mode to npugraph_ex"),
               kMode, "npugraph_ex");
}

void bailing_parallel(const RunView& view, RuleReport& report) {
  if (is(view, {"bailing_2_5"}) && view.integer(kAttnTp) != view.integer(kOProjTp))
    report.set(report.say({kOProjTp, kAttnTp}, "this model's output projection is shared as its attention is",
                          fmt::format("set o_proj_tp_size to {}", view.integer(kAttnTp))),
               kOProjTp, std::to_string(view.integer(kAttnTp)));
}

}  // namespace skdsl::config::rules
