// host_lists — who uses which element of a host list of lengths
//
// In an npugraph_ex decode the lengths of a step come as host lists. What only an attention takes is patched
// into the captured graph at each replay; an element that anything else uses makes each of its values another
// graph.
#pragma once
#include <string>
#include <vector>

#include "compiler/lint/rule.h"

namespace skdsl::lint {

/// One use of a list, or of a number computed from it.
struct ListUse {
  std::string list;             // the parameter: "step.actual_seq_lengths_kv_list"
  int64_t element = -1;         // -1: the whole list, or one that is not known
  plan::OpId op = plan::kNone;  // the user
  bool updatable = false;       // the list itself is the length operand of an attention
  bool computed = false;        // it is a result of arithmetic on elements, not an element
};

/// All uses in the function of the context, in the order of the program. Arithmetic on host numbers is looked
/// through; the user is what leaves the host: an operator, a size of a shape, a condition, the result.
std::vector<ListUse> list_uses(const Context& context);

}  // namespace skdsl::lint
