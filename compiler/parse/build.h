// build — from what the parser saw of one piece to AST nodes
#pragma once
#include <span>
#include <unordered_map>
#include <vector>

#include "SkParser.h"
#include "compiler/ast/ast.h"
#include "compiler/parse/tokens.h"

namespace skdsl::parse {

using P = grammar::SkParser;

/// The parsed content of one block inside a piece.
struct BlockContent {
  uint32_t open = 0;  // index of its opening bracket
  std::vector<ast::NodeId> items;
  ast::Comments comments;  // opening, inner
};

/// A token as the generated parser wants it.
class PieceTokenObject : public antlr4::Token {
 public:
  PieceToken t{};
  size_t position = 0;
  std::string getText() const override { return {}; }
  size_t getType() const override { return t.type == static_cast<uint32_t>(kEnd) ? kEnd : t.type; }
  size_t getLine() const override { return 0; }
  size_t getCharPositionInLine() const override { return 0; }
  size_t getChannel() const override { return 0; }
  size_t getTokenIndex() const override { return position; }
  size_t getStartIndex() const override { return t.begin; }
  size_t getStopIndex() const override { return t.end; }
  antlr4::TokenSource* getTokenSource() const override { return nullptr; }
  antlr4::CharStream* getInputStream() const override { return nullptr; }
  std::string toString() const override { return {}; }
};

/// Makes nodes; problems of its own (assigning to a call, chains too long) are reported and leave the piece
/// out.
class Builder {
 public:
  Builder(ast::Ast& ast, std::string_view text, uint32_t file, Problems& problems)
      : ast_(ast), text_(text), file_(file), problems_(problems) {}

  std::vector<BlockContent>* blocks = nullptr;        // of the piece at hand
  std::unordered_map<uint32_t, ast::NodeId> strings;  // by where they begin: parsed beforehand
  bool failed = false;                                // the piece at hand has a problem

  ast::NodeId import_decl(P::ImportDeclContext* c);
  ast::NodeId config_decl(P::ConfigDeclContext* c);
  ast::NodeId config_item(P::ConfigItemContext* c);
  ast::NodeId fn_decl(P::FnDeclContext* c);
  ast::NodeId layer_decl(P::LayerDeclContext* c);
  ast::NodeId model_decl(P::ModelDeclContext* c);
  ast::NodeId draft_decl(P::DraftDeclContext* c);
  ast::NodeId extern_decl(P::ExternDeclContext* c);
  ast::NodeId replace_decl(P::ReplaceDeclContext* c);
  ast::NodeId weight_decl(P::WeightDeclContext* c);
  ast::NodeId const_decl(P::ConstDeclContext* c);
  ast::NodeId state_decl(P::StateDeclContext* c);
  ast::NodeId phase_decl(P::PhaseDeclContext* c);
  ast::NodeId default_weights(P::DefaultWeightsContext* c);
  ast::NodeId unused_decl(P::UnusedDeclContext* c);
  ast::NodeId instance_decl(P::InstanceDeclContext* c);
  ast::NodeId let_stmt(P::LetStmtContext* c);
  ast::NodeId return_stmt(P::ReturnStmtContext* c);
  ast::NodeId for_stmt(P::ForStmtContext* c);
  ast::NodeId if_stmt(P::IfStmtContext* c);
  ast::NodeId while_stmt(P::WhileStmtContext* c);
  ast::NodeId superkernel_stmt(P::SuperkernelStmtContext* c);
  ast::NodeId scope_stmt(P::ScopeStmtContext* c);
  ast::NodeId stream_stmt(P::StreamStmtContext* c);
  ast::NodeId cores_stmt(P::CoresStmtContext* c);
  ast::NodeId prefetch_stmt(P::PrefetchStmtContext* c);
  ast::NodeId event_stmt(P::EventStmtContext* c);
  ast::NodeId gears_stmt(P::GearsStmtContext* c);
  ast::NodeId dump_stmt(P::DumpStmtContext* c);
  ast::NodeId value_stmt(P::ValueStmtContext* c);
  ast::NodeId expr(P::ExprContext* c);

