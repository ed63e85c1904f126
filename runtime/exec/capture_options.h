// capture_options — what npugraph_ex can be told; names and defaults are those of its option table
#pragma once
#include <cstdint>
#include <optional>

namespace skdsl::exec {

struct CaptureOptions {
  // ---- when is captured and replayed
  bool dynamic = true;       // enable_dynamic_graph: sizes, integers and lengths are symbols; else constants
  bool force_eager = false;  // never capture
  bool force_recapture = false;         // capture in every call
  uint64_t capture_limit = 64;          // captures of one compiled graph; past it the graph stays eager
  uint64_t recompile_limit = 8;         // compiled graphs of one function; past it the function stays eager
  bool skip_guard_eval_unsafe = false;  // a call that fits no capture is an error instead of a new one
  bool gear_padding = true;             // rows are added up to a gear; else only exact sizes are served

  // ---- memory
  bool clone_input =
      true;  // inputs are copied into memory of the graph; else into the tensors of the first call
  bool clone_output = false;                // results are copies; else the next replay writes over them
  bool reuse_graph_pool_in_same_fx = true;  // captures of one compiled graph share their arena
  std::optional<int64_t> use_graph_pool;    // all graphs share this pool; turns the option above off
  bool frozen_parameter = false;            // recorded only: weights of a session never move

  // ---- passes
  bool inplace_pass = true;         // results may take the bytes of operands
  bool input_inplace_pass = true;   // recorded only: states are written in place anyway
  bool remove_noop_ops = true;      // the pass remove-noops
  bool remove_cat_ops = true;       // recorded only
  bool pattern_fusion_pass = true;  // recorded only

  // ---- recorded only: they speak to the device
  bool static_kernel_compile = false;
  bool super_kernel_optimize = false;
};

}  // namespace skdsl::exec
