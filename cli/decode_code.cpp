#include "cli/decode_code.h"

#include "cli/blank_weights.h"
#include "compiler/schedule/schedule.h"
#include "runtime/exec/graph.h"
#include "runtime/model/weights.h"

namespace skdsl::cli {

namespace {

// Keeps the step that a graph asks code for.
class StepTaker final : public exec::NativeCompiler {
 public:
  std::vector<exec::NativeStep> steps;
  Expected<std::unique_ptr<exec::NativeCode>> compile(const exec::NativeStep& step) override {
    steps.push_back(step);
    return fail("looked at, not run");
  }
};

}  // namespace

Expected<std::vector<DecodeStep>> decode_steps(const DecodePlan& plan, uint32_t threads) {
  const plan::Program& program = plan.plan.program;
  const Prepared& p = plan.prepared;
  sk_dtype stored = SK_F32;
  for (const DTypeName& n : kDTypeNames)
    if (n.torch == p.compile.sema.builtins.dtype) stored = n.type;
  exec::Bindings bindings;
  // Stored dtypes decide which kernels are small; a checkpoint is mapped, not read.
  std::optional<model::Weights> weights;
  if (p.checkpoint && p.checkpoint->has_weights() && !p.synthetic_seed) {
    auto loaded = model::Weights::load(program, &*p.checkpoint, {});
    if (!loaded) return tl::unexpected(loaded.error());
    weights = std::move(*loaded);
  }
  auto blank = BlankWeights::make(program, stored);
  if (!blank) return tl::unexpected(blank.error());
  for (const plan::WeightDecl& w : program.weights)
    bindings.weights[w.path] = weights ? *weights->find(w.path) : *blank->find(w.path);
  exec::TensorPool pool(false);
  const auto place = [&](const plan::Type& type) {
    std::vector<int64_t> shape;
    for (const plan::Dim& d : type.dims) shape.push_back(d.constant());
    return pool.empty(plan::abi_dtype(type.dtype), shape);
  };
  for (const plan::ConstDecl& c : program.consts) {
    auto t = place(c.type);
    if (!t) return tl::unexpected(t.error());
    bindings.weights[c.path] = std::move(*t);
  }
  for (const plan::StateDecl& s : program.states) {
    auto t = place(s.type);
    if (!t) return tl::unexpected(t.error());
    bindings.states[s.path] = std::move(*t);
  }
  exec::Workers workers(threads);
  StepTaker taker;
  std::vector<DecodeStep> out;
  for (const plan::Schedule& s : plan.plan.schedules) {
    auto graph = exec::Graph::build(program, s, bindings, workers,
                                    {.poison = false, .native = &taker, .native_options = p.native});
    if (!graph) return tl::unexpected(graph.error());
    if (taker.steps.empty()) continue;  // nothing to run
    DecodeStep& d = out.emplace_back();
    d.step = std::move(taker.steps.back());
    taker.steps.clear();
    d.graph = s.function;
    for (const auto& [name, size] : s.bindings) d.graph += fmt::format(" {}={}", name, size);
    for (const plan::Step& step : s.steps) {
      if (step.kind == plan::Step::Kind::SuperKernel)
        d.superkernel.push_back(step.task);
      else if (step.kind == plan::Step::Kind::Call && !s.tasks[step.task].view)
        d.superkernel.push_back(plan::kNone);
    }
  }
  return out;
}

}  // namespace skdsl::cli
