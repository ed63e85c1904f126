// calls — the statements of a model file by the calls in them: how an op is named, and which statement makes
// it
//
// An op is named by the call that makes it: as in the source (`attn[0]`, `rms_norm`), by its instance path
// (`layers.0.attn.0`), or by a line (`:93`).
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/repl/document.h"
#include "runtime/base/error.h"

namespace skdsl::cli::repl {

/// The calls in the statements of a file's layers and model, as written: `attn[0]`, `norm_post[0]`, `moe`.
std::vector<std::string> calls_in(const std::string& text);
/// How well a statement fits the op that was asked for; 0 = not at all. `paths` are instance paths that it
/// stands for beside itself.
size_t fits(const Document& document, ast::NodeId statement, const std::string& op,
            const std::vector<std::string>& paths);
/// No statement fits: what was meant maybe, or which calls there are. `where` ends the sentence.
Error no_op(const Document& document, const std::string& op, std::span<const ast::NodeId> statements,
            const std::string& where);
bool is_number(std::string_view text);

}  // namespace skdsl::cli::repl
