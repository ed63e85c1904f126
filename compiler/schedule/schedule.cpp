#include "compiler/schedule/schedule.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/passes/graph_constraints.h"
#include "compiler/passes/specialise.h"
#include "compiler/schedule/build.h"

namespace skdsl::schedule {

using namespace plan;

std::optional<Schedule> make_schedule(const Program& program, const GraphKey& key, diag::Engine& diags,
                                      const ScheduleOptions& options) {
  const Function* function = program.find(key.function);
  if (function == nullptr) {
    diags.report({}, diag::Id::UnknownName, key.function);
    return {};
  }
  const Program special = passes::specialise(program, *function, key.bindings, diags);
  if (!passes::check_graph(special, special.functions[0], kMode, diags)) return {};
  // From here on every `if` on sizes is gone and every size should be a number.
  Build build{program, special, special.functions[0], diags, {}, {}, {}, {}, {}, {}};
  build.out.function = key.function;
  build.out.bindings = key.bindings;
  std::sort(build.out.bindings.begin(), build.out.bindings.end());
  if (!flatten(build) || !order(build)) return {};
  const size_t errors = diags.errors();
  if (options.superkernel && (!fuse(build, options) || diags.errors() > errors)) return {};
  place(build);
  if (!options.verify) return std::move(build.out);
  if (const auto messages = verify(build.out, program); !messages.empty()) {
    diags.report({}, diag::Id::InternalVerify, "scheduling", messages.front());
    return {};
  }
  return std::move(build.out);
}

}  // namespace skdsl::schedule
