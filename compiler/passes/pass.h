// pass — what changes a program between elaboration and scheduling, and in which order
//
// passes.def is the one table. Every pass leaves a program that verifies; the manager checks it after each,
// or after the last.
#pragma once
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/diag/diag.h"
#include "runtime/plan/plan.h"

namespace skdsl::passes {

enum class PassKind : uint8_t { Canonicalise, Simplify, Lower };
std::string_view name(PassKind kind);

struct PassContext {
  plan::Program& program;
  diag::Engine& diags;
};

struct Pass {
  std::string_view name;  // kebab-case
  PassKind kind;
  std::string_view summary;
  bool (*run)(PassContext&);  // true when the program changed
};

/// The rows of passes.def.
std::span<const Pass> all();
/// Null when there is none of that name.
const Pass* find(std::string_view name);

struct PassOptions {
  std::vector<std::string> print_after;  // names of passes, or "all"
  std::function<void(const Pass& pass, const plan::Program& program)> print;
  std::vector<std::string> skip;
  size_t stop_after = std::numeric_limits<size_t>::max();  // passes that still run: bisecting a wrong result
  enum class Verify : uint8_t { Never, Last, Each };
  Verify verify = Verify::Each;
};

/// Runs the table from top to bottom. False after an error: what a pass reported, or InternalVerify naming
/// the pass after which the program does not verify.
bool run(plan::Program& program, const PassOptions& options, diag::Engine& diags);

// The passes themselves; true when something changed.
#define SK_PASS(function, name, kind, summary) bool function(PassContext& context);
#include "compiler/passes/passes.def"
#undef SK_PASS

}  // namespace skdsl::passes
