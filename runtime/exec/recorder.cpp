#include "runtime/exec/recorder.h"

#include <algorithm>

#include "runtime/base/assert.h"

namespace skdsl::exec {

using plan::Buffer;
using plan::BufferId;
using plan::kNone;
using plan::Storage;

plan::TaskAttr task_attr(const Param& param, const plan::Attr& given, const sk_attr& value) {
  plan::TaskAttr out;
  out.type = param.attr;
  const plan::Attr attr = std::holds_alternative<std::monostate>(given) ? plan::default_attr(param) : given;
  if (const auto* text = std::get_if<std::string>(&attr)) out.text = *text;
  switch (param.attr) {
    case AttrType::Float:
      out.f = value.f;
      break;
    case AttrType::IntList:
      out.list.assign(value.list.data, value.list.data + value.list.size);
      break;
    case AttrType::Str:
      break;
    case AttrType::Choice:
      out.i = choice_index(param, out.text);
      break;
    case AttrType::Int:
    case AttrType::Bool:
    case AttrType::DType:
      out.i = value.i;
      break;
  }
  return out;
}

Recorder::Recorder(const plan::Program& program, const plan::Function& function,
                   const std::vector<RuntimeValue>& args, const std::vector<bool>& refreshed)
    : program_(program), function_(function), list_buffer_(args.size()) {
  plan::Schedule& g = out_.graph;
  g.function = function.name;
  g.streams = {"main"};
  for (size_t i = 0; i < args.size(); ++i) {
    BufferId id = kNone;
    const auto name = i < function.param_names.size() ? function.param_names[i] : std::string();
    if (const auto* t = std::get_if<Tensor>(&args[i])) {
      Buffer b{Storage::Input, plan::dtype_of(t->dtype()), t->shape()};
      b.index = static_cast<uint32_t>(i);
      b.name = name;
      id = add(std::move(b), *t);
    } else if (const auto* list = std::get_if<std::vector<int64_t>>(&args[i]);
               list && i < refreshed.size() && refreshed[i]) {
      Buffer b{Storage::Input, plan::DType::I32, {static_cast<int64_t>(list->size())}};
      b.index = static_cast<uint32_t>(i);
      b.name = name;
      id = static_cast<BufferId>(g.buffers.size());
      g.buffers.push_back(std::move(b));
      out_.root.push_back(id);
      list_buffer_[i] = id;
    }
    g.inputs.push_back(id);
  }
}

BufferId Recorder::add(Buffer buffer, const Tensor& t) {
  const auto id = static_cast<BufferId>(out_.graph.buffers.size());
  out_.graph.buffers.push_back(std::move(buffer));
  out_.root.push_back(id);
  buffers_[place_of(t)] = id;
  by_bytes_.emplace(t.view.data, id);
  kept_.push_back(t);
  return id;
}

void Recorder::declared(Storage storage, const std::string& path, plan::DType dtype, const Tensor& t) {
  if (buffers_.contains(place_of(t))) return;
  Buffer b{storage, dtype, t.shape()};
  b.path = path;
  add(std::move(b), t);
}

void Recorder::constant(uint32_t index, const Tensor& t) {
  if (buffers_.contains(place_of(t))) return;
  Buffer b{Storage::Constant, plan::dtype_of(t.dtype()), t.shape()};
  b.index = index;
  add(std::move(b), t);
}

void Recorder::list(const plan::Function& function, plan::ValueId value, const Tensor& t) {
  if (&function != &function_) return;
  const auto& params = function.regions[function.body].args;
  const auto it = std::find(params.begin(), params.end(), value);
  if (it == params.end()) return;
  const auto& buffer = list_buffer_[static_cast<size_t>(it - params.begin())];
  if (!buffer) return;
  buffers_[place_of(t)] = *buffer;
  kept_.push_back(t);
}

BufferId Recorder::buffer_of(const Tensor& t) {
  if (!t) return kNone;
  if (const auto it = buffers_.find(place_of(t)); it != buffers_.end()) return it->second;
  // Made of host values: the bytes of now.
  plan::ConstantData data{plan::dtype_of(t.dtype()), t.shape(), {}};
  const auto* bytes = static_cast<const uint8_t*>(t.view.data);
  if (t.bytes() > 0) data.bytes.assign(bytes, bytes + t.bytes());
  Buffer b{Storage::Constant, data.dtype, data.shape};
  b.index = static_cast<uint32_t>(program_.constants.size() + out_.graph.constants.size());
  out_.graph.constants.push_back(std::move(data));
  return add(std::move(b), t);
}

uint32_t Recorder::stream_of(plan::ContextId context) {
  auto& all = out_.graph.streams;
  for (plan::ContextId c = context; c != kNone; c = program_.contexts[c].parent) {
    if (program_.contexts[c].kind != plan::Context::Kind::Stream) continue;
    const auto it = std::find(all.begin(), all.end(), program_.contexts[c].name);
    if (it == all.end()) all.push_back(program_.contexts[c].name);
    return static_cast<uint32_t>(std::find(all.begin(), all.end(), program_.contexts[c].name) - all.begin());
  }
  return 0;
}

plan::Task Recorder::make(const plan::Op& op, const AbiAttrs& attrs) {
  plan::Task t;
  const OpInfo& row = info(op.code);
  t.code = op.code;
  t.core = row.core;
  t.context = op.context;
  t.stream = stream_of(op.context);
  t.loc = op.loc;
  t.path = op.path;
  t.block_dim = 1;
  for (size_t i = 0; i < op.attrs.size(); ++i)
    t.attrs.push_back(task_attr(attr_param(row, i), op.attrs[i], attrs.attrs[i]));
  return t;
}

void Recorder::push(plan::Task task, plan::Step::Kind kind) {
  out_.items.push_back({kind, static_cast<uint32_t>(out_.graph.tasks.size()), task.stream, task.loc});
  trace_.push_back({task.code, task.loc, task.path});
  out_.graph.tasks.push_back(std::move(task));
}

void Recorder::task(const plan::Op& op, const std::vector<Tensor>& operands,
                    const std::vector<Tensor>& results, const AbiAttrs& attrs) {
  plan::Task t = make(op, attrs);
  for (const Tensor& x : operands) t.in.push_back(buffer_of(x));
  for (const Tensor& y : results) {
    Buffer b{Storage::Arena, plan::dtype_of(y.dtype()), y.shape()};
    t.out.push_back(add(std::move(b), y));
  }
  push(std::move(t), plan::Step::Kind::Call);
}

void Recorder::view(const plan::Op& op, const Tensor& operand, const Tensor& result, const AbiAttrs& attrs) {
  plan::Task t = make(op, attrs);
  t.view = true;
  const BufferId of = buffer_of(operand);
  t.in = {of};
  Buffer b = out_.graph.buffers[of];
  b.shape = result.shape();
  b.name.clear();
  const auto id = static_cast<BufferId>(out_.graph.buffers.size());
  out_.graph.buffers.push_back(std::move(b));
  out_.root.push_back(out_.root[of]);
  buffers_[place_of(result)] = id;
  t.out = {id};
  push(std::move(t), plan::Step::Kind::Call);
}

void Recorder::note(const plan::Op& op, const std::vector<Tensor>& operands, const AbiAttrs& attrs) {
  if (op.code == Opcode::RecordEvent || op.code == Opcode::WaitEvent) {
    const auto& name = std::get<std::string>(op.attrs[0]);
    auto& all = out_.graph.events;
    if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
    const auto index = static_cast<uint32_t>(std::find(all.begin(), all.end(), name) - all.begin());
    const auto kind = op.code == Opcode::RecordEvent ? plan::Step::Kind::Record : plan::Step::Kind::Wait;
    out_.items.push_back({kind, index, stream_of(op.context), op.loc});
    return;
  }
  plan::Task t = make(op, attrs);
  for (const Tensor& x : operands) t.in.push_back(buffer_of(x));
  push(std::move(t), op.code == Opcode::Prefetch ? plan::Step::Kind::Prefetch : plan::Step::Kind::Note);
}

bool Recorder::made_by_task(const Tensor& t) const {
  const auto it = by_bytes_.find(t.view.data);
  return it != by_bytes_.end() && out_.graph.buffers[it->second].storage == Storage::Arena;
}

plan::Recording Recorder::finish(const std::vector<RuntimeValue>& results, const plan::GraphKey& key) {
  plan::Schedule& g = out_.graph;
  g.bindings = key.bindings;
  std::sort(g.bindings.begin(), g.bindings.end());
  for (const RuntimeValue& v : results) {
    const auto* t = std::get_if<Tensor>(&v);
    if (!t) continue;
    const BufferId b = buffer_of(*t);
    if (g.buffers[b].storage == Storage::Arena) {
      g.outputs.push_back(b);
      continue;
    }
    // Results belong to the caller; what is an input, state, weight or literal is handed out as a copy.
    plan::Task copy;
    copy.code = Opcode::Reshape;
    copy.core = info(copy.code).core;
    copy.block_dim = 1;
    copy.loc = function_.loc;
    copy.in = {b};
    plan::TaskAttr shape;
    shape.type = AttrType::IntList;
    shape.list = t->shape();
    copy.attrs = {shape};
    Buffer out{Storage::Arena, plan::dtype_of(t->dtype()), t->shape()};
    const auto id = static_cast<BufferId>(g.buffers.size());
    g.buffers.push_back(std::move(out));
    out_.root.push_back(id);
    copy.out = {id};
    g.outputs.push_back(id);
    push(std::move(copy), plan::Step::Kind::Call);
  }
  return std::move(out_);
}

}  // namespace skdsl::exec
