// Static kernels and core limits before CANN 9.0: the limit wins, and the compiled kernels lie there unused.
#include "compiler/lint/edit.h"
#include "compiler/lint/release.h"

namespace skdsl::lint::rules_impl {

void sk506_core_limit_drops_static_kernel(const Context& c, Report& report) {
  if (!c.npugraph_ex() || !c.decode() || !c.run->flag("npugraph_ex.static_kernel_compile")) return;
  const std::string cann = c.run->text("target.cann");
  if (!older(cann, 9, 0)) return;
  for (const plan::OpId id : c.order->ops())
    if (const plan::Context* block = c.around(id, plan::Context::Kind::Cores)) {
      report.at(block->loc, cann)
          .note("model_config.enable_static_kernel is on")
          .help("take CANN 9.0 or later, or leave one of the two out");
      return;
    }
}

}  // namespace skdsl::lint::rules_impl
