// run_rules_options — values of back-end options that a type cannot say, and options against each other
#include <algorithm>
#include <filesystem>

#include "compiler/config/run_rules.h"
#include "compiler/superkernel/capture_options.h"

namespace skdsl::config::rules {

namespace {

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Calls `each` for the parts between bars; false when one of them is refused.
template <class F>
bool all_parts(std::string_view text, F each) {
  while (true) {
    const size_t bar = text.find('|');
    if (!each(text.substr(0, bar))) return false;
    if (bar == text.npos) return true;
    text.remove_prefix(bar + 1);
  }
}

}  // namespace

void ge_mode_of_capture(const RunView& view, RuleReport& report) {
  if (view.mode() == "ge_graph" && view.text("ge.mode") != "max-autotune")
    report.say({"ge.mode", "model_config.exe_mode"},
               fmt::format("`ge.mode` is {}, which captures, and exe_mode is ge_graph", view.text("ge.mode")),
               "leave ge.mode out, or set exe_mode to npugraph_ex");
}

void graph_dump_of_capture(const RunView& view, RuleReport& report) {
  const std::string type = view.text("ge.debug.graph_dump.type");
  if ((type == "txt" || type == "pbtxt") && view.text("ge.mode") != "max-autotune")
    report.set(report.say({"ge.debug.graph_dump.type", "ge.mode"},
                          fmt::format("a captured graph is written as py, not as {}", type), "set it to py"),
               "ge.debug.graph_dump.type", "py");
}

void ops_lower_limit(const RunView& view, RuleReport& report) {
  const Effective& e = view.at("ge.experimental_config.static_model_ops_lower_limit");
  if (e.value.is_int() && (e.value.as_int() == 0 || e.value.as_int() == 1))
    report.set(report.say({e.key->path()},
                          fmt::format("`{}` is {}, expected -1 or at least 2", e.key->key, e.value.as_int()),
                          "-1 turns the limit off"),
               e.key->path(), "-1");
}

void aicore_num_form(const RunView& view, RuleReport& report) {
  const std::string text = view.text("ge.ge_config.aicore_num");
  size_t parts = 0;
  const bool good = all_parts(text, [&](std::string_view part) { return ++parts <= 2 && is_number(part); });
  if (!text.empty() && (!good || parts != 2))
    report.say({"ge.ge_config.aicore_num"},
               fmt::format("`aicore_num` is `{}`, expected cube and vector cores", text),
               "write both with a bar: \"24|48\"");
}

void dump_step_form(const RunView& view, RuleReport& report) {
  const std::string text = view.text("ge.dump_config.dump_step");
  const bool good =
      text.empty() || all_parts(text, [](std::string_view part) {
        const size_t dash = part.find('-');
        return is_number(part.substr(0, dash)) && (dash == part.npos || is_number(part.substr(dash + 1)));
      });
  if (!good)
    report.say({"ge.dump_config.dump_step"},
               fmt::format("`dump_step` is `{}`, expected steps and ranges", text),
               "join them with bars: \"0|3-5\"");
}

void dump_folder(const RunView& view, RuleReport& report) {
  for (const auto& [on, folder] : {std::pair<std::string_view, std::string_view>{
                                       "npugraph_ex.dump_tensor_data", "npugraph_ex.data_dump_dir"},
                                   {"ge.dump_config.enable_dump", "ge.dump_config.dump_path"}}) {
    std::error_code ignored;
    if (view.flag(on) && !std::filesystem::is_directory(view.text(folder), ignored))
      report.say({folder, on}, fmt::format("`{}` is `{}`, which is no folder", folder, view.text(folder)),
                 "make the folder first");
  }
}

void single_stream(const RunView& view, RuleReport& report) {
  if (view.mode() != "ge_graph" || !view.flag("ge.ge_config.enable_single_stream")) return;
  for (const char* key :
       {"model_config.custom_params.enable_multi_streams", "model_config.custom_params.enable_prefetch"})
    if (view.flag(key))
      report.say({"ge.ge_config.enable_single_stream", key},
                 fmt::format("one stream, and `{}` needs more", key), "leave one of the two out", "false");
}

void level_and_order(const RunView& view, RuleReport& report) {
  const std::string_view order = "ge.experimental_config.topology_sorting_strategy";
  if (view.mode() == "ge_graph" && view.text("ge.ge_config.oo_level") == "O1" && view.given(order) &&
      view.text(order) != "StableRDFS")
    report.drop(report.say({order, "ge.ge_config.oo_level"},
                           "level O1 sorts by StableRDFS whatever is asked for", "leave the strategy out"),
                order);
}

void ref_data_cache(const RunView& view, RuleReport& report) {
  if (view.flag("ge.experimental_config.enable_ref_data") && view.flag("model_config.enable_cache_compile"))
    report.drop(report.say({"ge.experimental_config.enable_ref_data", "model_config.enable_cache_compile"},
                           "a graph with ref data cannot be cached", "leave one of the two out"),
                "model_config.enable_cache_compile");
}

void fusion_switches(const RunView& view, RuleReport& report) {
  if (!view.text("ge.fusion_config.fusion_switch_file").empty() &&
      !view.text("ge.ge_config.optimization_switch").empty())
    report.drop(report.say({"ge.fusion_config.fusion_switch_file", "ge.ge_config.optimization_switch"},
                           "`optimization_switch` beats the file of switches", "keep one of them"),
                "ge.fusion_config.fusion_switch_file");
}

void pool_and_reuse(const RunView& view, RuleReport& report) {
  const std::string_view reuse = "npugraph_ex.reuse_graph_pool_in_same_fx";
  if (!view.at("npugraph_ex.use_graph_pool").value.is_null() && view.given(reuse) && view.flag(reuse))
    report.drop(
        report.say({reuse, "npugraph_ex.use_graph_pool"},
                   "a pool of your own turns the sharing within a function off", "leave one of the two out"),
        reuse);
}

void force_eager_and_recapture(const RunView& view, RuleReport& report) {
  if (view.flag("npugraph_ex.force_eager") && view.flag("npugraph_ex.force_recapture"))
    report.say({"npugraph_ex.force_eager", "npugraph_ex.force_recapture"},
               "one captures never, the other at each call", "keep one of them");
}

void capture_beside_worker(const RunView& view, RuleReport& report) {
  if (view.mode() != "npugraph_ex" || view.text("npugraph_ex.capture_error_mode") != "global") return;
  for (const char* key :
       {"model_config.custom_params.enable_offload", "model_config.custom_params.enable_engram_offload"})
    if (view.flag(key))
      report.set(
          report.say(
              {key, "npugraph_ex.capture_error_mode"},
              fmt::format("`{}` copies in a thread of its own, and with `capture_error_mode` global any "
                          "thread's copy breaks a capture",
                          key),
              "set capture_error_mode to thread_local"),
          "npugraph_ex.capture_error_mode", "thread_local");
}

constexpr std::string_view kOptimizeOptions = "npugraph_ex.super_kernel_optimize_options";
constexpr std::string_view kDebugOptions = "npugraph_ex.super_kernel_debug_options";

auto superkernel_options(const RunView& view) {
  return superkernel::read_capture_options(view.at(kOptimizeOptions).value, view.at(kDebugOptions).value);
}

void superkernel_option_types(const RunView& view, RuleReport& report) {
  if (!view.flag("npugraph_ex.super_kernel_optimize")) return;
  if (auto read = superkernel_options(view); !read)
    report.say({view.given(kOptimizeOptions) ? kOptimizeOptions : kDebugOptions}, read.error().message,
               read.error().help);
}

void superkernel_option_values(const RunView& view, RuleReport& report) {
  if (!view.flag("npugraph_ex.super_kernel_optimize")) return;
  if (auto read = superkernel_options(view))
    for (const std::string& warning : read->warnings)
      report.say({view.given(kOptimizeOptions) ? kOptimizeOptions : kDebugOptions}, warning,
                 "docs/superkernel-capture.md lists the options");
}

void superkernel_options_alone(const RunView& view, RuleReport& report) {
  for (const char* key :
       {"npugraph_ex.super_kernel_optimize_options", "npugraph_ex.super_kernel_debug_options"})
    if (!view.at(key).value.is_null() && !view.flag("npugraph_ex.super_kernel_optimize"))
      report.drop(report.say({key, "npugraph_ex.super_kernel_optimize"},
                             fmt::format("`{}` has no effect without super kernels", key),
                             "set super_kernel_optimize to true, or leave it out"),
                  key);
}

void full_graph(const RunView& view, RuleReport& report) {
  for (const char* key : {"npugraph_ex.fullgraph", "ge.fullgraph"})
    if (!view.flag(key))
      report.drop(report.say({key}, "a decode is one graph: `fullgraph` cannot be false",
                             "leave it out; `skdsl modes` tells what breaks a graph"),
                  key);
}

}  // namespace skdsl::config::rules
