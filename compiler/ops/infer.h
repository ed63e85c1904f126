// infer — result types of operators, and what is wrong when there are none
//
// One function for each ShapeRule of the operator table. Sizes are polynomials: equal ones must be equal as
// polynomials; where a size depends on values (symbols of `item`, `nonzero` …) the comparison is left to the
// run and recorded in `checks`.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/diag/diag.h"
#include "runtime/plan/program.h"

namespace skdsl::ops {

/// A comparison that only a run can make.
struct DeferredCheck {
  plan::Dim actual, expected;
  std::string message;
};

/// One use of an operator: types and attributes in, result types out. `attrs` may be completed (a -1 of
/// `reshape`, negative axes).
struct InferCall {
  Opcode op = Opcode::Add;
  std::vector<const plan::Type*> operands;  // null = absent
  std::vector<plan::Attr>* attrs = nullptr;
  plan::DType act = plan::DType::BF16;     // the activation dtype
  const plan::Program* program = nullptr;  // for printing sizes
  std::function<bool(plan::SymbolId)> is_unbacked = [](plan::SymbolId) {
    return false;
  };  // known to a run only

  diag::Engine* diags = nullptr;
  Span span;                          // the call
  std::vector<Span> operand_spans;    // the arguments
  std::vector<Span> operand_origins;  // where each operand's value was made; may be empty spans
  std::vector<Span> attr_spans;

  std::vector<DeferredCheck> checks;  // out
};

/// Nothing when a diagnostic was reported.
std::optional<std::vector<plan::Type>> infer(InferCall& call);

}  // namespace skdsl::ops
