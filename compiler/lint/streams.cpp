#include "compiler/lint/streams.h"

#include <algorithm>

#include "compiler/lint/edit.h"

namespace skdsl::lint {

bool MissingEvents::add(StreamPair pair) {
  const plan::OpOrder& o = order_;
  if (o.stream(pair.from) == o.stream(pair.to) || o.before(pair.from, pair.to)) return false;
  for (const StreamPair& t : told_) {
    if (t.from == pair.from) return false;
    if (o.stream(t.from) == o.stream(pair.from) && o.position(t.from) >= o.position(pair.from) &&
        o.stream(t.to) == o.stream(pair.to) && o.position(t.to) <= o.position(pair.to))
      return false;
  }
  told_.push_back(pair);
  return true;
}

std::string_view state_path(const Context& c, plan::ValueId value) {
  while (value != plan::kNone) {
    const plan::OpId made = c.order->definer(value);
    if (made == plan::kNone) return {};
    const plan::Op& op = c.op(made);
    if (op.code == Opcode::State) return std::get<std::string>(op.attrs[0]);
    if (!info(op.code).has(kView) && !info(op.code).has(kInPlace)) return {};
    value = op.operands[0];
  }
  return {};
}

bool is_folded(const Context& c, plan::OpId id) {
  const plan::Op& op = c.op(id);
  if (op.code == Opcode::Constant) return true;
  if (!info(op.code).has(kPure) || op.code == Opcode::Weight || !op.regions.empty()) return false;
  return std::all_of(op.operands.begin(), op.operands.end(), [&](plan::ValueId v) {
    if (v == plan::kNone) return true;
    const plan::OpId made = c.order->definer(v);
    return made != plan::kNone && is_folded(c, made);
  });
}

void insert_event(const Context& c, StreamPair pair, diag::Engine::Builder& report) {
  const Span from = c.span(c.op(pair.from).loc), to = c.span(c.op(pair.to).loc);
  const ast::Ast* a = c.modules ? &c.ast() : nullptr;
  ast::NodeId body = 0;
  for (const ast::Kind kind : {ast::Kind::PhaseDecl, ast::Kind::Fn})
    if (const ast::NodeId n = node_at(c, from, kind); n && n == node_at(c, to, kind)) body = n;
  const ast::NodeId first = statement_at(c, from), second = statement_at(c, to);
  if (!body || !first || !second || first == second) return;
  const ast::NodeId block = a->children(body).back();
  if (a->kind(block) != ast::Kind::Block || a->children(block).empty()) return;
  std::string name = "ready";
  for (int i = 2; c.text().find("event " + name) != std::string_view::npos; ++i)
    name = fmt::format("ready{}", i);
  const Span begin = a->span(a->children(block).front()), behind = a->span(first), before = a->span(second);
  report.fix({c.file, begin.begin, begin.begin}, fmt::format("event {}\n{}", name, indent_of(c, begin)))
      .fix({c.file, behind.end, behind.end},
           fmt::format("; if exe_mode == \"npugraph_ex\" {{ record {} }}", name))
      .fix({c.file, before.begin, before.begin},
           fmt::format("if exe_mode == \"npugraph_ex\" {{ wait {} }}\n{}", name, indent_of(c, before)));
}

}  // namespace skdsl::lint
