#include "compiler/lint/view.h"

#include <algorithm>
#include <map>

#include "compiler/passes/graph_constraints.h"

namespace skdsl::lint {

using namespace plan;

namespace {

/// Sizes of a phase's symbols: those of a step, and what the script's call gives for the others.
std::optional<GraphKey> key_of(const Program& program, const Function& f, const config::Builtins& b) {
  std::map<std::string, int64_t> sizes;
  const auto bind = [&](const Type& declared, const Type& given) {
    for (size_t i = 0; i < declared.rank() && i < given.rank(); ++i)
      if (const auto s = declared.dims[i].as_symbol(); s && given.dims[i].is_constant())
        sizes.emplace(program.symbols[*s], given.dims[i].constant());
  };
  const std::vector<ValueId>& params = f.regions[f.body].args;
  if (const Function* main = program.find("main"))
    for (const Op& op : main->ops) {
      if (op.code != Opcode::Call || std::get<std::string>(op.attrs[0]) != f.name) continue;
      for (size_t i = 0; i < params.size() && i < op.operands.size(); ++i)
        if (op.operands[i] != kNone) bind(f.values[params[i]].type, main->values[op.operands[i]].type);
    }
  sizes.emplace("B", b.batch_size);
  sizes.emplace("T", b.batch_size);
  sizes.emplace("W", (b.max_seq_len + b.block_size - 1) / b.block_size);
  for (const ValueId v : params)
    for (const Dim& d : f.values[v].type.dims)
      if (!d.is_constant())
        for (const SymbolId s : d.symbols())
          if (!sizes.contains(program.symbols[s])) return {};
  return GraphKey{f.name, {sizes.begin(), sizes.end()}};
}

}  // namespace

Expected<Resolved> defaults(const sema::Modules& modules, const std::string& mode) {
  Resolved r;
  config::Builtins& b = r.compile.sema.builtins;
  b.exe_mode = mode;
  b.batch_size = std::max<int64_t>(sema::script_requests(modules), 1);
  b.kv_blocks = 1 + b.batch_size * ((b.max_seq_len + b.block_size - 1) / b.block_size);
  return r;
}

std::unique_ptr<ModeView> view(const sema::Modules& modules, const std::string& mode, Resolved resolved,
                               diag::Engine& diags) {
  auto out = std::make_unique<ModeView>();
  out->mode = mode;
  out->resolved = std::move(resolved);
  out->resolved.schedule.verify = false;
  out->run_context = std::make_unique<config::RunContext>(config::RunContext{
      mode, [&modules](std::string_view key) { return sema::declares_config(modules, key); }});
  const CompileOptions& options = out->resolved.compile;
  out->run = std::make_unique<config::RunView>(options.sema.settings, *out->run_context);

  // The later stages of the compiler stop at the first error; each of them gets its own engine's count here.
  auto elaborated = sema::elaborate(modules, options.sema, diags);
  if (!elaborated) return out;
  for (const Function& f : elaborated->program.functions)
    for (const Op& op : f.ops)
      if (op.code == Opcode::Call && !op.path.empty()) out->calls.emplace(op.path, op.loc);
  passes::PassOptions passes = options.passes;
  passes.verify = passes::PassOptions::Verify::Never;
  passes.stop_after = 1;
  if (!passes::run(elaborated->program, passes, diags)) return out;
  out->elaborated = std::move(elaborated);
  if (mode == "eager") return out;

  out->simplified = out->elaborated->program;
  passes.stop_after = options.passes.stop_after;
  passes.skip.emplace_back("inline-layers");
  if (!passes::run(out->simplified, passes, diags)) return out;
  for (const Function& f : out->simplified.functions) {
    if (!is_decode(f.phase) || !passes::check_graph(out->simplified, f, mode, diags) || mode != "ge_graph")
      continue;
    const auto key = key_of(out->simplified, f, options.sema.builtins);
    if (!key) continue;
    if (auto s = schedule::make_schedule(out->simplified, *key, diags, out->resolved.schedule))
      out->schedules.push_back(std::move(*s));
  }
  return out;
}

}  // namespace skdsl::lint
