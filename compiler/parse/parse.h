// parse — source text to AST; the only place that sees ANTLR
#pragma once
#include <optional>

#include "compiler/ast/ast.h"
#include "compiler/diag/diag.h"

namespace skdsl::parse {

/// Deepest nesting of brackets.
inline constexpr int kMaxDepth = 256;
/// Most operators in one expression without brackets (the tree is as deep as a chain is long).
inline constexpr int kMaxChain = 4096;

/// The tree of a file. Syntax errors are reported, several per file; what could be parsed is in the tree all
/// the same.
ast::Ast parse(uint32_t file, diag::Engine& diags);

}  // namespace skdsl::parse
