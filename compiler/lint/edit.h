// edit — the text edits that rules offer
//
// Edits stand in the linted file alone: where an op comes from a layer of another file there is nothing to
// edit.
#pragma once
#include <optional>
#include <string>

#include "compiler/lint/rule.h"

namespace skdsl::lint {

/// The innermost statement of the linted file around a place; None when it is elsewhere.
ast::NodeId statement_at(const Context& context, Span span);
/// The innermost node of a kind around a place; None when there is none.
ast::NodeId node_at(const Context& context, Span span, ast::Kind kind);

/// Takes a statement away, with its line when nothing else stands there.
void remove_statement(const Context& context, ast::NodeId statement, diag::Engine::Builder& report);
/// Puts a statement into `if condition { … }`.
void put_under(const Context& context, ast::NodeId statement, const std::string& condition,
               diag::Engine::Builder& report);
/// A statement on a line of its own behind another one.
void insert_behind(const Context& context, ast::NodeId statement, const std::string& text,
                   diag::Engine::Builder& report);
/// Takes the header and the brackets of a superkernel, stream or cores block away; what is in it stays.
void unwrap(const Context& context, ast::NodeId block_statement, diag::Engine::Builder& report);

/// Blanks before the first word of the line of a place.
std::string indent_of(const Context& context, Span span);

}  // namespace skdsl::lint
