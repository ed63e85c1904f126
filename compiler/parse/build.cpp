// build — declarations, types and statements
#include "compiler/parse/build.h"

#include "compiler/parse/parse.h"
#include "runtime/base/assert.h"

namespace skdsl::parse {

using ast::Kind;
using ast::NodeId;

Span Builder::span_of(antlr4::ParserRuleContext* c) const {
  const auto begin = static_cast<uint32_t>(c->start->getStartIndex());
  // A rule that matched nothing has no stop.
  const auto end = c->stop != nullptr ? static_cast<uint32_t>(c->stop->getStopIndex()) : begin;
  return {file_, begin, std::max(begin, end)};
}

NodeId Builder::add(Kind kind, Span span, std::string_view text, std::span<const NodeId> children,
                    uint8_t flags, Span name_span) {
  const NodeId id = ast_.add(kind, span, text, children, flags, name_span);
  if (ast::group(kind) == ast::Group::Expr) {
    uint32_t deepest = 0;
    for (const NodeId child : children) deepest = std::max(deepest, depth(child));
    depth_.resize(id + 1, 1);
    depth_[id] = deepest + 1;
    // Long chains inside deep brackets would multiply; whoever walks the tree by recursion relies on this
    // bound.
    if (depth_[id] > static_cast<uint32_t>(kMaxChain + 4 * kMaxDepth)) too_long(depth_[id], span);
  }
  return id;
}

bool Builder::too_long(size_t length, Span span) {
  if (length <= static_cast<size_t>(kMaxChain)) return false;
  if (!failed)
    problem(span, diag::Id::ChainTooLong, {fmt::format("{}", kMaxChain)})
        .helps.emplace_back("compute parts of it into names of their own");
  return true;
}

BlockContent* Builder::content(antlr4::Token* open) {
  const uint32_t index = static_cast<PieceTokenObject*>(open)->t.index;
  for (BlockContent& b : *blocks) {
    if (b.open == index) return &b;
  }
  SK_ASSERT(false, "the blocks of a piece are parsed before it");
  return nullptr;
}

NodeId Builder::block(antlr4::Token* open, antlr4::Token* close) {
  BlockContent* const b = content(open);
  const NodeId id = add(Kind::Block, {file_, span_of(open).begin, span_of(close).end}, "", b->items);
  if (!b->comments.opening.empty() || !b->comments.inner.empty()) ast_.comments(id) = std::move(b->comments);
  return id;
}

NodeId Builder::with_content(Kind kind, antlr4::ParserRuleContext* c, antlr4::Token* label,
                             antlr4::Token* open, Ids head) {
  BlockContent* const b = content(open);
  head.insert(head.end(), b->items.begin(), b->items.end());
  const NodeId id = label != nullptr ? named(kind, c, label, head) : add(kind, span_of(c), "", head);
  if (!b->comments.opening.empty() || !b->comments.inner.empty()) ast_.comments(id) = std::move(b->comments);
  return id;
}

NodeId Builder::path_string(antlr4::Token* t) { return string(t); }

// ---- top level

NodeId Builder::import_decl(P::ImportDeclContext* c) {
  const Span s = span_of(c->path);
  return add(Kind::Import, span_of(c), unescape(s.begin + 1, s.end - 1), {}, 0, s);
}

NodeId Builder::config_decl(P::ConfigDeclContext* c) {
  return with_content(Kind::Config, c, nullptr, c->open, {});
}

NodeId Builder::config_item(P::ConfigItemContext* c) {
  if (c->condition != nullptr) {
    const NodeId condition = expr(c->condition);
    return add(Kind::Require, span_of(c), "", {condition, optional(c->message)});
  }
  if (c->open != nullptr) return with_content(Kind::ConfigGroup, c, c->label, c->open, {});
  const NodeId value_type = type(c->valueType);
  const NodeId value = optional(c->value);
  return named(Kind::ConfigEntry, c, c->label, Ids{value_type, value});
}

NodeId Builder::params(P::ParamsContext* c) {
  Ids ids;
  ids.reserve(c->entries.size());
  for (P::ParamContext* p : c->entries) {
    const NodeId value_type = type(p->valueType);
    const NodeId value = optional(p->value);
    ids.push_back(named(Kind::Param, p, p->label, Ids{value_type, value}));
  }
  return add(Kind::Params, span_of(c), "", ids);
}

NodeId Builder::result(P::ResultTypeContext* c) { return c != nullptr ? type(c->valueType) : 0; }

NodeId Builder::fn_decl(P::FnDeclContext* c) {
  const NodeId head = params(c->head);
  const NodeId results = result(c->result);
  return named(Kind::Fn, c, c->label, Ids{head, results, block(c->body)});
}

NodeId Builder::layer_decl(P::LayerDeclContext* c) {
  const NodeId head = params(c->head);
  return with_content(Kind::Layer, c, c->label, c->open, {head});
}
NodeId Builder::model_decl(P::ModelDeclContext* c) {
  return with_content(Kind::Model, c, c->label, c->open, {});
}
NodeId Builder::draft_decl(P::DraftDeclContext* c) {
  return with_content(Kind::Draft, c, c->label, c->open, {});
}

NodeId Builder::extern_decl(P::ExternDeclContext* c) {
  const NodeId head = params(c->head);
  return named(Kind::Extern, c, c->label, Ids{head, result(c->result)});
}

NodeId Builder::replace_decl(P::ReplaceDeclContext* c) {
  const NodeId head = params(c->head);
  const NodeId pattern = block(c->pattern);
  return named(Kind::Replace, c, c->label, Ids{head, pattern, block(c->replacement)});
}

// ---- members

NodeId Builder::from(P::FromContext* c) {
  if (c == nullptr) return 0;
  Ids ids = {expr(c->value)};
  for (P::ForClauseContext* loop : c->loops) {
    const NodeId iterable = range(loop->iterable);
    ids.push_back(named(Kind::ForClause, loop, loop->label, Ids{iterable}));
  }
  return add(Kind::From, span_of(c), "", ids);
}

NodeId Builder::weight_decl(P::WeightDeclContext* c) {
  const NodeId value_type = type(c->valueType);
  const NodeId source = from(c->source);
  return named(Kind::Weight, c, c->label, Ids{value_type, source, when(c->guard)});
}

NodeId Builder::const_decl(P::ConstDeclContext* c) {
  Ids ids;
  for (P::ConstNameContext* n : c->names) {
    const NodeId value_type = n->valueType != nullptr ? type(n->valueType) : 0;
    ids.push_back(named(Kind::ConstName, n, n->label, Ids{value_type}));
  }
  ids.push_back(expr(c->value));
  return add(Kind::Const, span_of(c), "", ids);
}

NodeId Builder::state_decl(P::StateDeclContext* c) {
  const NodeId value_type = type(c->valueType);
  return named(Kind::State, c, c->label, Ids{value_type}, c->raw != nullptr ? 1 : 0);
}

NodeId Builder::phase_decl(P::PhaseDeclContext* c) {
  const NodeId head = params(c->head);
  const NodeId results = result(c->result);
  return named(Kind::PhaseDecl, c, c->phase, Ids{head, results, block(c->body)});
}

NodeId Builder::default_weights(P::DefaultWeightsContext* c) {
  const Span s = span_of(c->path);
  return add(Kind::DefaultWeights, span_of(c), unescape(s.begin + 1, s.end - 1), {}, 0, s);
}
NodeId Builder::unused_decl(P::UnusedDeclContext* c) {
  return add(Kind::Unused, span_of(c), "", {path_string(c->path)});
}

NodeId Builder::instance_decl(P::InstanceDeclContext* c) {
  const NodeId value = expr(c->value);
  const NodeId source = from(c->source);
  return named(Kind::Instance, c, c->label, Ids{value, source, when(c->guard)});
}

// ---- types

NodeId Builder::type(P::TypeContext* c) {
  if (!c->parts.empty()) {
    Ids ids;
    for (P::TypeContext* part : c->parts) ids.push_back(type(part));
    return add(Kind::TypeTuple, span_of(c), "", ids);
  }
  if (c->shape == nullptr) return named(Kind::TypeName, c, c->label, {});
  Ids dims;
  dims.reserve(c->shape->values.size());
  for (P::ExprContext* dim : c->shape->values) dims.push_back(expr(dim));
  if (c->label == nullptr) return add(Kind::TypeTensor, span_of(c), "", dims);
  if (text_of(c->label) == "list") {
    if (dims.size() != 1) {
      syntax(span_of(c->shape), "`list[…]` takes one element type");
      return 0;
    }
    return add(Kind::TypeList, span_of(c), "", {element_type(dims[0])});
  }
  return named(Kind::TypeTensor, c, c->label, dims);
}

NodeId Builder::element_type(NodeId expression) {
  const Span span = ast_.span(expression);
  if (ast_.kind(expression) == Kind::Name)
    return add(Kind::TypeName, span, std::string(ast_.text(expression)), {}, 0, span);
  if (ast_.kind(expression) == Kind::Index && ast_.kind(ast_.child(expression, 0)) == Kind::Name) {
    const NodeId base = ast_.child(expression, 0);
    const Ids dims(ast_.children(expression).begin() + 1, ast_.children(expression).end());
    if (ast_.text(base) == "list" && dims.size() == 1)
      return add(Kind::TypeList, span, "", {element_type(dims[0])});
    return add(Kind::TypeTensor, span, std::string(ast_.text(base)), dims, 0, ast_.span(base));
  }
  syntax(span, "expected a type as the element of `list[…]`").helps.emplace_back("for example `list[int]`");
  return 0;
}

// ---- statements

NodeId Builder::let_stmt(P::LetStmtContext* c) {
  Ids ids;
  for (P::BindingContext* b : c->bindings) {
    const NodeId value = expr(b->value);
    ids.push_back(named(Kind::Binding, b, b->label, Ids{value}));
  }
  return add(Kind::Let, span_of(c), "", ids);
}

NodeId Builder::list(P::ExprListContext* c) {
  if (c->values.size() == 1) return expr(c->values[0]);
  Ids ids;
  ids.reserve(c->values.size());
  for (P::ExprContext* e : c->values) ids.push_back(expr(e));
  return add(Kind::Tuple, span_of(c), "", ids);
}

NodeId Builder::return_stmt(P::ReturnStmtContext* c) {
  return add(Kind::Return, span_of(c), "", {c->value != nullptr ? list(c->value) : 0});
}

NodeId Builder::range(P::RangeExprContext* c) {
  const NodeId begin = expr(c->begin);
  if (c->end == nullptr) return begin;
  return add(Kind::Range, span_of(c), "", {begin, expr(c->end)});
}

NodeId Builder::for_stmt(P::ForStmtContext* c) {
  const NodeId iterable = range(c->iterable);
  return named(Kind::For, c, c->label, Ids{iterable, block(c->body)});
}

NodeId Builder::if_stmt(P::IfStmtContext* c) {
  const size_t n = c->conditions.size();
  if (n > static_cast<size_t>(kMaxChain)) {
    problem(span_of(c->conditions[static_cast<size_t>(kMaxChain)]), diag::Id::NestedTooDeep,
            {"branches of `else if`", fmt::format("{}", kMaxChain)});
    return 0;
  }
  const bool last_is_plain =
      !c->branches.empty() && span_of(c->branches.back()).begin > span_of(c->ifs.back()).begin;
  if (c->bodies.size() > n + 1 || (c->bodies.size() == n + 1 && !last_is_plain)) {
    syntax(span_of(c->branches.back()), "`else` follows an `else` without `if`");
    return 0;
  }
  Ids conditions, bodies;
  for (P::ExprContext* e : c->conditions) conditions.push_back(expr(e));
  for (P::BlockContext* b : c->bodies) bodies.push_back(block(b));
  NodeId rest = bodies.size() > n ? bodies[n] : 0;
  const uint32_t end = span_of(c).end;
  for (size_t i = n; i-- > 0;) {
    rest = add(Kind::If, {file_, span_of(c->ifs[i]).begin, end}, "", {conditions[i], bodies[i], rest});
  }
  return rest;
}

NodeId Builder::while_stmt(P::WhileStmtContext* c) {
  const NodeId condition = expr(c->condition);
  return add(Kind::While, span_of(c), "", {condition, block(c->body)});
}

NodeId Builder::options(P::OptionListContext* c, antlr4::Token* before) {
  if (c == nullptr) return add(Kind::Options, {file_, span_of(before).begin, span_of(before).begin}, "", {});
  Ids ids;
  for (P::OptionContext* o : c->entries) {
    const Span name = {file_, span_of(o->parts.front()).begin, span_of(o->parts.back()).end};
    std::string label;
    for (antlr4::Token* part : o->parts) {
      if (!label.empty()) label += '-';
      label += text_of(part);
    }
    ids.push_back(add(Kind::Option, span_of(o), label, {expr(o->value)}, 0, name));
  }
  return add(Kind::Options, span_of(c), "", ids);
}

NodeId Builder::superkernel_stmt(P::SuperkernelStmtContext* c) {
  const NodeId label = optional(c->label);
  const NodeId opts = options(c->opts, c->open);
  const NodeId guard = when(c->guard);
  return add(Kind::SuperKernel, span_of(c), c->none != nullptr ? "none" : "",
             {label, opts, guard, block(c->open, c->close)});
}

NodeId Builder::scope_stmt(P::ScopeStmtContext* c) {
  return add(c->edge->getType() == T::SCOPE_BEGIN ? Kind::ScopeBegin : Kind::ScopeEnd, span_of(c), "",
             {expr(c->label)});
}

NodeId Builder::stream_stmt(P::StreamStmtContext* c) {
  const NodeId label = expr(c->label);
  const NodeId opts = options(c->opts, c->body->open);
  const NodeId guard = when(c->guard);
  return add(Kind::Stream, span_of(c), "", {label, opts, guard, block(c->body)});
}

NodeId Builder::cores_stmt(P::CoresStmtContext* c) {
  const NodeId opts = options(c->opts, c->body->open);
  const NodeId guard = when(c->guard);
  return add(Kind::Cores, span_of(c), "", {opts, guard, block(c->body)});
}

NodeId Builder::prefetch_stmt(P::PrefetchStmtContext* c) {
  const NodeId target = place(c->target);
  const NodeId trigger = place(c->trigger);
  const NodeId limit = optional(c->limit);
  return add(Kind::Prefetch, span_of(c), "", {target, trigger, limit, when(c->guard)});
}

NodeId Builder::event_stmt(P::EventStmtContext* c) {
  if (c->verb->getType() == T::EVENT) return named(Kind::Event, c, c->label, {});
  const NodeId event = add(Kind::Name, span_of(c->label), text_of(c->label), {}, 0, span_of(c->label));
  return add(c->verb->getType() == T::RECORD ? Kind::Record : Kind::Wait, span_of(c), "", {event});
}

NodeId Builder::gears_stmt(P::GearsStmtContext* c) {
  return add(Kind::Gears, span_of(c), "", {place(c->value)});
}

NodeId Builder::dump_stmt(P::DumpStmtContext* c) {
  return add(Kind::Dump, span_of(c), text_of(c->verb), {expr(c->value)});
}

NodeId Builder::value_stmt(P::ValueStmtContext* c) {
  const NodeId left = list(c->left);
  const bool tuple = ast_.kind(left) == Kind::Tuple;
  if (c->right == nullptr) {
    if (tuple)
      syntax(span_of(c), "a list of values alone does nothing")
          .helps.emplace_back("write `name, name = …` or `return a, b`");
    return add(Kind::ExprStmt, span_of(c), "", {left});
  }
  const auto check = [&](NodeId target) {
    const Kind kind = ast_.kind(target);
    if (kind == Kind::Name || (!tuple && (kind == Kind::Index || kind == Kind::Member))) return;
    if (!failed) {
      syntax(ast_.span(target), tuple ? "expected a name on the left of `=`"
                                      : "expected a name, an element or a member on the left of `=`");
    }
  };
  if (tuple) {
    for (const NodeId target : ast_.children(left)) check(target);
  } else {
    check(left);
  }
  return add(Kind::Assign, span_of(c), "", {left, list(c->right)});
}

}  // namespace skdsl::parse
