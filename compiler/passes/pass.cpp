#include "compiler/passes/pass.h"

#include <algorithm>

namespace skdsl::passes {

namespace {
constexpr Pass kPasses[] = {
#define SK_PASS(function, name, kind, summary) {name, PassKind::kind, summary, function},
#include "compiler/passes/passes.def"
#undef SK_PASS
};

bool has(const std::vector<std::string>& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

bool verifies(const plan::Program& program, std::string_view after, diag::Engine& diags) {
  const auto messages = plan::verify(program);
  if (messages.empty()) return true;
  auto report = diags.report({}, diag::Id::InternalVerify, after, messages.front());
  for (size_t i = 1; i < messages.size() && i < 5; ++i) report.note(messages[i]);
  return false;
}
}  // namespace

std::string_view name(PassKind kind) {
  constexpr std::string_view kNames[] = {"canonicalise", "simplify", "lower"};
  return kNames[static_cast<size_t>(kind)];
}

std::span<const Pass> all() { return kPasses; }

const Pass* find(std::string_view name) {
  const auto it =
      std::find_if(std::begin(kPasses), std::end(kPasses), [&](const Pass& p) { return p.name == name; });
  return it == std::end(kPasses) ? nullptr : it;
}

bool run(plan::Program& program, const PassOptions& options, diag::Engine& diags) {
  const size_t errors = diags.errors();
  const bool each = options.verify == PassOptions::Verify::Each;
  if (each && !verifies(program, "elaboration", diags)) return false;
  size_t applied = 0;
  PassContext context{program, diags};
  for (const Pass& pass : kPasses) {
    if (has(options.skip, pass.name)) continue;
    if (applied++ >= options.stop_after) break;
    pass.run(context);
    if (diags.errors() > errors) return false;
    if (options.print && (has(options.print_after, pass.name) || has(options.print_after, "all")))
      options.print(pass, program);
    if (each && !verifies(program, pass.name, diags)) return false;
  }
  return options.verify != PassOptions::Verify::Last || verifies(program, "the last pass", diags);
}

}  // namespace skdsl::passes
