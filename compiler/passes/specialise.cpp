#include "compiler/passes/specialise.h"

#include <algorithm>

#include "compiler/passes/copier.h"
#include "compiler/passes/pass.h"

namespace skdsl::passes {

using namespace plan;

namespace {
class Specialiser : public Copier {
 public:
  Specialiser(const Program& program, const Function& from, Function& to,
              const std::vector<std::pair<std::string, int64_t>>& bindings)
      : Copier(from, to) {
    for (const auto& [name, value] : bindings) {
      const auto it = std::find(program.symbols.begin(), program.symbols.end(), name);
      if (it != program.symbols.end())
        symbols_[static_cast<SymbolId>(it - program.symbols.begin())] = Dim(value);
    }
  }

 private:
  bool replace(const Op&, RegionId, int) override { return false; }
};
}  // namespace

Program specialise(const Program& program, const Function& function,
                   const std::vector<std::pair<std::string, int64_t>>& bindings, diag::Engine& diags) {
  Program out;
  out.files = program.files;
  out.symbols = program.symbols;
  out.contexts = program.contexts;
  out.constants = program.constants;
  out.weights = program.weights;
  out.consts = program.consts;
  out.states = program.states;
  out.unused_sources = program.unused_sources;
  Specialiser(program, function, out.functions.emplace_back(), bindings).copy_function();
  for (const ConstDecl& c : out.consts)
    if (const Function* f = program.find(c.function); f != nullptr && out.find(c.function) == nullptr)
      out.functions.push_back(*f);
  PassContext context{out, diags};
  // Each may open the way for the other: a known size makes a reshape a no-op, which makes a literal an
  // operand.
  bool changed = true;
  for (int round = 0; changed && round < 4; ++round) {
    changed = fold_constants(context);
    changed |= remove_noops(context);
  }
  // The function stays even when it is neither a phase nor a script.
  const Phase phase = out.functions[0].phase;
  if (phase == Phase::None) out.functions[0].phase = Phase::Decode;
  dead_code(context);
  out.functions[0].phase = phase;
  return out;
}

}  // namespace skdsl::passes
