// gear_list — the `gears` of a decode: their values and the list that they are written as
#pragma once
#include <vector>

#include "compiler/lint/rule.h"

namespace skdsl::lint {

struct GearList {
  plan::OpId op = plan::kNone;
  std::vector<int64_t> sizes;
  ast::NodeId written = 0;  // the list behind `gears` in the linted file; 0 when it is elsewhere
};

/// The gears of the function of the context, in the order of the program.
std::vector<GearList> gear_lists(const Context& context);

/// Writes another list in its place.
void write_gears(const Context& context, const GearList& gears, const std::vector<int64_t>& sizes,
                 diag::Engine::Builder& report);

}  // namespace skdsl::lint
