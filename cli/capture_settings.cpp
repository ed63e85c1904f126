#include "cli/capture_settings.h"

#include "compiler/config/options.h"

namespace skdsl::cli {

exec::CaptureOptions capture_options(const config::Settings& settings) {
  const config::NpuGraphOptions n = config::npugraph_options(settings);
  exec::CaptureOptions out;
  out.dynamic = n.dynamic;
  out.force_eager = n.force_eager;
  out.force_recapture = n.force_recapture;
  out.capture_limit = static_cast<uint64_t>(n.capture_limit);
  out.recompile_limit = static_cast<uint64_t>(n.recompile_limit);
  out.skip_guard_eval_unsafe = n.skip_guard_eval_unsafe;
  out.gear_padding = n.gear_padding;
  out.clone_input = n.clone_input;
  out.clone_output = n.clone_output;
  out.reuse_graph_pool_in_same_fx = n.reuse_graph_pool_in_same_fx;
  if (!n.use_graph_pool.is_null()) out.use_graph_pool = 0;
  out.frozen_parameter = n.frozen_parameter;
  out.inplace_pass = n.inplace_pass;
  out.input_inplace_pass = n.input_inplace_pass;
  out.remove_noop_ops = n.remove_noop_ops;
  out.remove_cat_ops = n.remove_cat_ops;
  out.pattern_fusion_pass = n.pattern_fusion_pass;
  out.static_kernel_compile = n.static_kernel_compile;
  out.super_kernel_optimize = n.super_kernel_optimize;
  return out;
}

}  // namespace skdsl::cli
