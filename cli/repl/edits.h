// edits — what can be done to the scopes of a model file, as text edits at the nodes of its tree
//
// Each edit takes the text of a file and gives the new one in the layout of `skdsl fmt`. Comments stay with
// what they stand at. A scope is named as in the source ("scope_{i}_part1") or by one of the scopes that it
// makes
// ("scope_0_part1"); either way the block in the source changes, hence all layers. An op is named by the call
// that makes it: as in the source (`attn[0]`, `rms_norm`), by its instance path (`layers.0.attn.0`), or by a
// line (`:93`).
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/error.h"

namespace skdsl::cli::repl {

/// Block `b` becomes a part of scope `a`: one block where nothing stands between them, else two of one name.
Expected<std::string> merge(const std::string& text, const std::string& a, const std::string& b);
/// The statement that calls `op`, and all behind it, become a scope of their own. `paths` are instance paths
/// that `op` stands for beside itself.
Expected<std::string> split(const std::string& text, const std::string& scope, const std::string& op,
                            const std::vector<std::string>& paths);
/// The statement that calls `op` goes to the end of a scope that stands before it, or to the beginning of one
/// behind it.
Expected<std::string> move(const std::string& text, const std::string& op, const std::string& scope,
                           const std::vector<std::string>& paths);
/// The block goes, its statements stay.
Expected<std::string> drop(const std::string& text, const std::string& scope);
/// Sets an option of a scope; an empty value takes it away.
Expected<std::string> set_option(const std::string& text, const std::string& scope, const std::string& key,
                                 const std::string& value);
/// The stream around a scope; "" takes it away.
Expected<std::string> set_stream(const std::string& text, const std::string& scope,
                                 const std::string& stream);
/// The core limit around a scope; no entries take it away.
Expected<std::string> set_cores(const std::string& text, const std::string& scope,
                                const std::vector<std::pair<std::string, std::string>>& cores);
/// A prefetch of `target` once `after` is there, in front of a scope's first statement; an empty `after`
/// takes the prefetches of that target away that stand in the layer of the scope. `max` may be empty.
Expected<std::string> set_prefetch(const std::string& text, const std::string& scope,
                                   const std::string& target, const std::string& after,
                                   const std::string& max);

}  // namespace skdsl::cli::repl
