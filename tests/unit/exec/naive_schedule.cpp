#include "tests/unit/exec/naive_schedule.h"

#include <fmt/format.h>

#include "runtime/exec/function_table.h"

namespace skdsl::test {

using namespace plan;

namespace {
TaskAttr task_attr(const Param& param, const Attr& attr, const exec::SymbolLookup& lookup) {
  TaskAttr out;
  out.type = param.attr;
  if (const auto* d = std::get_if<Dim>(&attr)) out.i = *d->evaluate(lookup);
  if (const auto* list = std::get_if<std::vector<Dim>>(&attr))
    for (const Dim& d : *list) out.list.push_back(*d.evaluate(lookup));
  if (const auto* f = std::get_if<double>(&attr)) out.f = *f;
  if (const auto* b = std::get_if<bool>(&attr)) out.i = *b;
  if (const auto* t = std::get_if<DType>(&attr)) out.i = abi_dtype(*t);
  if (const auto* s = std::get_if<std::string>(&attr)) {
    out.text = *s;
    if (param.attr == AttrType::Choice) out.i = exec::choice_index(param, *s);
  }
  return out;
}
}  // namespace

Expected<Schedule> naive_schedule(const Program& program, const GraphKey& key) {
  const Function& f = *program.find(key.function);
  Schedule out;
  out.function = key.function;
  out.bindings = key.bindings;
  out.streams = {"main"};
  const exec::SymbolLookup lookup = [&](SymbolId s) -> std::optional<int64_t> {
    for (const auto& [name, size] : key.bindings)
      if (name == program.symbols[s]) return size;
    return {};
  };
  std::vector<BufferId> place(f.values.size(), kNone);
  const auto add = [&](ValueId v, Storage storage) -> Buffer& {
    Buffer b;
    b.storage = storage;
    b.dtype = f.values[v].type.dtype;
    for (const Dim& d : f.values[v].type.dims) b.shape.push_back(*d.evaluate(lookup));
    place[v] = static_cast<BufferId>(out.buffers.size());
    return out.buffers.emplace_back(std::move(b));
  };
  const auto give_room = [&](Buffer& b) {
    b.storage = Storage::Arena;
    b.offset = out.arena_bytes;
    int64_t bytes = dtype_bytes(abi_dtype(b.dtype));
    for (const int64_t d : b.shape) bytes *= d;
    out.arena_bytes += (static_cast<uint64_t>(bytes) + 63) / 64 * 64;
  };
  const auto push = [&](Task task) {
    plan::Step step;
    step.task = static_cast<uint32_t>(out.tasks.size());
    out.steps.push_back(step);
    out.tasks.push_back(std::move(task));
  };
  // Outputs lie in the arena: a view of an input or of a state is copied there.
  const auto output = [&](BufferId id) {
    if (out.buffers[id].storage == Storage::Arena) return id;
    Buffer copy{Storage::Arena, out.buffers[id].dtype, out.buffers[id].shape};
    give_room(copy);
    Task task;
    task.code = Opcode::Reshape;
    task.core = info(task.code).core;
    task.block_dim = 1;
    task.attrs = {{AttrType::IntList, 0, 0, copy.shape, ""}};
    task.in = {id};
    task.out = {static_cast<BufferId>(out.buffers.size())};
    out.buffers.push_back(std::move(copy));
    push(std::move(task));
    return static_cast<BufferId>(out.buffers.size() - 1);
  };
  const auto& params = f.regions[f.body].args;
  for (uint32_t i = 0; i < params.size(); ++i) {
    if (f.values[params[i]].type.is_tensor()) add(params[i], Storage::Input).index = i;
    out.inputs.push_back(place[params[i]]);
  }
  for (const OpId o : f.regions[f.body].ops) {
    const Op& op = f.ops[o];
    if (op.code == Opcode::Return) {
      for (const ValueId v : op.operands) out.outputs.push_back(output(place[v]));
    } else if (op.code == Opcode::Weight) {
      add(op.results[0], Storage::Weight).path = std::get<std::string>(op.attrs[0]);
    } else if (op.code == Opcode::State) {
      add(op.results[0], Storage::State).path = std::get<std::string>(op.attrs[0]);
    } else if (op.code == Opcode::Constant) {
      add(op.results[0], Storage::Constant).index =
          static_cast<uint32_t>(std::get<Dim>(op.attrs[0]).constant());
    } else if (!info(op.code).has_kernel()) {
      return fail(fmt::format("`{}` cannot be in a graph", info(op.code).name));
    } else {
      Task task;
      task.code = op.code;
      task.core = info(op.code).core;
      task.block_dim = 1;
      task.loc = op.loc;
      task.path = op.path;
      for (const ValueId v : op.operands) task.in.push_back(v == kNone ? kNone : place[v]);
      for (size_t i = 0; i < op.attrs.size(); ++i)
        task.attrs.push_back(task_attr(attr_param(info(op.code), i), op.attrs[i], lookup));
      task.view = info(op.code).has(kView);
      for (const ValueId v : op.results) {
        if (task.view) {
          const Buffer of = out.buffers[place[op.operands[0]]];
          Buffer& b = add(v, of.storage);
          b.offset = of.offset, b.index = of.index, b.path = of.path;
        } else {
          give_room(add(v, Storage::Arena));
        }
        task.out.push_back(place[v]);
      }
      push(std::move(task));
    }
  }
  return out;
}

}  // namespace skdsl::test
