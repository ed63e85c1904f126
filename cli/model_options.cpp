// model_options — the options that commands which load a model share
#include <CLI/CLI.hpp>

#include "cli/model_run.h"

namespace skdsl::cli {

void add_model_options(CLI::App& app, ModelOptions& o) {
  app.add_option("file", o.file, "the .sk file")->required();
  app.add_option("--mode", o.mode,
                 "eager, npugraph_ex or ge_graph; default: exe_mode of the run config, else eager");
  app.add_option("--config", o.config, "run config (YAML)");
  app.add_option(
      "--weights", o.weights,
      "Hugging Face folder, .safetensors file, or synthetic[:SEED]; default: the model's default_weights");
  app.add_option("--set", o.set,
                 "key=value of the file's config, a built-in name, or a key of the run config with its "
                 "section; repeatable")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
  app.add_option("--max-seq-len", o.max_seq_len,
                 "longest prompt and completion; default: max_position_embeddings");
  app.add_option("--block-size", o.block_size, "rows of a cache block; default 128");
  app.add_option("--kv-blocks", o.kv_blocks,
                 "cache blocks, the null block included; default: enough for every request");
  app.add_option("--superkernel", o.superkernel,
                 "on or off: whether scopes become super kernels; the bits are the same")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
  app.add_option("--jit", o.jit,
                 "on or off: whether a decode of ge_graph runs as machine code; the bits are the same")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
  app.add_option("--jit-option", o.jit_option,
                 "NAME=on|off, a switch of machine code (docs/jit.md); repeatable")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  app.add_flag("--static-kernels", o.static_kernels,
               "ge_graph: compile kernels for their shapes; the bits are the same");
  app.add_flag(
      "--mtp{1}", o.mtp,
      "run the file's `draft` beside the model: it guesses the token after the next one after each step, "
      "--mtp=2 one more; tokens stay the same");
  app.add_flag("--strict", o.strict, "what was asked for and not done is an error");
  app.add_flag("--lenient", o.lenient, "unknown keys of the run config are warnings");
  app.add_option("--print-after", o.print_after, "print the program after a pass, or after `all`; repeatable")
      ->allow_extra_args(false);
  app.add_option("--skip-pass", o.skip_pass, "leave a pass out; repeatable")->allow_extra_args(false);
  app.add_option("--stop-after", o.stop_after,
                 "run only the first N passes: finds the pass that breaks something");
}

int report_failure(const Error& error, const diag::Engine& diags, Context& context) {
  return diags.has_errors() ? report(diags, context) : report(error, context);
}

std::function<void(const passes::Pass&, const plan::Program&)> pass_printer(Context& context) {
  return [&context](const passes::Pass& pass, const plan::Program& program) {
    context.err << "// after " << pass.name << '\n' << plan::print(program);
  };
}

}  // namespace skdsl::cli