  ast::NodeId add(ast::Kind kind, Span span, std::string_view text, std::span<const ast::NodeId> children,
                  uint8_t flags = 0, Span name_span = {});
  ast::NodeId add(ast::Kind kind, Span span, std::string_view text,
                  std::initializer_list<ast::NodeId> children, uint8_t flags = 0, Span name_span = {}) {
    return add(kind, span, text, std::span<const ast::NodeId>(children.begin(), children.size()), flags,
               name_span);
  }
  /// A string whose interpolations are in `strings`, or a plain one.
  ast::NodeId string(antlr4::Token* t);
  /// Resolves the escapes of raw text between quotes; unknown ones are reported.
  std::string unescape(uint32_t begin, uint32_t end);
  Problem& problem(Span span, diag::Id id, std::vector<std::string> args) {
    failed = true;
    return problems_.add(span, id, std::move(args));
  }
  Problem& syntax(Span span, std::string message) {
    return problem(span, diag::Id::SyntaxError, {std::move(message)});
  }
  Span span_of(antlr4::Token* t) const {
    return {file_, static_cast<uint32_t>(t->getStartIndex()), static_cast<uint32_t>(t->getStopIndex())};
  }
  std::string_view text_of(antlr4::Token* t) const {
    return text_.substr(t->getStartIndex(), t->getStopIndex() - t->getStartIndex());
  }
  Span span_of(antlr4::ParserRuleContext* c) const;

 private:
  using Ids = std::vector<ast::NodeId>;
  ast::NodeId named(ast::Kind kind, antlr4::ParserRuleContext* c, antlr4::Token* label,
                    std::span<const ast::NodeId> children, uint8_t flags = 0) {
    return add(kind, span_of(c), text_of(label), children, flags, span_of(label));
  }
  ast::NodeId with_content(ast::Kind kind, antlr4::ParserRuleContext* c, antlr4::Token* label,
                           antlr4::Token* open, Ids head);
  BlockContent* content(antlr4::Token* open);
  ast::NodeId block(P::BlockContext* c) { return block(c->open, c->close); }
  ast::NodeId block(antlr4::Token* open, antlr4::Token* close);
  ast::NodeId params(P::ParamsContext* c);
  ast::NodeId result(P::ResultTypeContext* c);
  ast::NodeId type(P::TypeContext* c);
  ast::NodeId element_type(ast::NodeId expression);
  ast::NodeId from(P::FromContext* c);
  ast::NodeId when(P::WhenContext* c) { return c != nullptr ? expr(c->value) : 0; }
  ast::NodeId options(P::OptionListContext* c, antlr4::Token* before);
  ast::NodeId optional(P::ExprContext* c) { return c != nullptr ? expr(c) : 0; }
  ast::NodeId range(P::RangeExprContext* c);
  ast::NodeId list(P::ExprListContext* c);
  ast::NodeId path_string(antlr4::Token* t);

  ast::NodeId chain(P::ExprContext* c);
  ast::NodeId term(P::TermContext* c);
  ast::NodeId place(P::TermContext* c);
  ast::NodeId primary(P::TermContext* c);
  ast::NodeId bracketed(P::BracketedContext* c);
  ast::NodeId number(antlr4::Token* t, ast::Kind kind);
  ast::NodeId suffix(P::SuffixContext* c, ast::NodeId base);
  ast::NodeId index_item(P::IndexItemContext* c);
  bool too_long(size_t length, Span span);
  uint32_t depth(ast::NodeId id) const { return id < depth_.size() ? depth_[id] : 1; }

  ast::Ast& ast_;
  std::string_view text_;
  uint32_t file_;
  Problems& problems_;
  std::vector<uint32_t> depth_;  // of expression trees, by node
};

}  // namespace skdsl::parse
