// run_rules_ranks — how ranks, requests, heads and experts divide
#include <algorithm>

#include "compiler/config/run_rules.h"

namespace skdsl::config::rules {

namespace {

constexpr std::string_view kSizes[] = {"attn_tp_size",   "moe_tp_size",   "embed_tp_size",
                                       "lmhead_tp_size", "dense_tp_size", "shared_tp_size",
                                       "o_proj_tp_size", "cp_size",       "offline_prefill_dp_group_size"};

std::string path(std::string_view key) { return fmt::format("parallel_config.{}", key); }

/// The divisors of a number, for a way out; "" beyond what anybody would read.
std::string divisors(int64_t n) {
  std::vector<int64_t> out;
  for (int64_t d = 1; d <= n && n <= 65536; ++d)
    if (n % d == 0) out.push_back(d);
  return fmt::format("{}", fmt::join(out, ", "));
}

/// The divisor of n that is nearest to a size, the smaller of two.
int64_t nearest_divisor(int64_t n, int64_t size) {
  for (int64_t away = 0; away < 65536; ++away)
    for (const int64_t d : {size - away, size + away})
      if (d >= 1 && d <= n && n % d == 0) return d;
  return 1;
}

}  // namespace

void world_divisible(const RunView& view, RuleReport& report) {
  const int64_t world = view.integer("parallel_config.world_size");
  for (const std::string_view key : kSizes) {
    const int64_t size = view.integer(path(key));
    if (world % size == 0) continue;
    auto said = report.say(
        {path(key), "parallel_config.world_size"},
        fmt::format("`{}` is {}, which does not divide the {} ranks of `world_size`", key, size, world),
        fmt::format("divisors of {} are {}", world, divisors(world)));
    report.set(said, path(key), std::to_string(nearest_divisor(world, size)));
  }
}

void batch_divisible(const RunView& view, RuleReport& report) {
  const int64_t batch = view.integer("scheduler_config.batch_size"), dp = view.attn_dp_size();
  // Under context parallelism all ranks prefill one request: a prefill server may have fewer than ranks.
  if (view.integer("parallel_config.cp_size") > 1 && batch < dp) return;
  if (batch % dp == 0) return;
  auto said = report.say(
      {"scheduler_config.batch_size", "parallel_config.attn_tp_size", "parallel_config.world_size"},
      fmt::format("`batch_size` is {}, which {} groups of ranks (attn_dp_size) cannot share evenly", batch,
                  dp),
      fmt::format("`batch_size` counts the requests of all ranks: {} or {} would do",
                  std::max<int64_t>(batch / dp, 1) * dp, (batch / dp + 1) * dp));
  report.set(said, "scheduler_config.batch_size", std::to_string((batch / dp + 1) * dp));
}

void prefill_group(const RunView& view, RuleReport& report) {
  const int64_t group = view.integer("parallel_config.offline_prefill_dp_group_size");
  const int64_t local = view.integer("scheduler_config.batch_size") / view.attn_dp_size();
  if (group == 1 || (local > 0 && local % group == 0)) return;
  report.say(
      {"parallel_config.offline_prefill_dp_group_size", "scheduler_config.batch_size"},
      fmt::format("`offline_prefill_dp_group_size` is {}, which does not divide the {} requests of a rank",
                  group, local),
      fmt::format("divisors of {} are {}", local, divisors(local)));
}

void heads_and_experts(const RunView& view, RuleReport& report) {
  const int64_t tp = view.integer("parallel_config.attn_tp_size");
  const auto heads = view.model_integer("num_attention_heads"),
             kv = view.model_integer("num_key_value_heads");
  const auto fits = [&](int64_t size) {
    return (!heads || *heads % size == 0) && (!kv || *kv <= 0 || *kv % size == 0 || size % *kv == 0);
  };
  if (heads && *heads > 0 && !fits(tp)) {
    std::vector<int64_t> valid;
    for (int64_t size = 1; size <= *heads && *heads <= 65536; ++size)
      if (fits(size)) valid.push_back(size);
    const std::string_view why = *heads % tp != 0 ? "" : " (the key-value heads do not divide)";
    report.say({"parallel_config.attn_tp_size"},
               fmt::format("{} attention heads{} cannot be shared by `attn_tp_size` {}{}", *heads,
                           kv ? fmt::format(" with {} key-value heads", *kv) : "", tp, why),
               fmt::format("attn_tp_size may be {}", fmt::join(valid, ", ")));
  }
  for (const char* key : {"num_experts", "n_routed_experts"}) {
    const auto experts = view.model_integer(key);
    const int64_t world = view.integer("parallel_config.world_size") /
                          (view.flag("model_config.custom_params.enable_afd") ? 2 : 1);
    const int64_t ep = world / view.integer("parallel_config.moe_tp_size");
    if (!experts || *experts <= 0 || ep <= 1 || *experts % ep == 0) continue;
    report.say(
        {"parallel_config.moe_tp_size", "parallel_config.world_size"},
        fmt::format("{} experts (`{}`) cannot be shared by {} expert-parallel ranks", *experts, key, ep),
        fmt::format("world_size / moe_tp_size may be {}", divisors(*experts)));
    return;
  }
}

void cp_is_world(const RunView& view, RuleReport& report) {
  const int64_t cp = view.integer("parallel_config.cp_size"),
                world = view.integer("parallel_config.world_size");
  if (cp == 1) return;
  if (cp != world && world % cp == 0)
    report.set(report.say({"parallel_config.cp_size", "parallel_config.world_size"},
                          fmt::format("context parallelism takes all ranks: `cp_size` is {}, `world_size` {}",
                                      cp, world),
                          fmt::format("cp_size may be 1 or {}", world)),
               "parallel_config.cp_size", std::to_string(world));
  if (view.integer("parallel_config.attn_tp_size") != 1)
    report.set(report.say({"parallel_config.attn_tp_size", "parallel_config.cp_size"},
                          "context parallelism does not go with tensor parallelism of attention",
                          "set attn_tp_size to 1, or cp_size to 1"),
               "parallel_config.attn_tp_size", "1");
}

void cp_local_requests(const RunView& view, RuleReport& report) {
  const int64_t cp = view.integer("parallel_config.cp_size");
  if (cp == 1) return;
  const int64_t groups = std::max<int64_t>(
      view.integer("parallel_config.world_size") / (view.integer("parallel_config.attn_tp_size") * cp), 1);
  if (view.integer("scheduler_config.batch_size") >= groups) return;
  report.set(report.say({"scheduler_config.batch_size", "parallel_config.cp_size"},
                        fmt::format("each of the {} prefill groups needs a request at least", groups),
                        fmt::format("set batch_size to {} or more", groups)),
             "scheduler_config.batch_size", std::to_string(groups));
}

void afd_ranks(const RunView& view, RuleReport& report) {
  if (!view.flag("model_config.custom_params.enable_afd")) return;
  const int64_t world = view.integer("parallel_config.world_size");
  if (world % 2 != 0) {
    report.set(
        report.say({"parallel_config.world_size", "model_config.custom_params.enable_afd"},
                   fmt::format("AFD pairs each attention rank with an FFN rank: {} ranks are odd", world),
                   fmt::format("set world_size to {}, or leave enable_afd out", world + 1)),
        "parallel_config.world_size", std::to_string(world + 1));
    return;
  }
  for (const char* key : {"attn_tp_size", "moe_tp_size", "embed_tp_size", "lmhead_tp_size", "dense_tp_size",
                          "o_proj_tp_size"}) {
    const int64_t size = view.integer(path(key));
    // Those that do not divide the whole are told already.
    if (world % size != 0 || (world / 2) % size == 0) continue;
    auto said = report.say(
        {path(key), "parallel_config.world_size", "model_config.custom_params.enable_afd"},
        fmt::format("under AFD `{}` {} must divide the {} ranks of one half", key, size, world / 2),
        fmt::format("divisors of {} are {}", world / 2, divisors(world / 2)));
    report.set(said, path(key), std::to_string(nearest_divisor(world / 2, size)));
  }
}

}  // namespace skdsl::config::rules
