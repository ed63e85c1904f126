// document — a file's text with its tree, and text edits on it
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "compiler/ast/ast.h"
#include "compiler/diag/diag.h"

namespace skdsl::cli::repl {

/// The blocks, from the file inwards, that a node stands in.
using Parents = std::vector<ast::NodeId>;

class Document {
 public:
  explicit Document(std::string text);

  const ast::Ast& ast() const { return ast_; }
  std::string_view text() const { return sources_.text(1); }
  std::string_view text(Span span) const { return sources_.text(span); }
  bool broken() const { return diags_.has_errors(); }
  uint32_t line(Span span) const { return sources_.loc(span).line; }
  std::string first_problem() const { return diags_.all().empty() ? "" : diags_.all().front().message; }

  /// Visits all nodes, outer ones first.
  void walk(const std::function<void(ast::NodeId node, const Parents& parents)>& visit) const;

  void replace(Span span, std::string by) { edits_.push_back({span, std::move(by)}); }
  void insert(uint32_t at, std::string what) { replace({1, at, at}, std::move(what)); }
  /// Takes a part of the text away, with its line when nothing else stands there.
  void remove(Span span);
  /// The start of the line when only blanks stand before this place, else the place itself.
  uint32_t line_start(uint32_t at) const;
  /// Takes lines [begin, end) away, or moves them: the whole lines that a statement and the comments above it
  /// fill.
  Span lines_of(ast::NodeId statement) const;
  /// Takes the header and the closing bracket of a block away.
  void unwrap(ast::NodeId node);
  /// The text after all edits in the layout of `fmt`; an error when it does not parse.
  Expected<std::string> finish() const;

 private:
  source::Sources sources_;
  diag::Engine diags_{sources_};
  ast::Ast ast_;
  std::vector<diag::Edit> edits_;
};

/// The text in the layout of `fmt`; an error when it does not parse.
Expected<std::string> formatted(const std::string& text);

}  // namespace skdsl::cli::repl
