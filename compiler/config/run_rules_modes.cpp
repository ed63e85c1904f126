// run_rules_modes — which features go with which mode, and two ways of saying one thing
#include <algorithm>
#include <charconv>

#include "compiler/config/run_rules.h"

namespace skdsl::config::rules {

namespace {

constexpr std::string_view kMode = "model_config.exe_mode";
constexpr std::string_view kSuperKernel = "model_config.custom_params.enable_superkernel";
constexpr std::string_view kStatic = "model_config.enable_static_kernel";
constexpr std::string_view kNpuStatic = "npugraph_ex.static_kernel_compile";
constexpr std::string_view kNpuSuperKernel = "npugraph_ex.super_kernel_optimize";

bool superkernel(const RunView& view) { return view.flag(kSuperKernel) || view.flag(kNpuSuperKernel); }

/// Options given for another mode than the one that runs.
std::vector<std::string> foreign_options(const RunView& view, std::string_view section, bool off_default) {
  std::vector<std::string> out;
  if (view.mode() == (section == "ge" ? "ge_graph" : "npugraph_ex")) return out;
  for (const Effective& e : view.rows())
    if (e.key->section == section && e.given && (e.value == default_value(*e.key)) != off_default)
      out.push_back(e.key->path());
  return out;
}

void refuse_options(const RunView& view, RuleReport& report, std::string_view section,
                    std::string_view mode) {
  if (!view.context().mode_flag.empty()) return;  // then options_of_another_mode warns
  std::vector<std::string> keys = foreign_options(view, section, true);
  if (keys.empty()) return;
  const std::string first = keys.front();
  keys.emplace_back(kMode);
  report.say(keys, fmt::format("`{}` is an option of {}, and exe_mode is {}", first, mode, view.mode()),
             fmt::format("set exe_mode to {}, or leave the options of {} out", mode, section));
}

/// A release as numbers: "2.6.0" is {2, 6, 0}; nothing when it is none.
std::optional<std::vector<int>> release(std::string_view text) {
  std::vector<int> out;
  while (true) {
    int n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (error != std::errc() || n < 0) return {};
    out.push_back(n);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (text.empty()) break;
    // 9.0.0.beta1, 2.6.0+cpu: what follows the numbers does not count.
    if (text[0] != '.' || text.size() < 2 || text[1] < '0' || text[1] > '9') break;
    text.remove_prefix(1);
  }
  return out.size() < 2 ? std::nullopt : std::optional(out);
}

}  // namespace

void static_kernel_mode(const RunView& view, RuleReport& report) {
  if (view.flag(kStatic) && view.mode() != "npugraph_ex")
    report.drop(report.say({kStatic, kMode}, "`enable_static_kernel` is for npugraph_ex",
                           view.mode() == "ge_graph" ? "leave it out: graphs of ge_graph are static anyway"
                                                     : "leave it out, or set exe_mode to npugraph_ex"),
                kStatic);
}

void dynamic_graph_ignored(const RunView& view, RuleReport& report) {
  if (view.mode() == "ge_graph" && view.given("model_config.enable_dynamic_graph") &&
      view.flag("model_config.enable_dynamic_graph"))
    report.set(report.say({"model_config.enable_dynamic_graph", kMode},
                          "`enable_dynamic_graph` is ignored: ge_graph is static", "set it to false"),
               "model_config.enable_dynamic_graph", "False");
}

void ge_dynamic_ignored(const RunView& view, RuleReport& report) {
  if (view.mode() == "ge_graph" && view.flag("ge.dynamic"))
    report.drop(report.say({"ge.dynamic", kMode}, "`dynamic` is ignored: ge_graph is static", "leave it out"),
                "ge.dynamic");
}

void cache_compile_eager(const RunView& view, RuleReport& report) {
  if (view.mode() == "eager" && view.flag("model_config.enable_cache_compile"))
    report.drop(report.say({"model_config.enable_cache_compile", kMode},
                           "eager compiles nothing that could be cached",
                           "leave `enable_cache_compile` out, or set exe_mode to npugraph_ex or ge_graph"),
                "model_config.enable_cache_compile");
}

void superkernel_eager(const RunView& view, RuleReport& report) {
  if (view.mode() == "eager" && view.flag(kSuperKernel))
    report.say({kSuperKernel, kMode}, "eager makes no super kernels",
               "leave `enable_superkernel` out, or set exe_mode to ge_graph", "false");
}

void superkernel_static_kernel(const RunView& view, RuleReport& report) {
  if (view.mode() == "npugraph_ex" && superkernel(view) && !view.flag(kNpuStatic))
    report.say({view.flag(kSuperKernel) ? kSuperKernel : kNpuSuperKernel, kNpuStatic, kMode},
               "super kernels of npugraph_ex are made of static kernels", "set enable_static_kernel to true");
}

void superkernel_dump(const RunView& view, RuleReport& report) {
  const std::string_view dump =
      view.mode() == "ge_graph" ? "ge.dump_config.enable_dump" : "npugraph_ex.dump_tensor_data";
  if (superkernel(view) && view.flag(dump))
    report.say({dump, kSuperKernel}, "nothing is dumped from inside of super kernels",
               "leave one of the two out", "false");
}

void npugraph_options_mode(const RunView& view, RuleReport& report) {
  refuse_options(view, report, "npugraph_ex", "npugraph_ex");
}

void ge_options_mode(const RunView& view, RuleReport& report) {
  refuse_options(view, report, "ge", "ge_graph");
}

void options_of_another_mode(const RunView& view, RuleReport& report) {
  for (const std::string_view section : {"npugraph_ex", "ge"}) {
    // Off their defaults they are an error already, unless --mode chose another mode than the file.
    for (const bool off_default : {false, true}) {
      if (off_default && view.context().mode_flag.empty()) continue;
      for (const std::string& key : foreign_options(view, section, off_default))
        report.drop(report.say({key, kMode}, fmt::format("`{}` has no effect in {}", key, view.mode()),
                               "leave it out"),
                    key);
    }
  }
}

void two_ways_disagree(const RunView& view, RuleReport& report) {
  struct Pair {
    std::string_view model, option;
  };
  for (const Pair& p : {Pair{"model_config.enable_dynamic_graph", "npugraph_ex.dynamic"},
                        Pair{kStatic, kNpuStatic}, Pair{kSuperKernel, kNpuSuperKernel}})
    if (view.given(p.model) && view.given(p.option) && view.flag(p.model) != view.flag(p.option))
      report.say({p.option, p.model}, fmt::format("`{}` and `{}` say different things", p.option, p.model),
                 "keep one of them");
}

void target_releases(const RunView& view, RuleReport& report) {
  for (const char* key : {"target.cann", "target.torch"})
    if (const std::string text = view.text(key); !release(text))
      report.say({key}, fmt::format("`{}` is `{}`, which is no release", key, text),
                 "write two or three numbers, such as 9.1");
  const auto torch = release(view.text("target.torch"));
  if (torch && *torch < std::vector<int>{2, 6} && view.mode() == "npugraph_ex")
    report.say({"target.torch", kMode}, "npugraph_ex needs torch 2.6",
               "set target.torch to 2.6.0 or later, or exe_mode to ge_graph");
}

void chip_and_platform(const RunView& view, RuleReport& report) {
  std::string chip = view.text("target.chip");
  std::transform(chip.begin(), chip.end(), chip.begin(), [](unsigned char c) { return std::toupper(c); });
  const std::string platform = view.text("model_config.platform_version");
  if (view.given("target.chip") && platform != "auto" && platform != chip)
    report.say({"target.chip", "model_config.platform_version"},
               "`chip` and `platform_version` name different chips", "keep one of them");
}

void task_queue_environment(const RunView& view, RuleReport& report) {
  const std::string given = report.environment("TASK_QUEUE_ENABLE");
  if (given.empty() || given == "0" || given == "1" || (given == "2" && view.task_queue() == 2)) return;
  const std::string_view key =
      view.mode() == "npugraph_ex" ? kMode : std::string_view("model_config.platform_version");
  report.say(
      {key},
      fmt::format("TASK_QUEUE_ENABLE is {} in the environment; {}", given,
                  view.task_queue() == 1 ? "npugraph_ex and the 950 take 0 or 1" : "it takes 0, 1 or 2"),
      fmt::format("export TASK_QUEUE_ENABLE={}; a run leaves it as it is", view.task_queue()));
}

void static_kernel_environment(const RunView& view, RuleReport& report) {
  const std::string given = report.environment("LOCAL_WORLD_SIZE");
  const int64_t world = view.integer("parallel_config.world_size");
  if (given.empty() || !view.flag(kNpuStatic) || view.mode() != "npugraph_ex") return;
  int64_t local = 0;
  const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), local);
  if (error == std::errc() && end == given.data() + given.size() && local > 0 && world % local == 0) return;
  report.say(
      {"parallel_config.world_size", kStatic},
      fmt::format(
          "LOCAL_WORLD_SIZE is `{}` in the environment; static kernels need a divisor of world_size {}",
          given, world),
      "export the number of ranks on one server");
}

void mooncake_store(const RunView& view, RuleReport& report) {
  if (view.text("disagg.engine_backend") != "mooncake") return;
  for (const char* key : {"disagg.store_url", "disagg.is_store_creator_node"})
    if (view.given(key))
      report.drop(report.say({key, "disagg.engine_backend"},
                             fmt::format("`{}` has no effect under mooncake", key), "leave it out"),
                  key);
}

}  // namespace skdsl::config::rules
