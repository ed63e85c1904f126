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

/// A block `superkernel "…" < … >` of a file.
struct SourceScope {
  std::string name;     // as written, between the quotes
  std::string options;  // "(feed-sync-all = 1)", or ""
  std::string guard;    // the condition behind `when`, or ""
  std::string home;     // the declaration around it: "Decoder.forward"
  uint32_t line = 0;
  std::vector<std::string> around;      // `stream "1"`, `cores(aic = 8)`: from the outside
  std::vector<std::string> statements;  // the first line of each
};
/// Those of a file in their order; a file that does not parse has none.
std::vector<SourceScope> scopes_in(const std::string& text);
/// How well a scope of a plan, or a name as written, fits a block of that name: 0 = not at all, greatest when
/// they are equal.
size_t names_scope(std::string_view written, std::string_view asked);
/// The first block of the name that fits a scope of a plan best; null when there is none.
const SourceScope* source_of(const std::vector<SourceScope>& scopes, std::string_view name);
/// The calls in the statements of a file's layers and model, as written: `attn[0]`, `norm_post[0]`, `moe`.
std::vector<std::string> calls_in(const std::string& text);

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
