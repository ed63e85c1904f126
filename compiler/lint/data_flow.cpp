#include "compiler/lint/data_flow.h"

#include <algorithm>
#include <cstring>

#include "compiler/lint/edit.h"

namespace skdsl::lint {

using namespace plan;

bool depends(const Context& c, OpId later, OpId earlier) {
  std::vector<uint8_t> seen(c.function->ops.size(), 0);
  std::vector<OpId> open{later};
  while (!open.empty()) {
    const OpId at = open.back();
    open.pop_back();
    for (const ValueId v : c.op(at).operands) {
      if (v == kNone) continue;
      const OpId made = c.order->definer(v);
      if (made == kNone || seen[made]++ != 0) continue;
      if (made == earlier) return true;
      open.push_back(made);
    }
  }
  return false;
}

OpId source(const Context& c, ValueId value) {
  while (value != kNone) {
    const OpId made = c.order->definer(value);
    if (made == kNone) return kNone;
    const Op& op = c.op(made);
    if (!info(op.code).has(kView) && op.code != Opcode::Cast) return made;
    value = op.operands[0];
  }
  return kNone;
}

std::string_view parameter(const Context& c, ValueId value) {
  while (value != kNone) {
    const auto& args = c.function->regions[c.function->body].args;
    if (const auto it = std::find(args.begin(), args.end(), value); it != args.end()) {
      const auto i = static_cast<size_t>(it - args.begin());
      return i < c.function->param_names.size() ? std::string_view(c.function->param_names[i])
                                                : std::string_view();
    }
    const OpId made = c.order->definer(value);
    if (made == kNone) return {};
    // A host list becomes a tensor at its reader.
    const Opcode code = c.op(made).code;
    if (!info(code).has(kView) && code != Opcode::Cast && code != Opcode::ToTensor) return {};
    value = c.op(made).operands[0];
  }
  return {};
}

std::optional<std::vector<int64_t>> literal(const Context& c, ValueId value) {
  const OpId made = source(c, value);
  if (made == kNone || c.op(made).code != Opcode::Constant) return {};
  const auto* index = std::get_if<Dim>(&c.op(made).attrs[0]);
  if (!index || !index->is_constant()) return {};
  const ConstantData& data = c.program->constants[static_cast<size_t>(index->constant())];
  std::vector<int64_t> out;
  const auto read = [&]<class T>(T) {
    for (size_t at = 0; at + sizeof(T) <= data.bytes.size(); at += sizeof(T)) {
      T x;
      std::memcpy(&x, data.bytes.data() + at, sizeof(T));
      out.push_back(static_cast<int64_t>(x));
    }
  };
  if (data.dtype == DType::I32)
    read(int32_t{});
  else if (data.dtype == DType::I64)
    read(int64_t{});
  else
    return {};
  return out;
}

bool is_matrix(const OpInfo& row) { return row.core == Core::Aic || row.core == Core::Mix12; }

ast::NodeId call_of(const Context& c, OpId op) {
  const Span where = c.span(c.op(op).loc);
  const ast::NodeId call = node_at(c, where, ast::Kind::Call);
  return call && c.ast().span(call) == where ? call : 0;
}

ast::NodeId argument(const Context& c, ast::NodeId call, std::string_view name, int position) {
  if (!call) return 0;
  const auto args = c.ast().children(call).subspan(1);
  // `x.f(y)`: the base is the first operand.
  const int base = c.ast().kind(c.ast().child(call, 0)) == ast::Kind::Member ? 1 : 0;
  for (size_t i = 0; i < args.size(); ++i) {
    if (c.ast().kind(args[i]) != ast::Kind::Arg) continue;
    const std::string_view text = c.ast().text(args[i]);
    if (text == name || (text.empty() && static_cast<int>(i) + base == position))
      return c.ast().child(args[i], 0);
  }
  return 0;
}

namespace {

bool below(std::string_view path, std::string_view target) {
  return path == target ||
         (path.starts_with(target) && path.size() > target.size() && path[target.size()] == '.');
}

/// Bytes of a weight or of all weights of an instance; what the checkpoint decides counts as f32.
int64_t target_bytes(const Context& c, std::string_view target) {
  int64_t sum = 0;
  const auto add = [&](const std::string& path, const Type& type) {
    if (!below(path, target) || sum < 0) return;
    const int64_t n = c.bytes(type);
    sum = n < 0 ? -1 : sum + n * (type.dtype == DType::Stored ? 2 : 1);
  };
  for (const WeightDecl& w : c.program->weights) add(w.path, w.type);
  for (const ConstDecl& k : c.program->consts) add(k.path, k.type);
  return sum == 0 ? -1 : sum;
}

}  // namespace

std::vector<PrefetchUse> prefetches(const Context& c) {
  std::vector<PrefetchUse> out;
  for (const OpId id : c.order->ops()) {
    const Op& op = c.op(id);
    if (op.code != Opcode::Prefetch) continue;
    PrefetchUse p;
    p.prefetch = id;
    p.target = std::get<std::string>(op.attrs[0]);
    const auto& after = std::get<std::string>(op.attrs[1]);
    if (!after.empty()) {
      for (const OpId other : c.order->ops())
        if (c.order->is_task(other) && below(c.op(other).path, after)) p.start = other;
    } else if (op.operands[0] != kNone) {
      p.start = c.order->producer(op.operands[0]);
    }
    const uint32_t from = p.start == kNone ? 0 : c.order->position(p.start) + 1;
    for (uint32_t i = from; i < c.order->ops().size() && p.use == kNone; ++i) {
      const OpId reader = c.order->ops()[i];
      if (!c.order->is_task(reader)) continue;
      for (const ValueId v : c.op(reader).operands)
        if (v != kNone)
          if (const std::string_view path = c.weight_path(v); !path.empty() && below(path, p.target))
            p.use = reader;
    }
    p.bytes = target_bytes(c, p.target);
    const auto& max = std::get<Dim>(op.attrs[2]);
    const int64_t most = max.is_constant() ? max.constant() : -1;
    p.pulled = most > 0 && (p.bytes < 0 || most < p.bytes) ? most : p.bytes;
    out.push_back(std::move(p));
  }
  const auto at = [&](const PrefetchUse& p) { return p.start == kNone ? 0 : c.order->position(p.start) + 1; };
  std::sort(out.begin(), out.end(), [&](const auto& a, const auto& b) {
    return std::pair(at(a), c.order->position(a.prefetch)) < std::pair(at(b), c.order->position(b.prefetch));
  });
  return out;
}

bool alone_in_cores(const Context& c, OpId op) {
  const plan::Context* block = c.around(op, plan::Context::Kind::Cores);
  if (!block) return false;
  for (const OpId other : c.order->ops())
    if (other != op && c.around(other, plan::Context::Kind::Cores) == block &&
        (c.order->is_task(other) || info(c.op(other).code).has(kCollective)))
      return false;
  return true;
}

}  // namespace skdsl::lint
