// A run config that leaves the batch of a graph mode to the number of prompts: another number is another
// graph.
#include "compiler/lint/rule.h"

namespace skdsl::lint::rules_impl {

void sk207_unpadded_decode_batch(const Context& c, Report& report) {
  // A model file says nothing about its batch; a run config should.
  if (c.modules || c.eager() || c.run->given("scheduler_config.batch_size")) return;
  const config::Effective& mode = c.run->at("model_config.exe_mode");
  report.at(mode.span, c.mode)
      .note("scheduler_config.batch_size is not given")
      .help(
          "give `scheduler_config.batch_size`: fewer prompts are padded to it, and one graph serves all "
          "steps");
}

}  // namespace skdsl::lint::rules_impl
