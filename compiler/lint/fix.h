// fix — applying the edits of findings, until there are none left to apply
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "compiler/lint/lint.h"

namespace skdsl::lint {

struct Applied {
  std::string text;
  size_t fixes = 0;
};

/// One round: the fixes of a file that are trusted at least so far (Unsafe takes Safe ones too). Of fixes
/// that touch the same bytes the first wins; the others have their turn in the next round.
Applied apply_fixes(std::string_view text, uint32_t file, std::span<const diag::Diagnostic> findings,
                    diag::Applicability trust);

/// Rounds of linting and applying until nothing is left. A round after which the text would have more errors
/// of the language than before is not kept. The name decides what the file imports.
Applied fix_all(const std::string& name, std::string text, const Options& options, diag::Applicability trust);

/// The two texts as a unified diff; "" when they are equal.
std::string unified_diff(const std::string& name, std::string_view before, std::string_view after);

}  // namespace skdsl::lint
