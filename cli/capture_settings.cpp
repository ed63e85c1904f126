#include "cli/capture_settings.h"

#include <fmt/format.h>

#include "compiler/diag/diag.h"

namespace skdsl::cli {

namespace {

constexpr std::string_view kSection = "npugraph_ex.";

struct Flag {
  std::string_view name;
  bool exec::CaptureOptions::* field;
};
constexpr Flag kFlags[] = {
    {"dynamic", &exec::CaptureOptions::dynamic},
    {"force_eager", &exec::CaptureOptions::force_eager},
    {"force_recapture", &exec::CaptureOptions::force_recapture},
    {"skip_guard_eval_unsafe", &exec::CaptureOptions::skip_guard_eval_unsafe},
    {"gear_padding", &exec::CaptureOptions::gear_padding},
    {"clone_input", &exec::CaptureOptions::clone_input},
    {"clone_output", &exec::CaptureOptions::clone_output},
    {"reuse_graph_pool_in_same_fx", &exec::CaptureOptions::reuse_graph_pool_in_same_fx},
    {"frozen_parameter", &exec::CaptureOptions::frozen_parameter},
    {"inplace_pass", &exec::CaptureOptions::inplace_pass},
    {"input_inplace_pass", &exec::CaptureOptions::input_inplace_pass},
    {"remove_noop_ops", &exec::CaptureOptions::remove_noop_ops},
    {"remove_cat_ops", &exec::CaptureOptions::remove_cat_ops},
    {"pattern_fusion_pass", &exec::CaptureOptions::pattern_fusion_pass},
    {"static_kernel_compile", &exec::CaptureOptions::static_kernel_compile},
    {"super_kernel_optimize", &exec::CaptureOptions::super_kernel_optimize},
};
struct Limit {
  std::string_view name;
  uint64_t exec::CaptureOptions::* field;
};
constexpr Limit kLimits[] = {
    {"capture_limit", &exec::CaptureOptions::capture_limit},
    {"recompile_limit", &exec::CaptureOptions::recompile_limit},
};
constexpr std::string_view kPool = "use_graph_pool";

tl::unexpected<Error> wrong(const config::Setting& s, std::string_view needed) {
  return tl::unexpected(
      Error{ErrorKind::Usage,
            fmt::format("{}: `{}` is {}, {} is required", s.origin, s.key, to_json(s.value), needed),
            {}});
}

}  // namespace

Expected<exec::CaptureOptions> capture_options(const config::Settings& settings) {
  exec::CaptureOptions out;
  // The words of the run config; an option of the back end wins over them.
  const struct {
    std::string_view key;
    bool exec::CaptureOptions::* field;
  } words[] = {{"enable_dynamic_graph", &exec::CaptureOptions::dynamic},
               {"enable_static_kernel", &exec::CaptureOptions::static_kernel_compile}};
  for (const auto& w : words)
    if (const config::Setting* s = settings.find(w.key)) {
      if (!s->value.is_bool()) return wrong(*s, "true or false");
      out.*w.field = s->value.as_bool();
    }
  for (const config::Setting& s : settings.items) {
    if (!std::string_view(s.key).starts_with(kSection)) continue;
    const std::string_view name = std::string_view(s.key).substr(kSection.size());
    bool known = false;
    for (const Flag& f : kFlags) {
      if (f.name != name) continue;
      if (!s.value.is_bool()) return wrong(s, "true or false");
      out.*f.field = s.value.as_bool();
      known = true;
    }
    for (const Limit& l : kLimits) {
      if (l.name != name) continue;
      if (!s.value.is_int() || s.value.as_int() < 1) return wrong(s, "an integer of at least 1");
      out.*l.field = static_cast<uint64_t>(s.value.as_int());
      known = true;
    }
    if (name == kPool) {
      if (!s.value.is_int()) return wrong(s, "the number of a pool");
      out.use_graph_pool = s.value.as_int();
      known = true;
    }
    if (known) continue;
    std::vector<std::string> names{std::string(kPool)};
    for (const Flag& f : kFlags) names.emplace_back(f.name);
    for (const Limit& l : kLimits) names.emplace_back(l.name);
    const std::string near = diag::nearest(std::string(name), names);
    std::string all;
    for (const std::string& n : names) all += (all.empty() ? "" : ", ") + n;
    return tl::unexpected(
        Error{ErrorKind::Usage,
              fmt::format("{}: npugraph_ex has no option `{}`", s.origin, name),
              {near.empty() ? "help: the options are " + all : "help: did you mean `" + near + "`?"}});
  }
  return out;
}

}  // namespace skdsl::cli
