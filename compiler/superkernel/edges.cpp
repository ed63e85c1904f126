// edges — flags between the cube and the vector queue of a two-stream super kernel
#include <algorithm>
#include <map>

#include "compiler/superkernel/superkernel.h"

namespace skdsl::superkernel {

std::vector<Edge> edge_labels(plan::KernelType from, plan::KernelType to) {
  if (plan::is_mix(from) && plan::is_mix(to)) return {Edge::C2V, Edge::V2C};
  if (plan::is_mix(from)) return {plan::is_cube(to) ? Edge::V2C : Edge::C2V};
  if (plan::is_cube(from)) return {plan::is_cube(to) ? Edge::C2C : Edge::C2V};
  return {plan::is_vector(to) ? Edge::V2V : Edge::V2C};
}

std::vector<Flag> reduce_flags(std::vector<Flag> flags) {
  // Kernel numbers grow along both queues, so they compare places. Each step decides on the state before it.
  const auto keep = [&](auto&& redundant) {
    const std::vector<Flag> before = flags;
    std::erase_if(flags, [&](const Flag& f) {
      return std::any_of(before.begin(), before.end(),
                         [&](const Flag& o) { return o.to_vector == f.to_vector && redundant(f, o); });
    });
  };
  keep([](const Flag& f, const Flag& o) {
    return o.to < f.to && o.from > f.from;
  });  // crossed: o arrives earlier and left later
  keep([](const Flag& f, const Flag& o) {
    return o.from == f.from && o.to < f.to;
  });  // several sends: the earliest receiver
  keep([](const Flag& f, const Flag& o) {
    return o.to == f.to && o.from > f.from;
  });  // several receives: the latest sender
  return flags;
}

}  // namespace skdsl::superkernel
