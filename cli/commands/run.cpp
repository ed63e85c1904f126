// run — loads config and weights, prefill, decode, prints the text or ids
#include <CLI/CLI.hpp>
#include <csignal>
#include <memory>

#include "cli/cli.h"
#include "cli/model_run.h"

namespace skdsl::cli {

namespace {
std::atomic<bool> interrupt{false};
}  // namespace

Run define_run(CLI::App& app) {
  auto o = std::make_shared<RunOptions>();
  add_model_options(app, *o);
  app.add_option("--prompt", o->prompts,
                 "a prompt, one for each request; `-` reads standard input; repeatable")
      ->allow_extra_args(false);
  app.add_option("--prompt-ids", o->prompt_ids, "token ids of a prompt: 1,2,3; repeatable")
      ->allow_extra_args(false)
      ->delimiter('\0');
  app.add_option("--max-new-tokens", o->max_new_tokens,
                 "tokens to generate for each request; default 32, cut to what fits");
  app.add_flag("--ignore-eos", o->ignore_eos, "go on after an end token");
  app.add_option("--temperature", o->temperature,
                 "draw tokens at this temperature; default 0: greedy, whatever generation_config.json says");
  app.add_option("--top-k", o->top_k, "draw from the K most likely tokens only");
  app.add_option("--top-p", o->top_p, "draw from the most likely tokens that together reach P only");
  app.add_option("--seed", o->seed, "seed of the draws (Philox4x32-10); default 0");
  app.add_option("--stop", o->stop, "a text that ends a completion, which is cut before it; repeatable")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--threads", o->threads, "worker threads; default: one for each core")
      ->check(CLI::Range(0, 1024));
  app.add_option("--dump-logits", o->dump_logits, "write prompts, tokens and logits to a JSON file");
  app.add_option("--dump", o->dump, "write the value of each `dump` statement to this folder as NumPy files");
  app.add_flag("--diagnose", o->diagnose, "name the first kernel that gives NaN from operands without");
  app.add_flag("--warmup", o->warmup,
               "one decode of padding rows before the prefill, which makes the graphs");
  app.add_flag("--steps", o->steps, "one line for each step: who served it, rows, padding, time");
  app.add_flag("--json", o->json, "one JSON document on standard output");
  return [o](Context& context) {
    // Ctrl-C ends the run between two operators; nothing half-written stays.
    std::signal(SIGINT, [](int) { interrupt.store(true); });
    return run_model(*o, context, interrupt);
  };
}

}  // namespace skdsl::cli
