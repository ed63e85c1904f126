// A product of i32 indices that does not fit in i32 for the largest index that a run may have: block ids
// times what a block has, positions times strides. It looks like a fault of long contexts.
#include "compiler/lint/data_flow.h"
#include "compiler/lint/edit.h"

namespace skdsl::lint::rules_impl {

namespace {

/// The largest value of an integer tensor, when something is known about it; -1 otherwise.
int64_t largest(const Context& c, plan::ValueId v, int depth = 0) {
  if (v == plan::kNone || depth > 32) return -1;
  const config::Builtins& b = *c.builtins;
  const int64_t blocks =
      b.kv_blocks > 0 ? b.kv_blocks : 1 + b.batch_size * ((b.max_seq_len + b.block_size - 1) / b.block_size);
  const std::string_view name = parameter(c, v);
  if (name == "step.block_table") return blocks - 1;
  if (name == "step.slot_mapping") return blocks * b.block_size - 1;
  if (name == "step.position_ids") return b.max_seq_len - 1;
  if (name == "step.kv_len" || name == "step.actual_seq_lengths_kv") return b.max_seq_len;
  const plan::OpId made = source(c, v);
  if (made == plan::kNone) return -1;
  const plan::Op& op = c.op(made);
  if (op.code == Opcode::Constant) {
    const auto numbers = literal(c, v);
    int64_t most = -1;
    for (const int64_t n : numbers.value_or(std::vector<int64_t>())) most = std::max(most, n);
    return most;
  }
  if (op.code == Opcode::Full) {
    const auto* value = std::get_if<double>(&op.attrs[1]);
    return value && *value >= 0 && *value < 9e18 ? static_cast<int64_t>(*value) : -1;
  }
  if (op.code == Opcode::ToTensor || op.code == Opcode::HostInt) {
    const plan::Type& t =
        c.function->values[op.code == Opcode::HostInt ? op.results[0] : op.operands[0]].type;
    return t.kind == plan::Kind::HostInt && t.dims[0].is_constant() ? t.dims[0].constant() : -1;
  }
  if (op.code == Opcode::Arange) {
    const auto& end = std::get<plan::Dim>(op.attrs[1]);
    return end.is_constant() ? end.constant() - 1 : -1;
  }
  if (op.code == Opcode::Add || op.code == Opcode::Mul) {
    const int64_t x = largest(c, op.operands[0], depth + 1), y = largest(c, op.operands[1], depth + 1);
    int64_t out = 0;
    if (x < 0 || y < 0) return -1;
    const bool over =
        op.code == Opcode::Add ? __builtin_add_overflow(x, y, &out) : __builtin_mul_overflow(x, y, &out);
    return over ? INT64_MAX : out;
  }
  if (op.code == Opcode::Sub) return largest(c, op.operands[0], depth + 1);
  if (info(op.code).has(kLayout) && op.code != Opcode::Concat) return largest(c, op.operands[0], depth + 1);
  return -1;
}

}  // namespace

void sk813_index_overflow(const Context& c, Report& report) {
  if (c.function->phase == plan::Phase::None) return;
  for (const plan::OpId id : c.order->ops()) {
    const plan::Op& op = c.op(id);
    if (op.code != Opcode::Mul || c.function->values[op.results[0]].type.dtype != plan::DType::I32) continue;
    const int64_t x = largest(c, op.operands[0]), y = largest(c, op.operands[1]);
    int64_t product = 0;
    if (x < 0 || y < 0) continue;
    if (__builtin_mul_overflow(x, y, &product)) product = INT64_MAX;
    if (product <= INT32_MAX) continue;
    auto finding = report.at(id, fmt::format("{} * {} = {}", x, y, product));
    finding.help("compute it in i64: `cast(x, i64)`");
    const ast::NodeId node = node_at(c, c.span(op.loc), ast::Kind::Binary);
    if (!node || c.ast().span(node) != c.span(op.loc) || c.ast().text(node) != "*") continue;
    // The operand that is a tensor.
    const bool left = c.ast().kind(c.ast().child(node, 0)) != ast::Kind::Int;
    const Span s = c.ast().span(c.ast().child(node, left ? 0 : 1));
    finding.fix({s.file, s.begin, s.begin}, "cast(").fix({s.file, s.end, s.end}, ", i64)");
  }
}

}  // namespace skdsl::lint::rules_impl
