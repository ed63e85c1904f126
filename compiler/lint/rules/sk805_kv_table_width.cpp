// A pool of cache blocks that is smaller than the block table of one request at its longest.
#include "compiler/config/run_edit.h"
#include "compiler/lint/rule.h"

namespace skdsl::lint::rules_impl {

void sk805_kv_table_width(const Context& c, Report& report) {
  constexpr std::string_view kBlocks = "scheduler_config.kv_blocks", kLength = "scheduler_config.max_seq_len";
  if (c.modules || !c.run->given(kBlocks) || !c.run->given(kLength)) return;
  const int64_t blocks = c.run->integer(kBlocks), block = c.run->integer("scheduler_config.block_size");
  const int64_t length = c.run->integer(kLength), width = length / block + (length % block != 0);
  if (blocks - 1 >= width) return;
  auto finding = report.at(c.run->at(kBlocks).span, blocks - 1, length, width);
  finding.note(fmt::format("block_size = {}", block));
  finding.help(fmt::format("set it to {} at least, or leave it out", width + 1));
  config::set_key(c.sources, *c.run, kBlocks, std::to_string(width + 1), finding);
}

}  // namespace skdsl::lint::rules_impl
