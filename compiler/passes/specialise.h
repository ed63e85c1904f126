// specialise — one function with its sizes known
//
//   before   func "M.decode" (x = %0 : f32[T, 64])      after   func "M.decode" (x = %0 : f32[4, 64])     //
//   T = 4
//
// The symbols become constants in types and attributes, then the simplifying passes run: host arithmetic on
// sizes becomes constants and an `if` on them becomes its branch.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "compiler/diag/diag.h"
#include "runtime/plan/hook.h"

namespace skdsl::passes {

/// A program of its own that holds the specialised function (and the functions of consts). Symbols, contexts
/// and constants keep their numbers; new constants follow behind.
plan::Program specialise(const plan::Program& program, const plan::Function& function,
                         const std::vector<std::pair<std::string, int64_t>>& bindings, diag::Engine& diags);

}  // namespace skdsl::passes
