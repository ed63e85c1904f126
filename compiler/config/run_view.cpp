// run_view — effective values of a run config, and what follows from them
#include <cstdlib>
#include <map>

#include "compiler/config/run_config.h"
#include "runtime/base/assert.h"

namespace skdsl::config {

namespace {

/// Options of a back end that the original's compile entry takes from other keys.
struct Follows {
  std::string_view path, from;
};
constexpr Follows kFollows[] = {
    {"npugraph_ex.dynamic", "model_config.enable_dynamic_graph"},
    {"npugraph_ex.static_kernel_compile", "model_config.enable_static_kernel"},
    {"npugraph_ex.super_kernel_optimize", "model_config.custom_params.enable_superkernel"},
};

/// The rows of run_keys.def, read once: views are made many times.
struct Table {
  std::vector<Effective> defaults;
  std::vector<std::string> settings;  // by row: the name of its setting
  std::map<std::string, size_t, std::less<>> by_path;

  Table() {
    for (const RunKey& key : run_keys()) {
      Effective& e = defaults.emplace_back();
      e.key = &key;
      e.value = default_value(key);
      e.origin = "default";
      settings.push_back(key.setting());
      by_path.emplace(key.path(), defaults.size() - 1);
    }
  }
  static const Table& get() {
    static const Table kTable;
    return kTable;
  }
};

}  // namespace

RunView::RunView(const Settings& settings, const RunContext& context)
    : settings_(settings), context_(context) {
  const Table& table = Table::get();
  rows_ = table.defaults;
  for (size_t i = 0; i < rows_.size(); ++i) {
    Effective& e = rows_[i];
    const RunKey& key = *e.key;
    const std::string& name = table.settings[i];
    for (const Setting& s : settings.items) {
      if (s.key != name || s.layer == Layer::HfConfig || s.derived || s.value.is_null() || s.layer < e.layer)
        continue;
      auto good = conform(key, s.value);
      if (!good) continue;  // a model file may declare another type; then no rule here is about it
      e.value = std::move(*good);
      e.layer = s.layer;
      e.origin = s.origin;
      e.span = s.span;
      e.given = true;
    }
    e.declared = key.section == "custom_params" && context.declares && context.declares(key.key);
  }
  if (!context.mode_flag.empty()) {
    Effective& mode = rows_[table.by_path.find("model_config.exe_mode")->second];
    mode = {mode.key, context.mode_flag, Layer::Set, "--mode " + context.mode_flag, {}, true, false};
  }
  for (const Follows& f : kFollows) {
    Effective& e = rows_[table.by_path.find(f.path)->second];
    const Effective& from = at(f.from);
    if (e.given || !from.given) continue;
    e.value = from.value;
    e.layer = from.layer;
    e.origin = fmt::format("{} ({})", f.from, from.origin);
  }
}

const Effective& RunView::at(std::string_view path) const {
  const auto& by_path = Table::get().by_path;
  const auto it = by_path.find(path);
  SK_ASSERT(it != by_path.end(), "a rule asks for a key that run_keys.def does not have");
  return rows_[it->second];
}

bool RunView::flag(std::string_view path) const {
  const Json& v = at(path).value;
  return v.is_bool() ? v.as_bool() : v.is_int() && v.as_int() != 0;
}

int64_t RunView::integer(std::string_view path) const {
  const Json& v = at(path).value;
  return v.is_int() ? v.as_int() : 0;
}

double RunView::number(std::string_view path) const {
  const Json& v = at(path).value;
  return v.is_number() ? v.as_double() : 0;
}

std::string RunView::text(std::string_view path) const {
  const Json& v = at(path).value;
  return v.is_string() ? v.as_string() : v.is_null() ? "" : to_json(v);
}

std::optional<int64_t> RunView::model_integer(std::string_view key) const {
  const Setting* s = settings_.find(key);
  return s && s->value.is_int() ? std::optional<int64_t>(s->value.as_int()) : std::nullopt;
}

std::string RunView::mode() const { return text("model_config.exe_mode"); }

int64_t RunView::attn_dp_size() const {
  const int64_t world =
      integer("parallel_config.world_size") / (flag("model_config.custom_params.enable_afd") ? 2 : 1);
  return std::max<int64_t>(world / integer("parallel_config.attn_tp_size"), 1);
}

int RunView::task_queue() const {
  return mode() == "npugraph_ex" || text("model_config.platform_version") == "950" ? 1 : 2;
}

std::string RunView::environment(const char* name) const {
  const char* value = context_.environment ? context_.environment(name) : std::getenv(name);
  return value ? value : "";
}

std::vector<Derived> RunView::derived() const {
  const int64_t world = integer("parallel_config.world_size");
  const int64_t batch = integer("scheduler_config.batch_size");
  const int64_t cp = integer("parallel_config.cp_size");
  const int64_t prefill_dp = std::max<int64_t>(world / (integer("parallel_config.attn_tp_size") * cp), 1);
  const bool afd = flag("model_config.custom_params.enable_afd");
  const int64_t half = afd ? world / 2 : world;
  const std::string_view ranks = afd ? "world_size / 2 (enable_afd)" : "world_size";
  std::vector<Derived> out;
  const auto add = [&](std::string_view path, auto value, std::string why) {
    out.push_back({std::string(path), fmt::format("{}", value), std::move(why)});
  };
  add("parallel_config.attn_dp_size", attn_dp_size(), fmt::format("{} / attn_tp_size", ranks));
  add("parallel_config.cp_prefill_dp_size", prefill_dp, "world_size / (attn_tp_size * cp_size)");
  add("parallel_config.moe_ep_size", half / integer("parallel_config.moe_tp_size"),
      fmt::format("{} / moe_tp_size", ranks));
  add("parallel_config.embed_dp_size", half / integer("parallel_config.embed_tp_size"),
      fmt::format("{} / embed_tp_size", ranks));
  add("scheduler_config.batch_size_per_dp_rank", batch / attn_dp_size(),
      batch < attn_dp_size() ? "batch_size / attn_dp_size: a prefill server, decode would have no requests"
                             : "batch_size / attn_dp_size");
  if (integer("scheduler_config.max_prefill_tokens") == 0) {
    int64_t requests = cp > 1 ? batch / prefill_dp : batch / attn_dp_size();
    std::string why =
        fmt::format("input_truncated_len * batch_size / {}", cp > 1 ? "cp_prefill_dp_size" : "attn_dp_size");
    if (const int64_t mini = integer("scheduler_config.cp_mini_batch");
        cp > 1 && mini > 0 && mini < requests) {
      requests = mini;
      why = "input_truncated_len * cp_mini_batch";
    }
    int64_t tokens = 0;
    if (__builtin_mul_overflow(integer("data_config.input_truncated_len"), requests, &tokens)) tokens = 0;
    add("scheduler_config.max_prefill_tokens", tokens, why);
  }
  add("decode.query_length", integer("model_config.next_n") + 1, "next_n + 1");
  const std::string given = environment("TASK_QUEUE_ENABLE");
  std::string why = task_queue() == 1
                        ? (mode() == "npugraph_ex" ? "npugraph_ex takes 0 or 1" : "platform_version is 950")
                        : fmt::format("exe_mode is {}", mode());
  const bool kept = !given.empty() && (given == "0" || given == "1" || (given == "2" && task_queue() == 2));
  if (kept)
    why = "the environment";
  else if (!given.empty())
    why += fmt::format("; the environment's {} does not go with it and is left alone", given);
  add("environment.TASK_QUEUE_ENABLE", kept ? given : std::to_string(task_queue()), why);
  return out;
}

}  // namespace skdsl::config
