// in_place — whose bytes may be written over
//
// An analysis of a flat function for the scheduler. A result may take the bytes of operand 0 when the
// operator is elementwise, both have the same size, and nobody reads operand 0 (or a view of it) afterwards.
#pragma once
#include <vector>

#include "runtime/plan/plan.h"

namespace skdsl::passes {

struct InPlace {
  std::vector<plan::ValueId> root;      // by value: whose bytes it shows; itself unless it is a view
  std::vector<uint8_t> reuses_operand;  // by op: result 0 may be written over operand 0
};

/// `f` has one region; parameters, weights, states, constants and returned values are never written over.
InPlace find_in_place(const plan::Function& f);

}  // namespace skdsl::passes
