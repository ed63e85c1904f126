// scopes — what is shown of the super-kernel blocks of a model file, and which of them makes a scope of the
// plan
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace skdsl::cli::repl {

/// A block `superkernel "…" < … >` of a file.
struct SourceScope {
  std::string name;     // as written, between the quotes
  std::string options;  // "(feed-sync-all = 1)", or ""
  std::string guard;    // the condition behind `when`, or ""
  std::string home;     // the declaration around it: "Decoder.forward"
  std::string file;     // "" = the loaded file itself; else an imported one, which edits do not reach
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
/// Where it stands: "line 4, Decoder.forward", or with the name of an imported file.
std::string where(const SourceScope& scope);

}  // namespace skdsl::cli::repl
